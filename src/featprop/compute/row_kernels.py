"""Compiled kernels over rows, on several threads: sparse products, unit rows, and sums by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.threads import run_by_rows
from featprop.matrix import Floats


def multiply_sparse(matrix: sp.csr_array, dense: NDArray[Any]) -> NDArray[Any]:
    """Return the product in the type of `dense`, the same for any number of threads."""
    dense = np.ascontiguousarray(dense)
    product = np.zeros((matrix.shape[0], dense.shape[1]), dtype=dense.dtype)
    work = matrix.nnz * dense.shape[1]
    run_by_rows(_multiply, len(product), work, matrix.data, matrix.indices, matrix.indptr, dense, product)
    return product


def normalize_rows(rows: Floats, min_length: float = 0.0, scale: Floats | None = None) -> Floats:
    """Scale rows to unit length in place; rows no longer than `min_length` (times their `scale`) become zero."""
    limits = np.full(len(rows), min_length) if scale is None else min_length * scale.astype(np.float64)
    run_by_rows(_normalize, len(rows), rows.size, rows, limits)
    return rows


def add_to_groups(rows: Floats, groups: NDArray[np.int32], weights: Floats, sums: NDArray[np.float64]) -> None:
    """Add each weighted row to the sum of its group, and its weight to the last column; skip negative groups.

    Threads share the columns, so rows are always added in their order.
    """
    run_by_rows(_add_columns, rows.shape[1], rows.size, rows, groups, weights, sums)


@njit(nogil=True, cache=True)
def _multiply(start, stop, data, indices, indptr, dense, product):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        for entry in range(indptr[i], indptr[i + 1]):
            value, j = data[entry], indices[entry]
            for c in range(dense.shape[1]):
                product[i, c] += value * dense[j, c]


@njit(nogil=True, cache=True)
def _normalize(start, stop, rows, limits):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        for c in range(rows.shape[1]):
            total += np.float64(rows[i, c]) * np.float64(rows[i, c])
        length = np.sqrt(total)
        factor = np.float32(1 / length) if length > limits[i] else np.float32(0)
        for c in range(rows.shape[1]):
            rows[i, c] *= factor


@njit(nogil=True, cache=True)
def _add_columns(start, stop, rows, groups, weights, sums):  # type: ignore[no-untyped-def]
    for i in range(len(groups)):
        group = groups[i]
        if group >= 0:
            weight = np.float64(weights[i])
            for c in range(start, stop):
                sums[group, c] += weight * rows[i, c]
            if start == 0:
                sums[group, -1] += weight
