"""Communities of a graph by greedy modularity.

Clauset, Newman, Moore, "Finding community structure in very large networks" (2004): every node starts as a community,
and the two whose union raises the modularity most are joined as long as one does,

    ΔQ_ij = 2 (e_ij - a_i a_j),    e_ij the share of all edge ends that run between i and j, a_i those at i.

NetworkX has this in pure Python, which takes minutes at 20,000 nodes; igraph is GPL. Here each community keeps one
entry in a heap, its best partner when it was made. ΔQ of two communities does not change as long as both are there, and
a union is a new community, so an entry whose partner is gone is only too high: its community looks for the best again.
The edges are linked lists, which join in one step; parallel ones are merged whenever a list is walked.
"""

from __future__ import annotations

import heapq

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

__all__ = ["greedy_modularity"]


def greedy_modularity(adjacency: sp.csr_array) -> NDArray[np.intp]:
    """Return the community of each node, numbered from 0 in the order of their first nodes.

    Parameters
    ----------
    adjacency
        Symmetric, with weights of at least 0 and no self loops, as that of a `featprop.graph.Graph`.
    """
    n = adjacency.shape[0]
    total = float(adjacency.sum(dtype=np.float64))
    if total == 0:
        return np.arange(n)
    sources = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    shares = adjacency.data.astype(np.float64) / total
    ends = np.bincount(sources, weights=shares, minlength=n)
    parents = _joined(n, adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64), shares, ends)
    _, first, community = np.unique(parents[:n], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[community]


@njit(cache=True)
def _joined(n, indptr, indices, shares, ends):  # type: ignore[no-untyped-def]
    """Return the community each of the nodes ends up in; a union of two is numbered on from n."""
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
        gain, best = _best(i, first, last, following, target, weight, size, parent, entry_of)
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
        gain, best = _best(i, first, last, following, target, weight, size, parent, entry_of)
        if gain > 0:
            heapq.heappush(heap, (-gain, i, best))
    for i in range(n):
        parent[i] = _root(i, parent)
    return parent


@njit(cache=True)
def _best(i, first, last, following, target, weight, size, parent, entry_of):  # type: ignore[no-untyped-def]
    """Walk the list of a community, merge what leads to the same one, and return the best gain and partner."""
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
