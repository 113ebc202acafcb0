"""Groups of rows merged to a few parts, in the manner of Ward: large and far groups last."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.compute.points import Points
from featprop.matrix import Features, dense

__all__ = ["merged_groups"]

MAX_GROUPS = 1000
"""Smaller groups beyond so many join the large one whose mean is nearest: all pairs of them would be too many."""


def merged_groups(features: Features, group: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the part of each row, the largest part first, after merging groups until `count` are left.

    Those two are merged next whose union costs least, ‖x̄_i - x̄_j‖ · n_i n_j / (n_i + n_j) with the means and sizes of
    the groups (Ma et al., 2023; Ward's criterion would have the square of the distance).
    """
    group = _largest_first(group)
    if group.max() >= MAX_GROUPS:
        points = Points(_means(features, group))
        joined = np.arange(len(points))
        joined[MAX_GROUPS:] = points.take(slice(MAX_GROUPS, None)).nearest(points.take(slice(MAX_GROUPS)))[0]
        group = joined[group]
    means = dense(_means(features, group)).astype(np.float64)
    return _largest_first(_merged(means, np.bincount(group).astype(np.float64), count)[group])


def _merged(means: NDArray[np.float64], sizes: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the group each group ends up in; both arguments are used up."""
    part = np.arange(len(sizes))
    costs = np.stack([_costs(means, sizes, i) for i in range(len(sizes))])
    for _ in range(len(sizes) - count):
        i, j = np.unravel_index(costs.argmin(), costs.shape)
        means[i] = (sizes[i] * means[i] + sizes[j] * means[j]) / (sizes[i] + sizes[j])
        sizes[i] += sizes[j]
        sizes[j] = 0.0
        part[part == j] = i
        costs[i] = costs[:, i] = _costs(means, sizes, int(i))
        costs[j] = costs[:, j] = np.inf
    return part


def _costs(means: NDArray[np.float64], sizes: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    """Return what joining group i with each other one costs; infinite with itself and with those that are gone."""
    distances = np.sqrt(np.square(means - means[i]).sum(axis=1))
    costs = np.where(sizes > 0, distances * sizes * sizes[i] / (sizes + sizes[i]), np.inf)
    costs[i] = np.inf
    return np.asarray(costs)


def _means(features: Features, group: NDArray[np.intp]) -> Features:
    shares = (1.0 / np.bincount(group))[group].astype(np.float32)
    return sp.csr_array((shares, (group, np.arange(len(group))))) @ features


def _largest_first(group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Give groups new numbers by falling size; of equal ones, the one whose first row comes first."""
    _, first, group, sizes = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort([first, -sizes]))[group]
