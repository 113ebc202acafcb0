"""Centring and truncated SVD of features, before they are smoothed over the graph.

    x̃ = (x V - m, r / √d),    scaled to length 1

V holds the leading right singular vectors of wide features (as in latent semantic analysis), found by randomised
subspace iteration (Halko, Martinsson, Tropp 2011); narrow features keep their columns. m is the mean row: without
centring, all rows of counts point much the same way, and one column far from zero hides the others. The last column,
from the typical length r and the number d of columns, separates nodes near the mean from those far from it. It matters
where columns are few; where they are many, lengths carry little information, and it is small.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.backend import CHUNK_ROWS, get_backend, split_into_chunks, sum_in_order
from featprop.compute.kernels import multiply_sparse, normalize_rows, run_by_rows
from featprop.files import cached_array
from featprop.matrix import Features, Floats, as_dense, read_only
from featprop.progress import tracked

MAX_COLUMNS, REDUCED_COLUMNS = 1024, 512
"""Features with more than `MAX_COLUMNS` columns are reduced to `REDUCED_COLUMNS`."""
MIN_REDUCED_COLUMNS = 32
MAX_VALUES = 2**26
"""Fewer columns are kept if rows × columns would exceed this."""
SVD_SAMPLE_ROWS = 20_000
DIMENSION_SAMPLE_ROWS = 2_000
OVERSAMPLING = 32
"""Additional directions in the subspace iteration."""
ITERATIONS = 2
"""After two iterations the directions lose less than a hundredth of the length of the rows."""
ROUNDING = 1e-6
"""Smaller differences, relative to the values, are rounding errors."""
MIN_CENTRED_LENGTH = 1e-6
"""Rows that are no longer than this after centring become zero: they equal the mean up to rounding."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """Centring and truncated SVD fitted to the features of one graph.

    Attributes
    ----------
    directions : ndarray of float32, shape (features, columns), or None
        V; None if features keep their columns.
    centre : ndarray of float32, shape (columns,)
        m.
    sizes : ndarray of float64, shape (2,)
        Factor that makes the squares of the features fit float32, and the value of the last column.
    """

    directions: Floats | None
    centre: Floats
    sizes: NDArray[np.float64]

    @classmethod
    def fit(cls, features: Features) -> Reduction:
        """Compute the directions, the mean and the sizes of features."""
        n, d = features.shape
        scale = _power_of_two(features)
        width = min(REDUCED_COLUMNS, max(MIN_REDUCED_COLUMNS, MAX_VALUES // n))
        directions = None
        if d > (MAX_COLUMNS if width == REDUCED_COLUMNS else width):
            key = f"{_digest(features)}-{min(width, n)}"
            found = cached_array("directions", key, lambda: truncated_svd(features * np.float32(scale), min(width, n)))
            directions = read_only(found)
        first = _columns(_take(features, slice(0, min(n, CHUNK_ROWS))), directions, scale)
        near = first.mean(axis=0, dtype=np.float64)
        sums = sum_in_order(get_backend().map(_chunk_moments, n, features, directions, scale, near)) / n
        centre = near + sums[0]
        usual = np.sqrt(np.maximum(sums[1] - sums[0] ** 2, 0).sum())
        sizes = np.array([scale, usual / np.sqrt(d)])
        return cls(directions, read_only(centre.astype(np.float32)), read_only(sizes))

    @property
    def width(self) -> int:
        """The number of columns of the rows."""
        return len(self.centre) + 1

    def transform(self, features: Features) -> Floats:
        """Return centred rows of unit length; nodes without any feature get rows of zeros."""
        rows = get_backend().allocate_rows(features.shape[0], self.width)
        arrays = features, self.directions, self.centre, self.sizes
        get_backend().run(_transform_block, len(rows), *arrays, rows, stage="reducing features")
        return rows

    @cached_property
    def fingerprint(self) -> str:
        """A digest that is equal for reductions that give the same rows."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (self.centre, self.sizes, self.directions):
            if array is not None:
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _digest(features: Features) -> str:
    """Return a text that only equal features share."""
    digest = hashlib.blake2b(f"{features.shape}".encode(), digest_size=16)
    matrix: Any = features
    parts = [matrix.indptr, matrix.indices, matrix.data] if sp.issparse(matrix) else [matrix]
    for part in parts:
        digest.update(f"{part.dtype};".encode())
        for start in range(0, len(part), CHUNK_ROWS):
            digest.update(np.ascontiguousarray(part[start : start + CHUNK_ROWS]).data)
    return digest.hexdigest()


def truncated_svd(features: Features, width: int) -> Floats:
    """Return the leading right singular vectors of the features as columns; constant features have no part in them.

    The result does not depend on the order of up to 20,000 rows; of more rows, a random sample is used.
    """
    generator = np.random.default_rng(0)
    n, d = features.shape
    if n > SVD_SAMPLE_ROWS:
        features = features[np.sort(generator.choice(n, size=SVD_SAMPLE_ROWS, replace=False))]
    varying = np.flatnonzero(_varies(features))
    if not varying.size:
        return np.zeros((d, 1), dtype=np.float32)
    rows: Any = features[:, varying]
    turned = sp.csr_array(rows.T) if sp.issparse(rows) else rows.T
    space = generator.standard_normal((len(varying), min(len(varying), width + OVERSAMPLING))).astype(np.float32)
    for _ in tracked(range(ITERATIONS), "computing the SVD of features", ITERATIONS + 1):
        space = np.linalg.qr(_product(turned, _product(rows, space)))[0]
    inside = _product(rows, space).astype(np.float64)
    _, rotation = np.linalg.eigh(inside.T @ inside)
    found = (space @ rotation[:, ::-1][:, :width]).astype(np.float32)
    directions = np.zeros((d, found.shape[1]), dtype=np.float32)
    directions[varying] = found
    return directions


