"""Least squares with a penalty, in closed form, and what each label would have got without itself.

    W = argmin  Σ_i w_i |y_i - z_i W|²  +  λ |W|²

With few labels the labels are solved for, b × b, with many the columns: W = Zᵀ (Z Zᵀ + λ diag(1/w))^-1 Y, or
(Zᵀ diag(w) Z + λ I)^-1 Zᵀ diag(w) Y. Either way leaving a label out costs no second solve: with H the matrix that turns
targets into answers, the answer without label i is (ŷ_i - H_ii y_i) / (1 - H_ii).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LeastSquares", "least_squares"]


class LeastSquares(NamedTuple):
    """What was learnt.

    Attributes
    ----------
    coefficients : ndarray of float64, shape (columns, targets)
        W.
    left_out : ndarray of float64, shape (labels, targets)
        For each label the answer of the solution that every other label gives.
    """

    coefficients: NDArray[np.float64]
    left_out: NDArray[np.float64]


def least_squares(
    rows: NDArray[np.float32], targets: NDArray[np.float64], weights: NDArray[np.float64], penalty: float
) -> LeastSquares:
    """Solve, in float64.

    Parameters
    ----------
    rows
        Z, one row a label.
    targets
        Y, one row a label.
    weights
        How much each label counts, above 0; a weight of 2 is as good as the label twice.
    penalty
        λ, above 0.
    """
    z = rows.astype(np.float64)
    if len(z) <= z.shape[1]:
        inverse = _inverse(z @ z.T, penalty / weights)
        duals = inverse @ targets
        return LeastSquares(z.T @ duals, targets - duals / np.diag(inverse)[:, None])
    weighted = z * weights[:, None]
    inverse = _inverse(weighted.T @ z, np.full(z.shape[1], penalty))
    coefficients = inverse @ (weighted.T @ targets)
    own = np.einsum("ij,ij->i", weighted @ inverse, z)[:, None]
    return LeastSquares(coefficients, (z @ coefficients - own * targets) / (1 - own))


def _inverse(matrix: NDArray[np.float64], added: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of a matrix without negative eigenvalues, and something positive on its diagonal."""
    matrix[np.diag_indices_from(matrix)] += added
    return np.asarray(np.linalg.inv(matrix))
