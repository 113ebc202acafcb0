"""Compiled kernels that turn products of rows into distances, each row from that row alone.

`a` and `b` are the rows, dense or as the three arrays of CSR with sorted indices. They are needed for pairs whose
squared distance is so small compared with the norms that it must be computed from the difference of the rows; an empty
`a` means that the rows are not available.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

CLOSE = np.float32(1e-3)
"""Squared distances below this share of the squared norms are computed from the difference of the rows."""
ROUNDING = np.float32(4e-6)
"""Rounding error of a squared distance, as a share of the squared norms."""
STRETCH = 64
"""Number of products whose minimum is computed at once."""
ZERO = np.float32(0.0)
TWO = np.float32(2.0)


@njit(nogil=True, cache=True)
def to_distances(start, stop, products, norms, other_norms, a, b, cosine):  # type: ignore[no-untyped-def]
    """Replace products by distances."""
    for i in range(start, stop):
        for j in range(products.shape[1]):
            norm_sum = norms[i] + other_norms[j]
            squared = norm_sum - TWO * products[i, j]
            if squared < CLOSE * norm_sum:
                squared = _sq_difference(a, i, b, j) if len(a) else max(squared, ZERO)
            products[i, j] = squared / TWO if cosine else np.sqrt(squared)


@njit(nogil=True, cache=True)
def find_nearest(start, stop, products, norms, other_norms, a, b, index, least):  # type: ignore[no-untyped-def]
    """Find the nearest of the others and its squared distance; compare exactly where rounding could decide."""
    stretches = np.empty((products.shape[1] + STRETCH - 1) // STRETCH, dtype=np.float32)
    largest = np.float32(other_norms.max())
    for i in range(start, stop):
        row, norm = products[i], norms[i]
        value = _minimum_by_stretch(row, other_norms, stretches)
        best, found, squared = -1, 0, ZERO
        limit = value + ROUNDING * (norm + largest)
        for s in range(len(stretches)):
            if stretches[s] <= limit:
                for j in range(s * STRETCH, min((s + 1) * STRETCH, len(row))):
                    relative = other_norms[j] - TWO * row[j]
                    if relative == value and best < 0:
                        best = j
                    if relative <= limit:
                        found += 1
        value = norm + value
        squared = max(value, ZERO)
        if len(a) and (found > 1 or value < CLOSE * (norm + other_norms[best])):
            squared = _sq_difference(a, i, b, best)
            if found > 1:
                for s in range(len(stretches)):
                    if stretches[s] <= limit:
                        for j in range(s * STRETCH, min((s + 1) * STRETCH, len(row))):
                            if other_norms[j] - TWO * row[j] <= limit:
                                diff = _sq_difference(a, i, b, j)
                                if diff < squared or (diff == squared and j < best):
                                    best, squared = j, diff
        index[i], least[i] = best, squared


@njit(nogil=True, cache=True)
def to_sq_differences(start, stop, a, b, index, squared):  # type: ignore[no-untyped-def]
    """Compute the squared distance of each row to row `index` of the others from their difference."""
    for i in range(start, stop):
        squared[i] = _sq_difference(a, i, b, index[i])


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _minimum_by_stretch(row, other_norms, stretches):  # type: ignore[no-untyped-def]
    """Return the minimum of |b|² - 2 a·b, and write that of each stretch of the row, to skip most stretches later."""
    least = np.float32(np.inf)
    for s in range(len(stretches)):
        first = s * STRETCH
        smallest = np.float32(np.inf)
        for j in range(first, min(first + STRETCH, len(row))):
            smallest = min(smallest, other_norms[j] - TWO * row[j])
        stretches[s] = smallest
        least = min(least, smallest)
    return least


def _sq_difference(a: Any, i: int, b: Any, j: int) -> np.float32:
    """Return the squared length of the difference of row i of `a` and row j of `b`."""
    raise NotImplementedError


@overload(_sq_difference)
def _choose_sq_difference(a, _i, _b, _j):  # type: ignore[no-untyped-def]
    if isinstance(a, types.BaseTuple):
        return lambda a, _i, _b, _j: _sq_difference_sparse(_i, _j, *a, *_b)
    return lambda a, _i, _b, _j: _sq_difference_dense(a[_i], _b[_j])


@njit(nogil=True, cache=True)
def _sq_difference_dense(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(len(a)):
        diff = np.float64(a[c]) - np.float64(b[c])
        total += diff * diff
    return np.float32(total)


@njit(nogil=True, cache=True)
def _sq_difference_sparse(i, j, a_data, a_indices, a_indptr, b_data, b_indices, b_indptr):  # type: ignore[no-untyped-def]
    p, p_end, q, q_end = a_indptr[i], a_indptr[i + 1], b_indptr[j], b_indptr[j + 1]
    total = 0.0
    while p < p_end or q < q_end:
        if q >= q_end or (p < p_end and a_indices[p] < b_indices[q]):
            diff = np.float64(a_data[p])
            p += 1
        elif p >= p_end or b_indices[q] < a_indices[p]:
            diff = np.float64(b_data[q])
            q += 1
        else:
            diff = np.float64(a_data[p]) - np.float64(b_data[q])
            p += 1
            q += 1
        total += diff * diff
    return np.float32(total)
