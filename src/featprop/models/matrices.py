"""SciPy and NumPy matrices as PyTorch sees them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["SparseMatrix", "as_matrix"]


class SparseMatrix:
    """A constant sparse matrix that multiplies dense ones, forwards and in the gradient.

    PyTorch transposes a sparse matrix anew at every backward pass; this keeps the transposed one.
    """

    def __init__(self, matrix: sp.csr_array, device: torch.device) -> None:
        self.forward = _csr_tensor(matrix, device)
        self.transposed = _csr_tensor(sp.csr_array(matrix.T), device)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, dense: Tensor, matrix: SparseMatrix) -> Tensor:
        context.matrix = matrix
        return matrix.forward @ dense

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return context.matrix.transposed @ gradient, None


def as_matrix(matrix: sp.csr_array | NDArray[np.float32], device: torch.device) -> SparseMatrix | Tensor:
    """Return what multiplies a tensor from the left, on `device`."""
    if sp.issparse(matrix):
        return SparseMatrix(matrix, device)
    return torch.from_numpy(np.ascontiguousarray(matrix)).to(device)


def _csr_tensor(matrix: sp.csr_array, device: torch.device) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(np.ascontiguousarray(matrix.data, dtype=np.float32)),
            size=matrix.shape,
            device=device,
            check_invariants=False,
        )