def mean_row(rows: Floats) -> Floats:
    """Return the mean of the non-zero rows."""
    sums = sum_in_order(get_backend().map(_sum_chunks, len(rows), rows))
    return np.asarray(sums[:-1] / max(1.0, sums[-1]), dtype=np.float32)


def _sum_chunks(block: slice, rows: Floats) -> list[NDArray[np.float64]]:
    """Return the sum of the rows of each chunk, followed by the number of non-zero rows."""
    found = []
    for chunk in split_into_chunks(block):
        counted = float(rows[chunk].any(axis=1).sum())
        found.append(np.append(rows[chunk].sum(axis=0, dtype=np.float64), counted))
    return found


def centre_rows(rows: Floats, centre: Floats) -> None:
    """Subtract `centre` from the non-zero rows, in place, and scale them to unit length."""
    get_backend().run(_centre_block, len(rows), rows, centre)


def _centre_block(block: slice, rows: Floats, centre: Floats) -> None:
    for chunk in split_into_chunks(block):
        part = rows[chunk]
        part -= np.where(part.any(axis=1, keepdims=True), centre, np.float32(0))
        normalize_rows(part, MIN_CENTRED_LENGTH)


def effective_dimension(rows: Floats) -> float:
    """Return the effective dimension of unit rows: one over the mean squared cosine of two of them.

    This is the participation ratio (Σ λ)² / Σ λ² of the eigenvalues λ of the covariance. A sample of many rows is used.
    """
    n = len(rows)
    sample = rows[:: -(-n // DIMENSION_SAMPLE_ROWS)]
    squares = (sample @ sample.T) ** 2
    alike = (squares.sum() - squares.trace()) / max(1, len(sample) * (len(sample) - 1))
    return 1 / (float(alike) * (n - 1) / n + 1 / n)


def _varies(features: Features) -> NDArray[np.bool_]:
    """Return which columns vary by more than rounding."""
    if sp.issparse(features):
        low, high = (np.asarray(each.toarray()).ravel() for each in (features.min(axis=0), features.max(axis=0)))
    else:
        low, high = features.min(axis=0), features.max(axis=0)
    return np.asarray(high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _power_of_two(features: Features) -> float:
    """Return the power of two that brings the largest value to between 1/2 and 1."""
    largest = max(get_backend().map(_largest, features.shape[0], features))
    return float(2.0 ** -np.frexp(largest)[1])


def _largest(block: slice, features: Features) -> float:
    """Return the largest absolute value in a block."""
    rows: Any = _take(features, block)
    values = rows.data if sp.issparse(rows) else rows
    return float(max(values.max(initial=0), -values.min(initial=0)))


def _chunk_moments(
    block: slice, features: Features, directions: Floats | None, scale: float, near: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return the sums of (column - near) and of its square for each chunk."""
    found = []
    for chunk in split_into_chunks(block):
        columns = _columns(_take(features, chunk), directions, scale)
        sums = np.zeros((2, columns.shape[1]))
        run_by_rows(_moments, columns.shape[1], columns.size, columns, near, sums)
        found.append(sums)
    return found


def _transform_block(
    block: slice, features: Features, directions: Floats | None, centre: Floats, sizes: NDArray[np.float64], out: Floats
) -> None:
    scale, last = sizes.tolist()
    for chunk in split_into_chunks(block):
        taken = _take(features, chunk)
        columns = _columns(taken, directions, scale)
        run_by_rows(
            _centre, len(columns), columns.size, columns, centre, np.float32(last), _has_features(taken), out[chunk]
        )
        normalize_rows(out[chunk])


def _take(features: Features, rows: slice) -> Features:
    """Return some rows without copying if these are all rows."""
    return features if rows == slice(0, features.shape[0]) else features[rows]


def _columns(features: Features, directions: Floats | None, scale: float) -> Floats:
    if directions is None:
        return as_dense(features) * np.float32(scale)
    return _product(features * np.float32(scale), directions)


def _product(rows: Features, columns: Floats) -> Floats:
    product = multiply_sparse(rows, columns) if sp.issparse(rows) else rows @ columns
    return np.asarray(product, dtype=np.float32)


def _has_features(features: Features) -> NDArray[np.bool_]:
    """Return which nodes have a non-zero feature."""
    there: Any = abs(features).sum(axis=1) if sp.issparse(features) else np.asarray(features).any(axis=1)
    return np.asarray(there > 0)


@njit(nogil=True, cache=True)
def _moments(start, stop, columns, near, sums):  # type: ignore[no-untyped-def]
    """Sum columns `start` to `stop` in the order of the rows."""
    for i in range(columns.shape[0]):
        for c in range(start, stop):
            diff = np.float64(columns[i, c]) - near[c]
            sums[0, c] += diff
            sums[1, c] += diff * diff


@njit(nogil=True, cache=True)
def _centre(start, stop, columns, centre, last, there, out):  # type: ignore[no-untyped-def]
    """Write centred rows (zero where rounding) and the last column; write zeros for nodes without features."""
    width = columns.shape[1]
    for i in range(start, stop):
        for c in range(width):
            diff = columns[i, c] - centre[c]
            if abs(diff) <= np.float32(ROUNDING) * (abs(columns[i, c]) + abs(centre[c])) or not there[i]:
                diff = np.float32(0)
            out[i, c] = diff
        out[i, width] = last if there[i] else np.float32(0)
