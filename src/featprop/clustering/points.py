"""Rows to cluster, and the distances between them, block by block.

A block of distances is one matrix product: |a - b|² = |a|² + |b|² - 2 a·b in float32. Rounding leaves an error of
about 1e-6 (|a|² + |b|²) in that, so anything below counts as equal rows; dense rows are centred first, which makes
the norms small. `exact_distances` has no such limit and is used for what is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.clustering.threads import by_rows
from featprop.errors import ParameterError, unknown_choice
from featprop.matrix import Features, as_dense, dense

__all__ = ["METRICS", "Points", "blocks_of"]

METRICS = ("euclidean", "cosine")
BLOCK_BYTES = 48 * 2**20
WORTH_SPARSE = 0.02
"""Below this share of non-zeros a sparse product beats a dense one."""


class Points:
    """Rows under a metric.

    Parameters
    ----------
    rows
        Dense or CSR float32, one row a point.
    metric
        ``"euclidean"``, or ``"cosine"``: one minus the cosine of the angle between two rows.
    """

    def __init__(self, rows: Features, metric: str = "euclidean") -> None:
        if metric not in METRICS:
            raise unknown_choice("metric", metric, METRICS)
        self.metric = metric
        self.shift: NDArray[np.float32] | None = None
        if sp.issparse(rows):
            rows = sp.csr_array(rows).sorted_indices()
        if metric == "cosine":
            rows = _unit_length(rows)
        elif not sp.issparse(rows):
            self.shift = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
            rows = rows - self.shift
        self.rows = rows
        self.squared_norms = _squared_norms(rows)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    @classmethod
    def stacked(cls, parts: list[Any], metric: str) -> Points:
        """Return the rows of several matrices, one below the other, as points."""
        if any(sp.issparse(part) for part in parts):
            return cls(sp.csr_array(sp.vstack(parts, format="csr"), dtype=np.float32), metric)
        return cls(np.concatenate(parts).astype(np.float32), metric)

    def take(self, indices: NDArray[Any] | slice) -> Points:
        """Return the points at `indices`."""
        taken = object.__new__(Points)
        taken.metric, taken.shift = self.metric, self.shift
        taken.rows, taken.squared_norms = self.rows[indices], self.squared_norms[indices]
        return taken

    def distances(self, indices: NDArray[Any], to: Points | None = None) -> NDArray[np.float32]:
        """Return the distance of each point at `indices` to all points, or to those of `to`, which share the shift."""
        others = self if to is None else to
        block = _products(self.rows[indices], others.rows)
        norms, cosine = self.squared_norms[indices], self.metric == "cosine"
        by_rows(_to_distances, len(block), block.size, block, norms, others.squared_norms, cosine)
        if to is None:
            block[np.arange(len(indices)), indices] = 0.0
        return block

    def nearest(self, centres: Points) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return for each point the nearest of `centres`, the first of several, and its distance."""
        index = np.empty(len(self), dtype=np.intp)
        distance = np.empty(len(self), dtype=np.float32)
        for block in blocks_of(len(self), 4 * max(len(centres), self.width)):
            products = _products(self.rows[block], centres.rows)
            norms = self.squared_norms[block], centres.squared_norms
            by_rows(_nearest, len(products), products.size, products, *norms, index[block], distance[block])
        if self.metric == "cosine":
            return index, distance * np.float32(0.5)
        return index, np.sqrt(distance)

    def exact_distances(self, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distance of each point to the centre `index` says, from the difference of the two rows."""
        distance = np.empty(len(self), dtype=np.float32)
        for block in blocks_of(len(self), 16 * self.width):
            difference = self.rows[block].astype(np.float64) - centres.rows[index[block]].astype(np.float64)
            squared = _squared_norms(difference)
            distance[block] = squared / 2 if self.metric == "cosine" else np.sqrt(squared)
        return distance


def blocks_of(n: int, row_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Cut 0..n into slices whose rows take at most `block_bytes`."""
    step = max(1, block_bytes // max(row_bytes, 1))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def _products(a: Features, b: Any) -> NDArray[np.float32]:
    """Return a bᵀ; sparse rows are made dense a block at a time unless they are nearly empty."""
    left = as_dense(a)
    if not sp.issparse(b):
        return np.asarray(left @ b.T)
    if b.nnz < WORTH_SPARSE * math.prod(b.shape):
        return np.ascontiguousarray((b @ np.ascontiguousarray(left.T)).T)
    product = np.empty((a.shape[0], b.shape[0]), dtype=np.float32)
    for block in blocks_of(b.shape[0], 4 * b.shape[1]):
        product[:, block] = left @ dense(b[block]).T
    return product


@njit(nogil=True, cache=True)
def _to_distances(start, stop, products, norms, other_norms, cosine):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        for j in range(products.shape[1]):
            sum_of_norms = norms[i] + other_norms[j]
            squared = sum_of_norms - np.float32(2.0) * products[i, j]
            if squared <= np.float32(1e-6) * sum_of_norms:
                squared = np.float32(0.0)
            products[i, j] = squared * np.float32(0.5) if cosine else np.sqrt(squared)


@njit(nogil=True, cache=True)
def _nearest(start, stop, products, norms, other_norms, index, squared):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        best = 0
        least = other_norms[0] - np.float32(2.0) * products[i, 0]
        for j in range(1, products.shape[1]):
            value = other_norms[j] - np.float32(2.0) * products[i, j]
            if value < least:
                best, least = j, value
        sum_of_norms = norms[i] + other_norms[best]
        index[i] = best
        squared[i] = least + norms[i] if least + norms[i] > np.float32(1e-6) * sum_of_norms else np.float32(0.0)


def _squared_norms(rows: Any) -> NDArray[Any]:
    if sp.issparse(rows):
        return np.asarray(sp.csr_array((rows.data**2, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _unit_length(rows: Features) -> Features:
    norms = np.sqrt(_squared_norms(rows))
    empty = np.flatnonzero(norms == 0)
    if empty.size:
        found = f"{empty.size:,} rows of zeros, the first at {empty[0]:,}"
        raise ParameterError("rows", "must not be zero for the cosine metric", found, "use metric='euclidean'")
    scale = (1.0 / norms).astype(np.float32)
    if sp.issparse(rows):
        return sp.csr_array(sp.dia_array((scale[None, :], [0]), shape=(len(scale), len(scale))) @ rows)
    return rows * scale[:, None]
