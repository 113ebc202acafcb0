"""Least squares with a penalty, in closed form.

    W = argmin  Σ_i w_i |y_i - z_i W|²  +  λ |W|²

With few labels the labels are solved for, b × b, with many the columns: W = Zᵀ (Z Zᵀ + λ diag(1/w))^-1 Y, or
(Zᵀ diag(w) Z + λ I)^-1 Zᵀ diag(w) Y.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def least_squares(
    rows: NDArray[np.floating], targets: NDArray[np.float64], weights: NDArray[np.float64], penalty: float
) -> NDArray[np.float64]:
    """Return W, shape (columns, targets), solved in float64.

    Parameters
    ----------
    rows
        Z, one row per label.
    targets
        Y, one row per label.
    weights
        Weight of each label, above 0; a weight of 2 is as good as the label twice.
    penalty
        λ, above 0.
    """
    z = rows.astype(np.float64)
    if len(z) <= z.shape[1]:
        return np.asarray(z.T @ np.linalg.solve(_with_diagonal(z @ z.T, penalty / weights), targets))
    weighted = z * weights[:, None]
    gram = _with_diagonal(weighted.T @ z, np.full(z.shape[1], penalty))
    return np.asarray(np.linalg.solve(gram, weighted.T @ targets))


def _with_diagonal(matrix: NDArray[np.float64], added: NDArray[np.float64]) -> NDArray[np.float64]:
    matrix[np.diag_indices_from(matrix)] += added
    return matrix
