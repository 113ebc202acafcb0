"""Sparse times dense on several threads: each row of the product from one row of the sparse matrix alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.threads import by_rows

__all__ = ["sparse_times"]


def sparse_times(matrix: sp.csr_array, dense: NDArray[Any]) -> NDArray[Any]:
    """Return the product, in the type of `dense`: the same whatever the number of threads."""
    dense = np.ascontiguousarray(dense)
    product = np.zeros((matrix.shape[0], dense.shape[1]), dtype=dense.dtype)
    work = matrix.nnz * dense.shape[1]
    by_rows(_times, len(product), work, matrix.data, matrix.indices, matrix.indptr, dense, product)
    return product


@njit(nogil=True, cache=True)
def _times(start, stop, data, indices, indptr, dense, product):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        for entry in range(indptr[i], indptr[i + 1]):
            value, j = data[entry], indices[entry]
            for c in range(dense.shape[1]):
                product[i, c] += value * dense[j, c]
