"""Feature matrices: CSR or dense float32, whichever takes less memory."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Features", "dense", "smaller"]

Features: TypeAlias = "sp.csr_array | NDArray[np.float32]"


def dense(matrix: Any) -> NDArray[np.float32]:
    """Return a dense copy."""
    return np.array(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float32)


def smaller(matrix: Any) -> Features:
    """Return the matrix as CSR or dense float32, whichever takes less memory."""
    n, d = matrix.shape
    non_zero = matrix.nnz if sp.issparse(matrix) else int(np.count_nonzero(matrix))
    index_bytes = 4 if max(n, d, non_zero) < 2**31 else 8
    if non_zero * (4 + index_bytes) + (n + 1) * index_bytes >= n * d * 4:
        return np.ascontiguousarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float32)
    sparse = sp.csr_array(matrix, dtype=np.float32)
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    return sparse
