"""Sums of rows by group, leaf by leaf: the means of cells and of classes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from featprop.compute.threads import by_rows

__all__ = ["add_to_groups"]


def add_to_groups(
    rows: NDArray[np.float32], groups: NDArray[np.int32], weights: NDArray[np.float32], sums: NDArray[np.float64]
) -> None:
    """Add each row, times its weight, to the sum of its group, and its weight to the last column.

    Rows are added in their order, by columns shared among threads. Those of a negative group are left out.
    """
    by_rows(_add_up, rows.shape[1], rows.size, rows, groups, weights, sums)


@njit(nogil=True, cache=True)
def _add_up(start, stop, rows, groups, weights, sums):  # type: ignore[no-untyped-def]
    for i in range(len(groups)):
        group = groups[i]
        if group >= 0:
            weight = np.float64(weights[i])
            for c in range(start, stop):
                sums[group, c] += weight * rows[i, c]
            if start == 0:
                sums[group, -1] += weight
