"""Rows of unit length, each from itself alone, so that they are the same in any block."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from featprop.compute.threads import by_rows

__all__ = ["unit_length"]


def unit_length(
    rows: NDArray[np.float32], least: float = 0.0, scale: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Scale rows to length 1 in place; those not longer than `least`, times `scale` each, become zero."""
    limits = np.full(len(rows), least) if scale is None else least * scale.astype(np.float64)
    by_rows(_unit_length, len(rows), rows.size, rows, limits)
    return rows


@njit(nogil=True, cache=True)
def _unit_length(start, stop, rows, limits):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        for c in range(rows.shape[1]):
            total += np.float64(rows[i, c]) * np.float64(rows[i, c])
        length = np.sqrt(total)
        factor = np.float32(1 / length) if length > limits[i] else np.float32(0)
        for c in range(rows.shape[1]):
            rows[i, c] *= factor
