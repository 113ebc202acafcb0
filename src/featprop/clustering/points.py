"""Rows to cluster, and the distances between them, block by block.

A block of distances is one matrix product: |a - b|² = |a|² + |b|² - 2 a·b in float32. Where the result is small beside
the norms, rounding would spoil it, and it is computed from the difference of the two rows instead. Dense rows are
shifted to the median of a sample first, which makes the norms small and such cases rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.clustering.kernels import (
    gaps_dense,
    gaps_sparse,
    nearest_dense,
    nearest_sparse,
    to_distances_dense,
    to_distances_sparse,
)
from featprop.clustering.threads import by_rows
from featprop.errors import ParameterError, unknown_choice
from featprop.matrix import as_dense
from featprop.progress import tracked

__all__ = ["METRICS", "Points", "blocks_of", "points_of"]

METRICS = ("euclidean", "cosine")
BLOCK_BYTES = 48 * 2**20
WORTH_SPARSE = 0.02
"""Below this share of non-zeros a sparse product beats a dense one."""
WORTH_DENSE = 0.1
"""Above this share of non-zeros rows are kept dense if they are small."""
GROWTH = 2
"""However large they are, sparse rows are kept dense if that takes at most this many times their memory."""
LARGEST = 1e18
"""Squares of anything larger do not fit float32."""
SHIFT_SAMPLE = 512
KEPT_BYTES = 2**28
"""Distances up to that size are kept, as they are soon asked for again."""
GATHERED_BYTES = 12 * 2**20
"""Rows from here and there are gathered so many at a time: memory that is used again costs less than new memory."""


class Points:
    """Rows under a metric.

    Parameters
    ----------
    rows
        Dense or CSR numbers, one row a point; kept in float32.
    metric
        ``"euclidean"``, or ``"cosine"``: one minus the cosine of the angle between two rows.

    Attributes
    ----------
    rows
        The rows as they are compared: shifted if dense, of unit length for the cosine.
    squared_norms
        The squared length of each.
    shift
        What was subtracted from dense rows.
    """

    def __init__(self, rows: Any, metric: str = "euclidean") -> None:
        if metric not in METRICS:
            raise unknown_choice("metric", metric, METRICS)
        shift: NDArray[Any] | None = None
        ours: NDArray[Any] | None = None
        if sp.issparse(rows) and _better_dense(rows):
            rows = ours = rows.toarray()
        elif sp.issparse(rows):
            rows = sp.csr_array(rows, copy=True)
            rows.sum_duplicates()
        if metric == "cosine":
            rows = _unit_length(rows, ours)
        elif not sp.issparse(rows):
            shift = np.median(rows[:: max(1, len(rows) // SHIFT_SAMPLE)], axis=0)
            rows = np.subtract(rows, shift, out=ours)
        _check_size(rows)
        self._set(rows.astype(np.float32, copy=False), metric, shift)

    @classmethod
    def prepared(
        cls, rows: Any, metric: str, shift: NDArray[Any] | None = None, squared_norms: NDArray[Any] | None = None
    ) -> Points:
        """Return rows that are shifted and scaled already as points."""
        points = cls.__new__(cls)
        points._set(rows, metric, shift, squared_norms)
        return points

    @classmethod
    def stacked(cls, parts: list[Any], metric: str) -> Points:
        """Return the rows of several matrices, one below the other, as points."""
        if any(sp.issparse(part) for part in parts):
            return cls(sp.vstack(parts, format="csr"), metric)
        return cls(np.concatenate(parts), metric)

    def _set(self, rows: Any, metric: str, shift: NDArray[Any] | None, norms: NDArray[Any] | None = None) -> None:
        self.rows = rows
        self.metric = metric
        self.shift = shift
        self.squared_norms = _squared_norms(rows) if norms is None else norms
        self._matrix: tuple[NDArray[np.intp], NDArray[np.float32]] | None = None

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    def take(self, indices: NDArray[Any] | slice) -> Points:
        """Return the points at `indices`."""
        return Points.prepared(self.rows[indices], self.metric, self.shift, self.squared_norms[indices])

    def blocks(self, count: int, n_others: int | None = None) -> Iterator[slice]:
        """Cut `count` rows into blocks whose distances to all points, or to `n_others`, and whose values are small."""
        others = len(self) if n_others is None else n_others
        return blocks_of(count, 4 * max(others, self.width))

    def distances(self, indices: NDArray[Any] | slice, to: Points | None = None) -> NDArray[np.float32]:
        """Return the distance of each point at `indices` to all points, or to those of `to`, which share the shift."""
        others = self if to is None else to
        own = self.rows[indices]
        block = _products(own, others.rows)
        norms = self.squared_norms[indices], others.squared_norms
        sparse, pair = _pair(own, others.rows)
        kernel = to_distances_sparse if sparse else to_distances_dense
        by_rows(kernel, len(block), block.size, block, *norms, *pair, self.metric == "cosine")
        if to is None:
            block[np.arange(len(block)), np.arange(len(self))[indices]] = 0.0
        return block

    def distances_among(self, indices: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distance of each point at `indices` to each point at `others`."""
        own = self.take(indices)
        block = np.empty((len(indices), len(others)), dtype=np.float32)
        for piece in blocks_of(len(others), 4 * self.width, GATHERED_BYTES):
            block[:, piece] = own.distances(slice(None), to=self.take(others[piece]))
        return block

    def matrix(self, candidates: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distances of all `candidates` to all points, not to be changed: if few, they are kept."""
        if self._matrix is not None and np.array_equal(self._matrix[0], candidates):
            return self._matrix[1]
        found = np.empty((len(candidates), len(self)), dtype=np.float32)
        blocks = list(self.blocks(len(candidates)))
        for block in tracked(blocks, "measuring distances", len(blocks)):
            found[block] = self.distances(candidates[block])
        self._matrix = (candidates, found) if found.nbytes <= KEPT_BYTES else None
        return found

    def nearest(self, centres: Points) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return for each point the nearest of `centres`, the first of several, and its distance."""
        index = np.empty(len(self), dtype=np.intp)
        squared = np.empty(len(self), dtype=np.float32)
        for block in self.blocks(len(self), len(centres)):
            products = _products(self.rows[block], centres.rows)
            norms = self.squared_norms[block], centres.squared_norms
            sparse, pair = _pair(self.rows[block], centres.rows)
            kernel = nearest_sparse if sparse else nearest_dense
            by_rows(kernel, len(products), products.size, products, *norms, *pair, index[block], squared[block])
        if self.metric == "cosine":
            return index, squared * np.float32(0.5)
        return index, np.sqrt(squared)

    def exact_distances(self, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distance of each point to the centre `index` says, from the difference of the two rows.

        The centres must be dense or sparse as the points are, such as a part of them.
        """
        if sp.issparse(self.rows) != sp.issparse(centres.rows):
            raise TypeError("points and centres must both be dense or both be sparse")
        squared = np.empty(len(self), dtype=np.float32)
        sparse, pair = _pair(self.rows, centres.rows)
        by_rows(gaps_sparse if sparse else gaps_dense, len(self), self.rows.size, *pair, index, squared)
        return squared / np.float32(2) if self.metric == "cosine" else np.sqrt(squared)


def points_of(rows: Any, metric: str = "euclidean") -> Points:
    """Return rows as points; points as they are."""
    return rows if isinstance(rows, Points) else Points(rows, metric)


def blocks_of(n: int, row_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Cut 0..n into slices whose rows take about `block_bytes`."""
    step = max(1, block_bytes // max(row_bytes, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def _better_dense(rows: Any) -> bool:
    """Return whether sparse rows are so filled that they are better made dense once than block by block."""
    dense = 4 * math.prod(rows.shape)
    small = dense <= BLOCK_BYTES and rows.nnz > WORTH_DENSE * math.prod(rows.shape)
    return bool(small or dense <= GROWTH * 8 * rows.nnz)


def _products(a: Any, b: Any) -> NDArray[np.float32]:
    """Return a bᵀ; sparse rows are made dense a block at a time unless they are nearly empty."""
    if sp.issparse(b) and b.nnz < WORTH_SPARSE * math.prod(b.shape):
        if sp.issparse(a):
            return np.asarray((a @ b.T).toarray())
        return np.ascontiguousarray((b @ np.ascontiguousarray(a.T)).T)
    left = as_dense(a)
    if not sp.issparse(b):
        return np.asarray(left @ b.T)
    product = np.empty((a.shape[0], b.shape[0]), dtype=np.float32)
    for block in blocks_of(b.shape[0], 4 * b.shape[1]):
        product[:, block] = left @ as_dense(b[block]).T
    return product


def _pair(a: Any, b: Any) -> tuple[bool, tuple[Any, ...]]:
    """Return whether both are sparse, and what a kernel needs to look at two rows; nothing if only one is."""
    if sp.issparse(a) and sp.issparse(b):
        return True, (a.data, a.indices, a.indptr, b.data, b.indices, b.indptr)
    if sp.issparse(a) or sp.issparse(b):
        nothing = np.empty((0, 0), dtype=np.float32)
        return False, (nothing, nothing)
    return False, (a, b)


def _squared_norms(rows: Any) -> NDArray[Any]:
    if sp.issparse(rows):
        return np.asarray(sp.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _check_size(rows: Any) -> None:
    values = rows.data if sp.issparse(rows) else rows
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if not largest <= LARGEST:
        raise ParameterError("rows", f"must be numbers up to {LARGEST:g} in size", f"{largest:g}", "scale them down")


def _unit_length(rows: Any, out: NDArray[Any] | None) -> Any:
    """Return the rows scaled to length 1; dense ones into `out`, or into new memory of their type if there is none."""
    if sp.issparse(rows):
        norms = np.sqrt(_squared_norms(rows.astype(np.float64)))
    else:
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    empty = np.flatnonzero(norms == 0)
    if empty.size:
        found = f"{empty.size:,} rows of zeros, the first at {empty[0]:,}"
        raise ParameterError("rows", "must not be zero for the cosine metric", found, "use metric='euclidean'")
    if sp.issparse(rows):
        scaled = sp.csr_array(sp.dia_array((1.0 / norms[None, :], [0]), shape=(len(norms), len(norms))) @ rows)
        scaled.sort_indices()
        return scaled
    return np.divide(rows, norms[:, None], out=np.empty_like(rows) if out is None else out, casting="same_kind")
