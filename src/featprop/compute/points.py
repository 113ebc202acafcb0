"""Rows to cluster, and the distances between them, block by block.

A block of distances is one matrix product: |a - b|² = |a|² + |b|² - 2 a·b in float32. Where the result is small beside
the norms, rounding would spoil it, and it is computed from the difference of the two rows instead. Dense rows are
shifted to the median of a sample first, which makes the norms small and such cases rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.compute.kernels import (
    gaps_dense,
    gaps_sparse,
    nearest_dense,
    nearest_sparse,
    to_distances_dense,
    to_distances_sparse,
)
from featprop.compute.threads import by_rows
from featprop.errors import ParameterError, unknown_choice
from featprop.matrix import Features, as_dense, read_only
from featprop.progress import tracked

__all__ = ["METRICS", "Points", "blocks_of", "first_of_least", "unit_of"]

METRICS = ("euclidean", "cosine")
BLOCK_BYTES = 16 * 2**20
WORTH_SPARSE = 0.02
"""Below this share of non-zeros a sparse product beats a dense one."""
WORTH_DENSE = 0.1
"""Above this share of non-zeros rows are kept dense if they are small."""
GROWTH = 2
"""However large they are, sparse rows are kept dense if that takes at most this many times their memory."""
CLOSEST = 1e-5
"""What rounding may make of a distance from a product, as a share of the largest."""
EQUAL = 1e-6
"""Rows that differ by no more than this share of their length are one row, written twice."""
LARGEST = 1e30
"""Distances of anything larger, and sums of them, may not fit float32."""
UNSCALED = 2.0**30
"""Rows of a length from one over this to this are kept as they are: their squares, and sums of them, fit float32."""
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
        Dense or CSR numbers, one row a point; kept in float32. CSR rows are not shifted, so what is small beside an
        offset they all have in common is lost.
    metric
        ``"euclidean"``, or ``"cosine"``: one minus the cosine of the angle between two rows.

    Attributes
    ----------
    unit
        What one is worth in `rows` and `squared_norms`: a power of two, other than 1 if squares would not fit float32.
        Distances are in the unit of the rows given.
    """

    def __init__(self, rows: Any, metric: str = "euclidean") -> None:
        if metric not in METRICS:
            raise unknown_choice("metric", metric, METRICS)
        ours: NDArray[Any] | None = None
        rows = rows if sp.issparse(rows) else np.asarray(rows)
        if rows.dtype.kind != "f":
            rows = rows.astype(np.float64)
        if sp.issparse(rows) and _better_dense(rows):
            rows = ours = rows.toarray()
        elif sp.issparse(rows):
            rows = sp.csr_array(rows, copy=True)
            rows.sum_duplicates()
        if metric == "euclidean" and not sp.issparse(rows):
            rows = np.subtract(rows, np.median(rows[:: max(1, len(rows) // SHIFT_SAMPLE)], axis=0), out=ours)
        rows, unit = _scaled(rows)
        if metric == "cosine":
            rows, unit = _unit_length(rows, ours), 1.0
        self._set(rows.astype(np.float32, copy=False), metric, unit)

    @classmethod
    def prepared(
        cls, rows: Any, metric: str, unit: float = 1.0, squared_norms: NDArray[np.float32] | None = None
    ) -> Points:
        """Return rows that are shifted and scaled already as points."""
        points = cls.__new__(cls)
        points._set(rows, metric, unit, squared_norms)
        return points

    @classmethod
    def stacked(cls, parts: list[Any], metric: str) -> Points:
        """Return the rows of several matrices, one below the other, as points."""
        if any(sp.issparse(part) for part in parts):
            return cls(sp.vstack(parts, format="csr"), metric)
        return cls(np.concatenate(parts), metric)

    def _set(self, rows: Any, metric: str, unit: float, norms: NDArray[np.float32] | None = None) -> None:
        self._rows = rows
        self.metric = metric
        self.unit = unit
        self._squared_norms = _squared_norms(rows) if norms is None else norms
        self._matrix: tuple[NDArray[np.intp], NDArray[np.float32]] | None = None

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    @property
    def rows(self) -> Features:
        """The rows as they are compared: shifted if dense, of unit length for the cosine; not to be written to."""
        return read_only(self._rows)

    @property
    def squared_norms(self) -> NDArray[np.float32]:
        """The squared length of each of `rows`; not to be written to."""
        return np.asarray(read_only(self._squared_norms))

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self._rows.shape[1])

    def take(self, indices: NDArray[Any] | slice) -> Points:
        """Return the points at `indices`."""
        return Points.prepared(self._rows[indices], self.metric, self.unit, self._squared_norms[indices])

    def block(self, block: slice) -> Points:
        """Return the points of a block; itself if it is all of them."""
        return self if block == slice(0, len(self)) else self.take(block)

    def sample(self, most: int) -> Points:
        """Return up to `most` of the points, at equal steps; all where that is less work."""
        return self.take(slice(None, None, -(-len(self) // most)))

    def blocks(self, count: int, n_others: int | None = None) -> Iterator[slice]:
        """Cut `count` rows into blocks whose distances to all points, or to `n_others`, and whose values are small."""
        others = len(self) if n_others is None else n_others
        return blocks_of(count, 4 * max(others, self.width))

    def distances(self, indices: NDArray[Any] | slice, to: Points | None = None) -> NDArray[np.float32]:
        """Return the distance of each point at `indices` to all points, or to those of `to`, prepared alike."""
        others = self if to is None else to
        own = self._rows[indices]
        block = _products(own, others._rows)
        norms = self._squared_norms[indices], others._squared_norms
        sparse, pair = _pair(own, others._rows)
        kernel = to_distances_sparse if sparse else to_distances_dense
        by_rows(kernel, len(block), block.size, block, *norms, *pair, self.metric == "cosine")
        if self.unit != 1:
            block *= np.float32(self.unit)
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
        """Return the distances of all `candidates` to all points, not to be written to: if few, they are kept."""
        if self._matrix is not None and np.array_equal(self._matrix[0], candidates):
            return self._matrix[1]
        found = np.empty((len(candidates), len(self)), dtype=np.float32)
        blocks = list(self.blocks(len(candidates)))
        for block in tracked(blocks, "measuring distances", len(blocks)):
            found[block] = self.distances(candidates[block])
        first = self.take(candidates)._first_of_equals()
        others = np.flatnonzero(first != np.arange(len(first)))
        found[others] = found[first[others]]
        found.flags.writeable = False
        self._matrix = (candidates.copy(), found) if found.nbytes <= KEPT_BYTES else None
        return found

    def _first_of_equals(self) -> NDArray[np.intp]:
        """Return for each row the first one that is equal to it, but for rounding.

        Equal rows must have equal distances, or rounding, which differs from one processor to the next, would choose
        between them. They have equal products with one random vector, so only neighbours by that are compared.
        """
        probe = np.random.default_rng(0).standard_normal(self.width) / math.sqrt(max(1, self.width))
        keys, lengths = np.asarray(self._rows @ probe), np.sqrt(self.squared_norms.astype(np.float64))
        order = np.argsort(keys, kind="stable")
        cuts = np.flatnonzero(np.diff(keys[order]) > EQUAL * lengths.max(initial=0.0)) + 1
        first = np.arange(len(self))
        for start, stop in pairwise([0, *cuts.tolist(), len(order)]):
            left = np.sort(order[start:stop])
            while len(left) > 1:
                squared = self.take(left)._squared_gaps(self.take(left[:1]), np.zeros(len(left), dtype=np.intp))
                equal = np.sqrt(squared) <= EQUAL * lengths[left[0]]
                first[left[equal]] = left[0]
                left = left[~equal]
        return first

    def nearest(self, centres: Points) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return for each point the nearest of `centres`, the first of several, and its distance."""
        index = np.empty(len(self), dtype=np.intp)
        squared = np.empty(len(self), dtype=np.float32)
        for block in self.blocks(len(self), len(centres)):
            products = _products(self._rows[block], centres._rows)
            norms = self._squared_norms[block], centres._squared_norms
            sparse, pair = _pair(self._rows[block], centres._rows)
            kernel = nearest_sparse if sparse else nearest_dense
            by_rows(kernel, len(products), products.size, products, *norms, *pair, index[block], squared[block])
        return index, self._roots(squared)

    def times(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the product of `rows` and a matrix."""
        product = np.empty((len(self), matrix.shape[1]), dtype=np.float32)
        rows = self._rows
        for block in blocks_of(len(self), 4 * self.width):
            product[block] = as_dense(rows[block]) @ matrix
        return product

    def transposed_times(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the product of `rows`, as columns, and a matrix."""
        product = np.zeros((self.width, matrix.shape[1]), dtype=np.float32)
        rows = self._rows
        for block in blocks_of(len(self), 4 * self.width):
            product += as_dense(rows[block]).T @ matrix[block]
        return product

    def squared_to(self, centre: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the square of the distance from each of `rows` to a place among them, less |centre|²."""
        return np.asarray(self._squared_norms - 2 * np.asarray(self._rows @ centre))

    def exact_distances(self, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distance of each point to the centre `index` says, from the difference of the two rows.

        The centres must be dense or sparse as the points are, such as a part of them.
        """
        if sp.issparse(self._rows) != sp.issparse(centres._rows):
            raise TypeError("points and centres must both be dense or both be sparse")
        return self._roots(self._squared_gaps(centres, index))

    def _squared_gaps(self, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
        squared = np.empty(len(self), dtype=np.float32)
        sparse, pair = _pair(self._rows, centres._rows)
        by_rows(gaps_sparse if sparse else gaps_dense, len(self), self._rows.size, *pair, index, squared)
        return squared

    def _roots(self, squared: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return squared distances between rows as distances under the metric, in the unit of the rows given."""
        return squared / np.float32(2) if self.metric == "cosine" else np.sqrt(squared) * np.float32(self.unit)


def first_of_least(distances: NDArray[np.float32], scale: float) -> int:
    """Return the first of the least distances; those that only rounding tells apart, beside `scale`, are equal."""
    return int(np.flatnonzero(distances <= distances.min() + CLOSEST * scale)[0])


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


def _squared_norms(rows: Any) -> NDArray[np.float32]:
    if sp.issparse(rows):
        return np.asarray(sp.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def unit_of(largest: float, width: int) -> float:
    """Return the unit, a power of two, in which rows with values up to `largest` have squares that fit float32."""
    if not largest <= LARGEST:
        message = f"`rows` contains values up to {largest:g} in size; the limit is {LARGEST:g}."
        raise ParameterError(message, hint="Scale the rows down.", parameter="rows", value=largest)
    length = largest * math.sqrt(width)
    if length == 0 or 1 / UNSCALED <= length <= UNSCALED:
        return 1.0
    return float(2.0 ** max(math.frexp(length)[1], np.finfo(np.float32).minexp))


def _scaled(rows: Any) -> tuple[Any, float]:
    """Return the rows in a unit in which their squares fit float32, and that unit; exact, as it is a power of two."""
    values = rows.data if sp.issparse(rows) else rows
    unit = unit_of(max(float(values.max(initial=0.0)), -float(values.min(initial=0.0))), rows.shape[1])
    return (rows, unit) if unit == 1.0 else (rows * (1 / unit), unit)


def _unit_length(rows: Any, out: NDArray[Any] | None) -> Any:
    """Return the rows scaled to length 1; dense ones into `out`, or into new memory of their type if there is none."""
    if sp.issparse(rows):
        norms = np.sqrt(_squared_norms(rows.astype(np.float64)))
    else:
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    empty = np.flatnonzero(norms == 0)
    if empty.size:
        message = f"The cosine of a row of zeros is undefined: {empty.size:,} of `rows`, first row {empty[0]}."
        raise ParameterError(message, hint="Use `metric='euclidean'`.", parameter="rows", row=int(empty[0]))
    if sp.issparse(rows):
        scaled = sp.csr_array(sp.dia_array((1.0 / norms[None, :], [0]), shape=(len(norms), len(norms))) @ rows)
        scaled.sort_indices()
        return scaled
    return np.divide(rows, norms[:, None], out=np.empty_like(rows) if out is None else out, casting="same_kind")
