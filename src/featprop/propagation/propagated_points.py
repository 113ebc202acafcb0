"""Rows of S^K X to measure between that are never made whole: an operator, for wide features that are sparse.

Products of all rows Z = S^K X with a few of them are

    Z Z_mᵀ = S^K (X (Z_m)ᵀ),

which takes one pass over the entries of X and K over the edges, however wide X is; a row that is asked for is summed
from the features around its node. Mixed over two hops words fill a third of their columns and more, so S²X would take
a hundred times the memory of X, and distances from its rows a hundred times the work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.kernels import CLOSE, nearest_dense, to_distances_dense
from featprop.compute.points import Points, blocks_of
from featprop.compute.sparse_products import sparse_times
from featprop.compute.threads import by_rows
from featprop.matrix import Features, unit_rows

__all__ = ["PropagatedPoints"]

NOTHING = np.empty((0, 0), dtype=np.float32)


class PropagatedPoints(Points):
    """The rows of S^K X under the Euclidean metric.

    Parameters
    ----------
    adjacency
        S.
    features
        X; numbers of moderate size.
    layers
        K, one at least.
    unit
        Whether rows are scaled to length 1; a row of zeros stays one.
    whole
        Returns S^K X, for those who look at `rows` all the same.
    """

    def __init__(
        self,
        adjacency: sp.csr_array,
        features: sp.csr_array,
        layers: int,
        unit: bool,
        whole: Callable[[], Features],
    ) -> None:
        self.adjacency = adjacency
        self.features = features
        self.layers = layers
        self.whole = whole
        self.metric = "euclidean"
        self.unit = 1.0
        self._matrix = None
        self._passed = features
        for _ in range(layers - 1):
            self._passed = sp.csr_array(adjacency @ self._passed)
        squared = np.empty(len(self))
        by_rows(_lengths, len(self), len(self) * self.width, *self._arrays(adjacency), self.width, squared)
        self._scale: NDArray[np.float64] | None = None
        if unit:
            lengths = np.sqrt(squared)
            self._scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            squared = (squared > 0).astype(np.float64)
        self._squared = squared
        self._squared_norms = squared.astype(np.float32)

    def __len__(self) -> int:
        return int(self.features.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.features.shape[1])

    @cached_property
    def _rows(self) -> Features:
        rows = self.whole()
        return rows if self._scale is None else unit_rows(rows)

    @cached_property
    def _turned(self) -> sp.csr_array:
        return sp.csr_array(self.features.T)

    def take(self, indices: NDArray[Any] | slice) -> Points:
        """Return the points at `indices`, made for it; itself if it is all of them."""
        if isinstance(indices, slice) and indices.indices(len(self)) == (0, len(self), 1):
            return self
        rows = np.empty((len(np.arange(len(self))[indices]), self.width), dtype=np.float32)
        by_rows(_made, len(rows), rows.size, *self._arrays(self.adjacency[indices]), rows)
        if self._scale is not None:
            rows *= self._scale[indices, None].astype(np.float32)
        return Points.prepared(rows, self.metric, self.unit, self._squared_norms[indices])

    def sample(self, most: int) -> Points:  # noqa: ARG002
        """Return all of them: no product with some rows takes less work."""
        return self

    def times(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Return the product of all rows and a matrix, in the type of the matrix."""
        product = sparse_times(self.features, matrix)
        for _ in range(self.layers):
            product = sparse_times(self.adjacency, product)
        if self._scale is not None:
            product *= self._scale[:, None].astype(product.dtype)
        return product

    def transposed_times(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the product of all rows, as columns, and a matrix."""
        product = matrix if self._scale is None else matrix * self._scale[:, None].astype(np.float32)
        for _ in range(self.layers):
            product = sparse_times(self.adjacency, product)
        return sparse_times(self._turned, product)

    def distances(self, indices: NDArray[Any] | slice, to: Points | None = None) -> NDArray[np.float32]:
        """Return the distance of each point at `indices` to all points, or to those of `to`."""
        own = self.take(indices)
        if to is not None and to is not self:
            return own.distances(slice(None), to=to)
        block = np.ascontiguousarray(self.times(own.rows.T).T)
        norms = own.squared_norms, self._squared_norms
        by_rows(to_distances_dense, len(block), block.size, block, *norms, NOTHING, NOTHING, False)
        close = np.square(block) < CLOSE * (norms[0][:, None] + norms[1])
        block[np.arange(len(block)), np.arange(len(self))[indices]] = 0.0
        close[np.arange(len(block)), np.arange(len(self))[indices]] = False
        self._measure_again(block, own, *np.nonzero(close))
        return block

    def nearest(self, centres: Points) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return for each point the nearest of `centres`, the first of several, and its distance."""
        index, squared = np.empty(len(self), dtype=np.intp), np.empty(len(self), dtype=np.float32)
        products = self.times(centres.rows.T)
        norms = self._squared_norms, centres.squared_norms
        by_rows(nearest_dense, len(self), products.size, products, *norms, NOTHING, NOTHING, index, squared)
        return index, np.sqrt(squared)

    def exact_distances(self, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distance of each point to the centre `index` says, from products in float64."""
        rows = centres.rows.astype(np.float64)
        lengths = np.einsum("ij,ij->i", rows, rows)
        products = self.times(rows.T)[np.arange(len(self)), index]
        squared = self._squared + lengths[index] - 2 * products
        distances = np.sqrt(np.maximum(squared, 0)).astype(np.float32)
        close = np.flatnonzero(squared < CLOSE * (self._squared + lengths[index]))
        for piece in blocks_of(len(close), 4 * self.width):
            here = close[piece]
            distances[here] = self.take(here).exact_distances(centres, index[here])
        return np.asarray(distances)

    def squared_to(self, centre: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the square of the distance from each point to a place among them, less |centre|²."""
        return np.asarray(self._squared_norms - 2 * self.times(centre[:, None])[:, 0])

    def _measure_again(
        self, block: NDArray[np.float32], own: Points, which: NDArray[np.intp], nodes: NDArray[np.intp]
    ) -> None:
        """Write distances that rounding would spoil from the differences of the rows."""
        for piece in blocks_of(len(nodes), 4 * self.width):
            here = self.take(nodes[piece])
            block[which[piece], nodes[piece]] = here.exact_distances(own, which[piece])

    def _arrays(self, mixing: sp.csr_array) -> tuple[NDArray[Any], ...]:
        """Return what rows are made of: those of S that are asked for, and S^(K-1) X."""
        parts = (mixing, self._passed)
        return tuple(array for part in parts for array in (part.data, part.indices, part.indptr))


@njit(nogil=True, cache=True)
def _lengths(start, stop, s, s_indices, s_indptr, x, x_indices, x_indptr, width, squared):  # type: ignore[no-untyped-def]
    """Find the squared length of each row; eight sums side by side, as one after the other they would wait."""
    row = np.zeros((width + 7) // 8 * 8, dtype=np.float32)
    sums = np.empty(8)
    for i in range(start, stop):
        row[:] = 0
        _add_up(i, s, s_indices, s_indptr, x, x_indices, x_indptr, row)
        sums[:] = 0
        for first in range(0, len(row), 8):
            for c in range(8):
                sums[c] += np.float64(row[first + c]) * np.float64(row[first + c])
        squared[i] = sums.sum()


@njit(nogil=True, cache=True)
def _made(start, stop, s, s_indices, s_indptr, x, x_indices, x_indptr, rows):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        rows[i] = 0
        _add_up(i, s, s_indices, s_indptr, x, x_indices, x_indptr, rows[i])


@njit(nogil=True, cache=True)
def _add_up(i, s, s_indices, s_indptr, x, x_indices, x_indptr, row):  # type: ignore[no-untyped-def]
    for step in range(s_indptr[i], s_indptr[i + 1]):
        j, share = s_indices[step], s[step]
        for entry in range(x_indptr[j], x_indptr[j + 1]):
            row[x_indices[entry]] += share * x[entry]
