"""Feature matrices: CSR or dense float32, whichever takes less memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Features: TypeAlias = "sp.csr_array | NDArray[np.float32]"
Floats: TypeAlias = "NDArray[np.float32]"
Positions: TypeAlias = "NDArray[np.intp]"

MIN_SQUARE = 2.0**-100
"""Least squared length of a row at which no significant entry underflows in single precision."""


def dense(matrix: Any) -> NDArray[np.float32]:
    """Return a dense copy."""
    if sp.issparse(matrix):
        return np.ascontiguousarray(matrix.toarray(), dtype=np.float32)
    return np.array(matrix, dtype=np.float32, order="C")


def as_dense(matrix: Any) -> NDArray[np.float32]:
    """Return the matrix itself if it is dense, a dense copy if it is sparse."""
    return dense(matrix) if sp.issparse(matrix) else matrix


def read_only(matrix: Any) -> Any:
    """Return a read-only view of a matrix; the original stays writable."""
    if not sp.issparse(matrix):
        view = matrix.view()
        view.flags.writeable = False
        return view
    if not matrix.has_canonical_format:
        matrix.sum_duplicates()
    indptr, indices, data = map(read_only, (matrix.indptr, matrix.indices, matrix.data))
    return csr_of(indptr, indices, data, matrix.shape[1])


def csr_of(indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], columns: int) -> sp.csr_array:
    """Return the CSR matrix of arrays in canonical format, which are not checked."""
    matrix = sp.csr_array((len(indptr) - 1, columns), dtype=np.float32)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, data
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def checked_csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, ...]) -> sp.csr_array:
    """Return a CSR matrix of untrusted arrays; raise a `ValueError` if they do not form one.

    SciPy's own check misses decreasing row pointers if the last one is 0, and its compiled code then accesses memory
    outside the arrays.
    """
    if np.asarray(data).dtype.kind not in "biuf":
        raise ValueError(f"a matrix of {np.asarray(data).dtype} instead of numbers")
    for positions in map(np.asarray, (indices, indptr)):
        if positions.size and positions.dtype.kind not in "iu":
            raise ValueError(f"positions of {positions.dtype} instead of integers")
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
        raise ValueError("indptr must be a non-decreasing sequence")
    return matrix


def smaller(matrix: Any) -> Features:
    """Return a copy of the matrix as CSR or dense float32, whichever takes less memory."""
    n, d = matrix.shape
    if not is_sparse_smaller(n, d, non_zeros(matrix)):
        return dense(matrix)
    sparse = sp.csr_array(matrix, dtype=np.float32, copy=True)
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    return sparse


def side_by_side(matrices: Sequence[Features]) -> Features:
    """Return the matrices stacked horizontally."""
    if len(matrices) == 1:
        return matrices[0]
    if any(sp.issparse(matrix) for matrix in matrices):
        return sp.csr_array(sp.hstack([sp.csr_array(matrix) for matrix in matrices], format="csr"))
    return np.hstack(matrices)


def non_zeros(matrix: Any) -> int:
    """Return the number of non-zero entries, or of stored entries if the matrix is sparse."""
    return int(matrix.nnz if sp.issparse(matrix) else np.count_nonzero(matrix))


def is_sparse_smaller(n: int, d: int, non_zero: int) -> bool:
    """Return whether an n × d matrix takes less memory as CSR than dense."""
    index_bytes = 4 if max(n, d, non_zero) < 2**31 else 8
    return non_zero * (4 + index_bytes) + (n + 1) * index_bytes < n * d * 4


def unit_rows(matrix: Features) -> Features:
    """Return the matrix with each row scaled to length 1; rows of zeros stay zero."""
    squares = _squared_lengths(matrix)
    extreme = np.flatnonzero((squares < MIN_SQUARE) | ~np.isfinite(squares))
    if extreme.size and non_zeros(matrix[extreme]):
        matrix = matrix.astype(np.float64)
        squares = _squared_lengths(matrix)
    norms = np.sqrt(squares)
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0).astype(matrix.dtype)
    if sp.issparse(matrix):
        scaled = sp.dia_array((scale[None, :], [0]), shape=(len(scale), len(scale))) @ matrix
        return sp.csr_array(scaled, dtype=np.float32)
    return np.asarray(matrix * scale[:, None], dtype=np.float32)


def _squared_lengths(matrix: Features) -> NDArray[np.float64]:
    """Return the squared length of each row; infinite or 0 if it overflows or underflows the type of the matrix."""
    with np.errstate(over="ignore", under="ignore"):
        if sp.issparse(matrix):
            return np.asarray(sp.csr_array(matrix).power(2).sum(axis=1), dtype=np.float64)
        return np.asarray(np.einsum("ij,ij->i", matrix, matrix), dtype=np.float64)


def margins(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the gap between the two largest scores of each row; there must be at least two columns."""
    largest = np.partition(scores, -2, axis=1)
    return np.asarray(largest[:, -1] - largest[:, -2])
