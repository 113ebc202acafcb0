"""Rows to cluster, and the distances between them, computed in blocks.

A block of distances is one matrix product in float32: |a - b|² = |a|² + |b|² - 2 a·b. Where the result is small
compared with the norms, rounding would spoil it, so it is computed from the difference of the two rows instead. Dense
rows are first shifted by the median of a sample, which makes the norms small and such cases rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.compute.backend import CHUNK_ROWS, get_backend, split_evenly, split_into_chunks
from featprop.compute.distances import find_nearest, to_distances, to_sq_differences
from featprop.compute.kernels import run_by_rows, run_pieces
from featprop.compute.mapped_arrays import is_mapped, release_pages
from featprop.errors import ParameterError, unknown_choice
from featprop.matrix import Features, Floats, Positions, as_dense, read_only
from featprop.progress import tracked

METRICS = ("euclidean", "cosine")
BLOCK_BYTES = 16 * 2**20
MAX_SPARSE_SHARE = 0.02
"""Share of non-zeros below which a sparse product is faster than a dense one."""
MIN_DENSE_SHARE = 0.1
"""Share of non-zeros above which small rows are made dense."""
MAX_DENSE_GROWTH = 2
"""Sparse rows of any size are made dense if that takes at most this many times their memory."""
DISTANCE_ROUNDING = 1e-5
"""Rounding error of a distance computed from a product, relative to the largest distance."""
EQUAL_ROWS = 1e-6
"""Rows that differ by at most this share of their length are equal."""
MAX_VALUE = 1e30
"""Distances between rows with larger values, and sums of them, may overflow float32."""
MAX_UNSCALED_LENGTH = 2.0**30
"""Rows are not scaled if their length is between one over this and this: their squares fit float32."""
SHIFT_SAMPLE_ROWS = 512
MAX_KEPT_BYTES = 2**28
"""Size up to which a distance matrix is kept for the next call."""
GATHER_BYTES = 12 * 2**20
"""Size of the pieces in which scattered rows are gathered: reused memory is faster than new memory."""


class Points:
    """Rows under a metric.

    Parameters
    ----------
    rows
        Dense or CSR matrix, converted to float32. CSR rows are not shifted, so differences that are small compared
        with an offset that all rows share are lost.
    metric
        ``"euclidean"``, or ``"cosine"`` (one minus the cosine of the angle between two rows).

    Attributes
    ----------
    scale
        Factor from `rows` to the rows passed in: a power of two, 1 unless squares would not fit float32. Distances
        refer to the rows passed in.
    """

    def __init__(self, rows: Any, metric: str = "euclidean") -> None:
        if metric not in METRICS:
            raise unknown_choice("metric", metric, METRICS)
        rows = rows if sp.issparse(rows) else np.asarray(rows)
        if rows.dtype.kind != "f":
            rows = rows.astype(np.float64)
        is_copy = sp.issparse(rows) and _is_better_dense(rows)
        if is_copy:
            rows = rows.toarray()
        elif sp.issparse(rows):
            rows = sp.csr_array(rows, copy=True)
            rows.sum_duplicates()
        if metric == "euclidean" and not sp.issparse(rows):
            rows = _shift(rows, in_place=is_copy)
        rows, scale = _rescale(rows)
        if metric == "cosine":
            rows, scale = _to_unit_length(rows), 1.0
        self._set(rows.astype(np.float32, copy=False), metric, scale)

    @classmethod
    def wrap(cls, rows: Any, metric: str, scale: float = 1.0, squared_norms: Floats | None = None) -> Points:
        """Return points of rows that are already shifted and scaled."""
        points = cls.__new__(cls)
        points._set(rows, metric, scale, squared_norms)
        return points

    def _set(self, rows: Any, metric: str, scale: float, norms: Floats | None = None) -> None:
        self._rows = rows
        self.metric = metric
        self.scale = scale
        self._is_mapped = is_mapped(rows)
        if norms is not None:
            norms.flags.writeable = False
        self._norms = norms
        self._matrix: tuple[Positions, Floats] | None = None

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    @property
    def rows(self) -> Features:
        """The rows as they are compared, read-only: shifted if dense, of unit length for the cosine."""
        return read_only(self._rows)

    @property
    def squared_norms(self) -> Floats:
        """The squared length of each of `rows`, read-only."""
        if self._norms is None:
            norms = self._map(_norms_of) if self._is_mapped else _squared_norms(self._rows)
            self._norms = np.asarray(read_only(norms))
        return self._norms

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self._rows.shape[1])

    @property
    def work_per_distance(self) -> float:
        """Number of values that are multiplied for the distance of two points."""
        return self.width

    def take(self, indices: NDArray[Any] | slice) -> Points:
        """Return the points at `indices`, in memory."""
        norms = None if self._is_mapped else self.squared_norms[indices]
        return Points.wrap(self._read(indices), self.metric, self.scale, norms)

    def block(self, block: slice) -> Points:
        """Return the points of a block, in memory; the points themselves if the block has all of them."""
        return self if block == slice(0, len(self)) and not self._is_mapped else self.take(block)

    def sample(self, max_points: int) -> Points:
        """Return up to `max_points` of the points at equal steps; a subclass may return all if that is cheaper."""
        return self.take(slice(None, None, -(-len(self) // max_points)))

    def split(self, count: int, n_others: int | None = None) -> list[slice]:
        """Split `count` rows into blocks with few values and few distances to all points, or to `n_others`."""
        others = len(self) if n_others is None else n_others
        return split_by_bytes(count, 4 * max(others, self.width))

    def distances(self, indices: NDArray[Any] | slice, to: Points | None = None) -> Floats:
        """Return the distance of each point at `indices` to all points, or to those of `to`, prepared alike."""
        own = self.take(indices)
        if to is not None:
            return own._distances_to(to)
        if len(self) <= CHUNK_ROWS:
            found = own._distances_to(self)
        else:
            found = np.empty((len(own), len(self)), dtype=np.float32)
            for chunk in split_into_chunks(slice(0, len(self))):
                others = self.block(chunk)
                for part in self.split(len(own), CHUNK_ROWS):
                    found[part, chunk] = own.take(part)._distances_to(others)
        found[np.arange(len(own)), np.arange(len(self))[indices]] = 0.0
        return found

    def _distances_to(self, others: Points) -> Floats:
        block = _products(self._rows, others._rows)
        norms, pair = (self.squared_norms, others.squared_norms), _pair(self._rows, others._rows)
        run_by_rows(to_distances, len(block), block.size, block, *norms, *pair, self.metric == "cosine")
        if self.scale != 1:
            block *= np.float32(self.scale)
        return block

    def distances_between(self, indices: Positions, others: Positions) -> Floats:
        """Return the distance of each point at `indices`, which are few, to each point at `others`."""
        own = self.take(indices)
        block = np.empty((len(indices), len(others)), dtype=np.float32)
        for piece in split_by_bytes(len(others), 4 * self.width, GATHER_BYTES):
            block[:, piece] = own.distances(slice(None), to=self.take(others[piece]))
        return block

    def distances_to_subset(self, indices: Positions, others: Positions) -> Floats:
        """Return the distance of each point at `indices` to each point at `others`, which are few."""
        subset = self.take(others)
        matrix = np.empty((len(indices), len(others)), dtype=np.float32)
        blocks = self.split(len(indices), len(others))
        for block in tracked(blocks, "measuring distances", len(blocks)):
            matrix[block] = self.distances(indices[block], to=subset)
        return matrix

    def distance_matrix(self, candidates: Positions) -> Floats:
        """Return the distances of all `candidates` to all points, read-only; a small matrix is kept."""
        if self._matrix is not None and np.array_equal(self._matrix[0], candidates):
            return self._matrix[1]
        matrix = np.empty((len(candidates), len(self)), dtype=np.float32)
        blocks = self.split(len(candidates))
        for block in tracked(blocks, "measuring distances", len(blocks)):
            matrix[block] = self.distances(candidates[block])
        first = self.take(candidates)._first_equal_rows()
        others = np.flatnonzero(first != np.arange(len(first)))
        matrix[others] = matrix[first[others]]
        matrix.flags.writeable = False
        self._matrix = (candidates.copy(), matrix) if matrix.nbytes <= MAX_KEPT_BYTES else None
        return matrix

    def _first_equal_rows(self) -> Positions:
        """Return for each row the first row equal to it up to rounding.

        Equal rows must have equal distances, or rounding, which depends on the processor, would choose between them.
        They have equal products with a random vector, so only rows with neighbouring products are compared.
        """
        probe = np.random.default_rng(0).standard_normal(self.width) / math.sqrt(max(1, self.width))
        keys, lengths = np.asarray(self._rows @ probe), np.sqrt(self.squared_norms.astype(np.float64))
        order = np.argsort(keys, kind="stable")
        cuts = np.flatnonzero(np.diff(keys[order]) > EQUAL_ROWS * lengths.max(initial=0.0)) + 1
        first = np.arange(len(self))
        for start, stop in pairwise([0, *cuts.tolist(), len(order)]):
            left = np.sort(order[start:stop])
            while len(left) > 1:
                squared = self.take(left)._sq_differences(self.take(left[:1]), np.zeros(len(left), dtype=np.intp))
                equal = np.sqrt(squared) <= EQUAL_ROWS * lengths[left[0]]
                first[left[equal]] = left[0]
                left = left[~equal]
        return first

    def nearest(self, centres: Points) -> tuple[Positions, Floats]:
        """Return the nearest of `centres` for each point, the first of equal ones, and its distance."""
        if self._is_mapped:
            parts = get_backend().map(_nearest_of, len(self), self, centres, stage="measuring distances")
            nearest, distances = zip(*parts, strict=True)
            return np.concatenate(nearest), np.concatenate(distances)
        index = np.empty(len(self), dtype=np.intp)
        squared = np.empty(len(self), dtype=np.float32)
        norms, other_norms = self.squared_norms, centres.squared_norms

        def measure(piece: slice) -> None:
            products = _products(self._rows[piece], centres._rows)
            pair, found = _pair(self._rows[piece], centres._rows), (index[piece], squared[piece])
            run_by_rows(find_nearest, len(products), products.size, products, norms[piece], other_norms, *pair, *found)

        run_pieces(measure, _split_chunks(len(self), 4 * max(len(centres), self.width)))
        return index, self._from_squared(squared)

    def multiply(self, matrix: Floats) -> Floats:
        """Return the product of `rows` and a matrix."""
        product = np.empty((len(self), matrix.shape[1]), dtype=np.float32)
        for block in split_by_bytes(len(self), 4 * self.width):
            product[block] = as_dense(self._read(block)) @ matrix
        return product

    def multiply_transposed(self, matrix: Floats) -> Floats:
        """Return the product of the transpose of `rows` and a matrix."""
        product = np.zeros((self.width, matrix.shape[1]), dtype=np.float32)
        for block in split_by_bytes(len(self), 4 * self.width):
            product += as_dense(self._read(block)).T @ matrix[block]
        return product

    def relative_sq_distances(self, centre: Floats) -> Floats:
        """Return the squared distance of each of `rows` to `centre`, minus |centre|²."""
        if self._is_mapped:
            return self._map(_relative_sq_distances_of, centre)
        products = np.empty(len(self), dtype=np.float32)

        def multiply(chunk: slice) -> None:
            products[chunk] = self._rows[chunk] @ centre

        run_pieces(multiply, _split_chunks(len(self), 0))
        return np.asarray(self.squared_norms - 2 * products)

    def exact_distances(self, centres: Points, index: Positions) -> Floats:
        """Return the distance of each point to centre `index` of it, from the difference of the two rows.

        The centres must be dense or sparse as the points are, such as a part of them.
        """
        if self._is_mapped:
            return self._map(_exact_distances_of, centres, index)
        if sp.issparse(self._rows) != sp.issparse(centres._rows):
            raise TypeError("points and centres must both be dense or both be sparse")
        return self._from_squared(self._sq_differences(centres, index))

    def _sq_differences(self, centres: Points, index: Positions) -> Floats:
        squared = np.empty(len(self), dtype=np.float32)
        pair = _pair(self._rows, centres._rows)
        run_by_rows(to_sq_differences, len(self), self._rows.size, *pair, index, squared)
        return squared

    def _from_squared(self, squared: Floats) -> Floats:
        """Return distances under the metric from squared distances between `rows`."""
        return squared / np.float32(2) if self.metric == "cosine" else np.sqrt(squared) * np.float32(self.scale)

    def _read(self, indices: NDArray[Any] | slice) -> Any:
        """Return some rows; copy mapped ones to memory and release their pages.

        Scattered rows are read chunk by chunk: the system maps the pages around each of them, too.
        """
        if not self._is_mapped:
            return self._rows[indices]
        if isinstance(indices, slice):
            if indices.step is None:
                rows = np.array(self._rows[indices])
                release_pages(self._rows, indices)
                return rows
            indices = np.arange(len(self))[indices]
        rows = np.empty((len(indices), self.width), dtype=np.float32)
        order = np.argsort(indices, kind="stable")
        for chunk in split_into_chunks(slice(0, len(self))):
            start, stop = np.searchsorted(indices, (chunk.start, chunk.stop), sorter=order)
            if start < stop:
                rows[order[start:stop]] = self._rows[indices[order[start:stop]]]
                release_pages(self._rows, chunk)
        return rows

    def _map(self, task: Callable[..., Any], *arguments: Any) -> Floats:
        """Return the concatenated results of a task over blocks of mapped rows, computed by the backend."""
        return np.concatenate(list(get_backend().map(task, len(self), self, *arguments)))


def _norms_of(block: slice, points: Points) -> Floats:
    return points.block(block).squared_norms


def _nearest_of(block: slice, points: Points, centres: Points) -> tuple[Positions, Floats]:
    return points.block(block).nearest(centres)


def _exact_distances_of(block: slice, points: Points, centres: Points, index: Positions) -> Floats:
    return points.block(block).exact_distances(centres, index[block])


def _relative_sq_distances_of(block: slice, points: Points, centre: Floats) -> Floats:
    return points.block(block).relative_sq_distances(centre)


def first_minimum(distances: Floats, largest: float) -> int:
    """Return the position of the first minimum; distances within rounding error of `largest` are equal."""
    return int(np.flatnonzero(distances <= distances.min() + DISTANCE_ROUNDING * largest)[0])


def split_by_bytes(n: int, row_bytes: int, block_bytes: int = BLOCK_BYTES) -> list[slice]:
    """Split 0..n into slices whose rows take about `block_bytes`."""
    return split_evenly(n, max(1, block_bytes // max(row_bytes, 1)))


def _split_chunks(n: int, row_bytes: int) -> list[slice]:
    """Split n rows as `split_by_bytes` does, and also at the ends of chunks, so that blocks have the same pieces."""
    return [
        slice(chunk.start + piece.start, chunk.start + piece.stop)
        for chunk in split_into_chunks(slice(0, n))
        for piece in split_by_bytes(chunk.stop - chunk.start, row_bytes)
    ]


def _is_better_dense(rows: Any) -> bool:
    """Return whether sparse rows have enough non-zeros to make them dense."""
    dense_bytes = 4 * math.prod(rows.shape)
    is_small = dense_bytes <= BLOCK_BYTES and rows.nnz > MIN_DENSE_SHARE * math.prod(rows.shape)
    return bool(is_small or dense_bytes <= MAX_DENSE_GROWTH * 8 * rows.nnz)


def _products(a: Any, b: Any) -> Floats:
    """Return a bᵀ; sparse rows are made dense in blocks unless they are almost empty."""
    if sp.issparse(b) and b.nnz < MAX_SPARSE_SHARE * math.prod(b.shape):
        if sp.issparse(a):
            return np.asarray((a @ b.T).toarray())
        return np.ascontiguousarray((b @ np.ascontiguousarray(a.T)).T)
    left = as_dense(a)
    if not sp.issparse(b):
        return np.asarray(left @ b.T)
    product = np.empty((a.shape[0], b.shape[0]), dtype=np.float32)
    for block in split_by_bytes(b.shape[0], 4 * b.shape[1]):
        product[:, block] = left @ as_dense(b[block]).T
    return product


def _pair(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two matrices as kernels read them; nothing if only one of them is sparse."""
    if sp.issparse(a) != sp.issparse(b):
        nothing = np.empty((0, 0), dtype=np.float32)
        return nothing, nothing
    return _as_arrays(a), _as_arrays(b)


