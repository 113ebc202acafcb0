"""Communities of a graph by greedy modularity, and merging of groups of rows.

Clauset, Newman, Moore, "Finding community structure in very large networks" (2004): every node starts as a community,
and the two communities whose union raises the modularity most are joined while it rises,

    ΔQ_ij = 2 (e_ij - a_i a_j),    e_ij the share of all edge ends that run between i and j, a_i those at i.

NetworkX has this in pure Python, which takes minutes for 20,000 nodes; igraph is GPL. Here each community has one heap
entry: its best partner when the community was created. ΔQ of two communities does not change while both exist, and a
union is a new community, so the entry of a vanished partner is only too high, and its community searches again. Edges
are linked lists, which are joined in one step; parallel edges are merged when a list is traversed.
"""

from __future__ import annotations

import heapq

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.points import Points
from featprop.matrix import Features, Positions, dense

MAX_GROUPS = 1000
"""Smaller groups beyond this number first join the large group with the nearest mean, to limit the number of pairs."""


def greedy_modularity(adjacency: sp.csr_array) -> Positions:
    """Return the community of each node; communities are numbered in the order of their first nodes.

    Parameters
    ----------
    adjacency
        Symmetric matrix with non-negative weights and no self-loops, as in `featprop.graph.Graph`.
    """
    n = adjacency.shape[0]
    total = float(adjacency.sum(dtype=np.float64))
    if total == 0:
        return np.arange(n)
    sources = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    shares = adjacency.data.astype(np.float64) / total
    ends = np.bincount(sources, weights=shares, minlength=n)
    parents = _join_communities(n, adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64), shares, ends)
    _, first, community = np.unique(parents[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[community]


def merge_groups(features: Features, group: Positions, count: int) -> Positions:
    """Merge groups until `count` are left; return the group of each row, the largest group first.

    The two groups with the lowest cost ‖x̄_i - x̄_j‖ · n_i n_j / (n_i + n_j) are merged next, with means x̄ and sizes n
    (Ma et al., 2023; Ward's criterion squares the distance).
    """
    group = _renumber_by_size(group)
    if group.max() >= MAX_GROUPS:
        points = Points(_group_means(features, group))
        joined = np.arange(len(points))
        joined[MAX_GROUPS:] = points.take(slice(MAX_GROUPS, None)).nearest(points.take(slice(MAX_GROUPS)))[0]
        group = joined[group]
    means = dense(_group_means(features, group)).astype(np.float64)
    return _renumber_by_size(_merge_closest(means, np.bincount(group).astype(np.float64), count)[group])


def _merge_closest(means: NDArray[np.float64], sizes: NDArray[np.float64], count: int) -> Positions:
    """Return the final group of each group; both arguments are overwritten."""
    part = np.arange(len(sizes))
    costs = np.stack([_merge_costs(means, sizes, i) for i in range(len(sizes))])
    for _ in range(len(sizes) - count):
        i, j = np.unravel_index(costs.argmin(), costs.shape)
        means[i] = (sizes[i] * means[i] + sizes[j] * means[j]) / (sizes[i] + sizes[j])
        sizes[i] += sizes[j]
        sizes[j] = 0.0
        part[part == j] = i
        costs[i] = costs[:, i] = _merge_costs(means, sizes, int(i))
        costs[j] = costs[:, j] = np.inf
    return part


def _merge_costs(means: NDArray[np.float64], sizes: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    """Return the cost of merging group i with each other group; infinite for itself and for merged groups."""
    distances = np.sqrt(np.square(means - means[i]).sum(axis=1))
    costs = np.where(sizes > 0, distances * sizes * sizes[i] / (sizes + sizes[i]), np.inf)
    costs[i] = np.inf
    return np.asarray(costs)


def _group_means(features: Features, group: Positions) -> Features:
    shares = (1.0 / np.bincount(group))[group].astype(np.float32)
    return sp.csr_array((shares, (group, np.arange(len(group))))) @ features


def _renumber_by_size(group: Positions) -> Positions:
    """Renumber groups by decreasing size, and groups of equal size by their first row."""
    _, first, group, sizes = np.unique(group, return_index=True, return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort([first, -sizes]))[group]


@njit(cache=True)
def _join_communities(n, indptr, indices, shares, ends):  # type: ignore[no-untyped-def]
    """Return the final community of each node; unions are numbered from n on."""
    target, weight = indices.copy(), shares.copy()
    following = np.arange(1, len(target) + 1)
    first = np.full(2 * n, -1)
    last = np.full(2 * n, -1)
    for i in range(n):
        if indptr[i] < indptr[i + 1]:
            first[i], last[i] = indptr[i], indptr[i + 1] - 1
            following[last[i]] = -1
    size = np.zeros(2 * n)
    size[:n] = ends
    parent = np.arange(2 * n)
    alive = np.zeros(2 * n, dtype=np.bool_)
    alive[:n] = True
    entry_of = np.full(2 * n, -1)
    heap = [(0.0, 0, 0) for _ in range(0)]
    for i in range(n):
        gain, best = _best_partner(i, first, last, following, target, weight, size, parent, entry_of)
        if gain > 0:
            heapq.heappush(heap, (-gain, i, best))
    made = n
    while len(heap) > 0:
        _, i, j = heapq.heappop(heap)
        if not alive[i]:
            continue
        if alive[j]:
            alive[i] = alive[j] = False
            alive[made] = True
            parent[i] = parent[j] = made
            size[made] = size[i] + size[j]
            first[made], last[made] = first[i], last[j]
            following[last[i]] = first[j]
            i = made
            made += 1
        gain, best = _best_partner(i, first, last, following, target, weight, size, parent, entry_of)
        if gain > 0:
            heapq.heappush(heap, (-gain, i, best))
    for i in range(n):
        parent[i] = _root(i, parent)
    return parent


@njit(cache=True)
def _best_partner(i, first, last, following, target, weight, size, parent, entry_of):  # type: ignore[no-untyped-def]
    """Merge the parallel edges of a community, and return its best gain and partner."""
    before, entry = -1, first[i]
    while entry != -1:
        other = _root(target[entry], parent)
        after = following[entry]
        if other == i or entry_of[other] != -1:
            if other != i:
                weight[entry_of[other]] += weight[entry]
            if before == -1:
                first[i] = after
            else:
                following[before] = after
        else:
            target[entry] = other
            entry_of[other] = entry
            before = entry
        entry = after
    last[i] = before
    gain, best = 0.0, -1
    entry = first[i]
    while entry != -1:
        other = target[entry]
        entry_of[other] = -1
        change = 2.0 * (weight[entry] - size[i] * size[other])
        if change > gain:
            gain, best = change, other
        entry = following[entry]
    return gain, best


@njit(cache=True)
def _root(i, parent):  # type: ignore[no-untyped-def]
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
