"""Features as few columns around their mean: what is smoothed over the graph.

    x̃ = (x V - m, r / √d),    scaled to length 1

V holds the main directions of wide features (as in latent semantic analysis), found by a randomised subspace iteration
(Halko, Martinsson, Tropp 2011) and rotated so that the largest comes first; features of few columns keep them. m is the
mean row: without it all rows of counts point much the same way, and one column far from zero hides the others. The last
column, from the usual length r and the number d of columns, keeps nodes near the mean apart from those far from it
where columns are few; where they are many, lengths say little, and it is small.
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

from featprop.cache import cached_array
from featprop.compute import LEAF, leaves, let_go, place, sum_in_order
from featprop.compute.sparse_products import sparse_times
from featprop.compute.threads import by_rows
from featprop.matrix import Features, as_dense, read_only
from featprop.progress import tracked
from featprop.propagation.lengths import unit_length

__all__ = ["Reduction", "effective_dimension", "main_directions"]

WIDE, WIDTH = 1024, 512
"""Features with more than `WIDE` columns are reduced to `WIDTH`."""
NARROWEST = 32
"""Columns that are kept of any number of rows."""
MOST_NUMBERS = 2**26
"""Fewer columns are kept where rows × columns would be more than this."""
SAMPLE = 20_000
"""Rows that the directions are found on, if there are more."""
PAIRED = 2_000
"""Rows that `effective_dimension` looks at, if there are more."""
SPARE = 32
"""Directions that are followed beside those wanted."""
ITERATIONS = 2
"""Of the search for the directions: what they miss of the length of the rows is below a hundredth."""
ROUNDING = 1e-6
"""Differences below this share of what they are differences of are rounding."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """What was found on one graph, to be applied to the features of that graph or of one that has grown.

    Attributes
    ----------
    directions : ndarray of float32, shape (features, columns), or None
        V; None if the columns are the features themselves.
    centre : ndarray of float32, shape (columns,)
        m, in the columns.
    sizes : ndarray of float64, shape (2,)
        What the features are multiplied by, so that squares of them fit float32, and the value of the last column.
    """

    directions: NDArray[np.float32] | None
    centre: NDArray[np.float32]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, features: Features) -> Reduction:
        """Find the directions, the mean and the sizes of features."""
        n, d = features.shape
        scale = _power_of_two(features)
        width = min(WIDTH, max(NARROWEST, MOST_NUMBERS // n))
        directions = None
        if d > (WIDE if width == WIDTH else width):
            key = f"{_digest(features)}-{min(width, n)}"
            found = cached_array(
                "directions", key, lambda: main_directions(features * np.float32(scale), min(width, n))
            )
            directions = read_only(found)
        first = _columns(_taken(features, slice(0, min(n, LEAF))), directions, scale)
        near = first.mean(axis=0, dtype=np.float64)
        sums = sum_in_order(place().map(_moments_of, n, features, directions, scale, near)) / n
        centre = near + sums[0]
        usual = np.sqrt(np.maximum(sums[1] - sums[0] ** 2, 0).sum())
        sizes = np.array([scale, usual / np.sqrt(d)])
        return cls(directions, read_only(centre.astype(np.float32)), read_only(sizes))

    @property
    def width(self) -> int:
        """The number of columns of the rows."""
        return len(self.centre) + 1

    def apply(self, features: Features) -> NDArray[np.float32]:
        """Return the rows: centred, of unit length, zero where a node has no feature at all."""
        rows = place().rows(features.shape[0], self.width)
        arrays = features, self.directions, self.centre, self.sizes
        place().run(_applied, len(rows), *arrays, rows, stage="reducing features")
        return rows

    @cached_property
    def fingerprint(self) -> str:
        """The same for reductions that give the same rows."""
        digest = hashlib.blake2b(digest_size=16)
        for array in (self.centre, self.sizes, self.directions):
            if array is not None:
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _digest(features: Features) -> str:
    """Return the same text for equal features only."""
    digest = hashlib.blake2b(f"{features.shape}".encode(), digest_size=16)
    matrix: Any = features
    parts = [matrix.indptr, matrix.indices, matrix.data] if sp.issparse(matrix) else [matrix]
    for part in parts:
        digest.update(f"{part.dtype};".encode())
        for start in range(0, len(part), LEAF):
            digest.update(np.ascontiguousarray(part[start : start + LEAF]).data)
    return digest.hexdigest()


def main_directions(features: Features, width: int) -> NDArray[np.float32]:
    """Return the directions along which rows differ most, one a column; columns that do not vary have no part in them.

    For up to 20,000 rows their order is no matter; of more, a sample is looked at.
    """
    generator = np.random.default_rng(0)
    n, d = features.shape
    if n > SAMPLE:
        features = features[np.sort(generator.choice(n, size=SAMPLE, replace=False))]
    varying = np.flatnonzero(_varies(features))
    if not varying.size:
        return np.zeros((d, 1), dtype=np.float32)
    rows: Any = features[:, varying]
    turned = sp.csr_array(rows.T) if sp.issparse(rows) else rows.T
    space = generator.standard_normal((len(varying), min(len(varying), width + SPARE))).astype(np.float32)
    for _ in tracked(range(ITERATIONS), "finding main directions", ITERATIONS + 1):
        space = np.linalg.qr(_product(turned, _product(rows, space)))[0]
    inside = _product(rows, space).astype(np.float64)
    _, rotation = np.linalg.eigh(inside.T @ inside)
    found = (space @ rotation[:, ::-1][:, :width]).astype(np.float32)
    directions = np.zeros((d, found.shape[1]), dtype=np.float32)
    directions[varying] = found
    return directions


def effective_dimension(rows: NDArray[np.float32]) -> float:
    """Return over how many directions rows of unit length spread: one over the mean squared cosine of two of them.

    It is the participation ratio of the eigenvalues λ of the covariance, (Σ λ)² / Σ λ². Of many rows, a sample is
    looked at.
    """
    n = len(rows)
    sample = rows[:: -(-n // PAIRED)]
    squares = (sample @ sample.T) ** 2
    alike = (squares.sum() - squares.trace()) / max(1, len(sample) * (len(sample) - 1))
    return 1 / (float(alike) * (n - 1) / n + 1 / n)


def _varies(features: Features) -> NDArray[np.bool_]:
    """Return which columns have more than one value, but for rounding."""
    if sp.issparse(features):
        low, high = (np.asarray(each.toarray()).ravel() for each in (features.min(axis=0), features.max(axis=0)))
    else:
        low, high = features.min(axis=0), features.max(axis=0)
    return np.asarray(high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _power_of_two(features: Features) -> float:
    """Return the power of two that brings the largest value to between 1/2 and 1."""
    largest = max(place().map(_largest, features.shape[0], features))
    return float(2.0 ** -np.frexp(largest)[1])


def _largest(block: slice, features: Features) -> float:
    """Return the largest size of a value in a block."""
    rows: Any = _taken(features, block)
    values = rows.data if sp.issparse(rows) else rows
    largest = float(max(values.max(initial=0), -values.min(initial=0)))
    _let_go(features, block)
    return largest


def _moments_of(
    block: slice,
    features: Features,
    directions: NDArray[np.float32] | None,
    scale: float,
    near: NDArray[np.float64],
) -> list[NDArray[np.float64]]:
    """Return for each leaf the sums of each column less what it is `near` to, and of their squares."""
    found = []
    for leaf in leaves(block):
        columns = _columns(_taken(features, leaf), directions, scale)
        sums = np.zeros((2, columns.shape[1]))
        by_rows(_moments, columns.shape[1], columns.size, columns, near, sums)
        found.append(sums)
    _let_go(features, block)
    return found


def _applied(
    block: slice,
    features: Features,
    directions: NDArray[np.float32] | None,
    centre: NDArray[np.float32],
    sizes: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    scale, last = sizes.tolist()
    for leaf in leaves(block):
        taken = _taken(features, leaf)
        columns = _columns(taken, directions, scale)
        by_rows(_centre, len(columns), columns.size, columns, centre, np.float32(last), _any(taken), out[leaf])
        unit_length(out[leaf])
    _let_go(features, block)
    let_go(out, block)


def _taken(features: Features, rows: slice) -> Features:
    """Return some of the rows, all of them as they are."""
    return features if rows == slice(0, features.shape[0]) else features[rows]


def _let_go(features: Features, rows: slice) -> None:
    if not sp.issparse(features):
        let_go(np.asarray(features), rows)


def _columns(features: Features, directions: NDArray[np.float32] | None, scale: float) -> NDArray[np.float32]:
    if directions is None:
        return as_dense(features) * np.float32(scale)
    return _product(features * np.float32(scale), directions)


def _product(rows: Features, columns: NDArray[np.float32]) -> NDArray[np.float32]:
    product = sparse_times(rows, columns) if sp.issparse(rows) else rows @ columns
    return np.asarray(product, dtype=np.float32)


def _any(features: Features) -> NDArray[np.bool_]:
    """Return which nodes have a feature other than zero."""
    there: Any = abs(features).sum(axis=1) if sp.issparse(features) else np.asarray(features).any(axis=1)
    return np.asarray(there > 0)


@njit(nogil=True, cache=True)
def _moments(start, stop, columns, near, sums):  # type: ignore[no-untyped-def]
    """Add up the columns from `start` to `stop`, in the order of the rows."""
    for i in range(columns.shape[0]):
        for c in range(start, stop):
            gap = np.float64(columns[i, c]) - near[c]
            sums[0, c] += gap
            sums[1, c] += gap * gap


@njit(nogil=True, cache=True)
def _centre(start, stop, columns, centre, last, there, out):  # type: ignore[no-untyped-def]
    """Write rows less the centre, zero where that is rounding, and the last column; all zero where nothing is there."""
    width = columns.shape[1]
    for i in range(start, stop):
        for c in range(width):
            gap = columns[i, c] - centre[c]
            if abs(gap) <= np.float32(ROUNDING) * (abs(columns[i, c]) + abs(centre[c])) or not there[i]:
                gap = np.float32(0)
            out[i, c] = gap
        out[i, width] = last if there[i] else np.float32(0)