def _as_arrays(rows: Any) -> Any:
    return (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else rows


def _squared_norms(rows: Any) -> Floats:
    if sp.issparse(rows):
        return np.asarray(sp.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _shift(rows: NDArray[Any], in_place: bool) -> NDArray[Any]:
    """Subtract the median of a sample; the result of many rows is allocated by the backend."""
    centre = np.median(rows[:: max(1, len(rows) // SHIFT_SAMPLE_ROWS)], axis=0)
    if in_place:
        rows -= centre
        return rows
    if len(rows) <= CHUNK_ROWS or rows.dtype != np.float32:
        return np.asarray(rows - centre)
    shifted = get_backend().allocate_rows(*rows.shape)
    for chunk in split_into_chunks(slice(0, len(rows))):
        np.subtract(rows[chunk], centre, out=shifted[chunk])
        release_pages(rows, chunk)
        release_pages(shifted, chunk)
    return shifted


def _rescale(rows: Any) -> tuple[Any, float]:
    """Return the rows divided by a power of two so that their squares fit float32, and that power."""
    values, largest = rows.data if sp.issparse(rows) else rows, 0.0
    for chunk in split_into_chunks(slice(0, len(values))):
        part = values[chunk]
        largest = float(np.max([largest, part.max(initial=0.0), -part.min(initial=0.0)]))  # NaN if any value is
        release_pages(values, chunk)
    if not largest <= MAX_VALUE:
        raise ParameterError(
            f"`rows` contains values up to {largest:g} in size; the limit is {MAX_VALUE:g}.",
            hint="Scale the rows down.",
            parameter="rows",
            value=largest,
        )
    length = largest * math.sqrt(rows.shape[1])
    if length == 0 or 1 / MAX_UNSCALED_LENGTH <= length <= MAX_UNSCALED_LENGTH:
        return rows, 1.0
    scale = float(2.0 ** max(math.frexp(length)[1], np.finfo(np.float32).minexp))
    return rows * (1 / scale), scale


def _to_unit_length(rows: Any) -> Any:
    """Return the rows scaled to length 1."""
    if sp.issparse(rows):
        norms = np.sqrt(_squared_norms(rows.astype(np.float64)))
    else:
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    empty = np.flatnonzero(norms == 0)
    if empty.size:
        raise ParameterError(
            f"The cosine is undefined for rows of zeros: {empty.size:,} of `rows`, the first at position {empty[0]}.",
            hint="Use `metric='euclidean'`.",
            parameter="rows",
            value=empty.size,
        )
    if not sp.issparse(rows):
        return np.divide(rows, norms[:, None], out=np.empty_like(rows), casting="same_kind")
    scaled = sp.csr_array(sp.dia_array((1.0 / norms[None, :], [0]), shape=(len(norms), len(norms))) @ rows)
    scaled.sort_indices()
    return scaled
