"""Grain: diversified influence maximisation.

Zhang, Yang, Wang, Shen, Li, Wang, Cui, "Grain: Improving Data Efficiency of Graph Neural Networks via Diversified
Influence Maximization" (VLDB 2021): select nodes that influence many and diverse nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.propagation import normalised_adjacency
from featprop.strategies.base import Layers, QueryContext, Share, Strategy, register_strategy
from featprop.strategies.herding import distance_quantile, sample_references


class Reach(NamedTuple):
    """The nodes each candidate and each labelled node influences."""

    candidates: NDArray[np.intp]  # those nearest to all nodes on average first, an order independent of the node order
    sets: sp.csr_array  # nodes that each candidate influences, a 0/1 matrix
    held: sp.csr_array  # nodes that each labelled node influences
    nearest: NDArray[np.float32]  # distance from every reference node to the nearest node that a candidate influences
    nearest_held: NDArray[np.float32]  # the same for labelled nodes
    largest: float  # largest distance between a node and a reference node


@dataclass(eq=False)
class Grain(Strategy):
    """Diversified influence maximisation; each subclass defines diversity.

    Parameters
    ----------
    theta
        Threshold θ: v influences u if (S^K)_vu exceeds it.
    layers
        K, the number of propagation steps of features and influence.
    """

    reference = "Zhang et al., VLDB 2021, arXiv:2108.00219"
    cost = "O(n r d), r = 4,096 or n if fewer; 8 n r bytes"

    theta: Share = 0.0
    layers: Layers = 2

    def reach(self, context: QueryContext, generator: np.random.Generator) -> Reach:
        """Return what the candidates and the labelled nodes influence."""
        reached = influence(context.graph, self.layers, self.theta)
        points = context.points(self.layers)
        everyone = np.arange(len(points))
        distances = points.distances_to_subset(everyone, sample_references(len(points), generator))
        sets, held = reached[context.candidates], reached[context.labelled]
        nearest = _nearest(sets.indptr, sets.indices, distances)
        nearest_held = _nearest(held.indptr, held.indices, distances)
        largest = float(distances.max())
        del distances
        order = np.argsort(nearest.sum(axis=1, dtype=np.float64), kind="stable")
        return Reach(context.candidates[order], sets[order], held, nearest[order], nearest_held, largest)


@register_strategy("grain-ball")
@dataclass(eq=False)
class GrainBall(Grain):
    """Diversified influence maximisation, ball-D: cover the most nodes within a radius of influenced ones.

    Maximises |∪_{u influenced by a selected node} {j : ‖h_j - h_u‖ ≤ r}|. The authors fix r at 0.05 of the largest
    distance, where a ball on Cora holds 1.3 nodes; here r is a quantile of the distances between nodes, the same for
    all graphs. Their code stops once everything is covered, even if the budget is not spent; here the covering
    restarts. With more than 4,096 nodes, coverage is measured on a random sample of 4,096. Ties go to the candidate
    whose influenced nodes are nearest to all.

    Parameters
    ----------
    quantile
        Quantile of the distances between nodes that gives r.
    """

    quantile: Share = 0.01

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        radius = distance_quantile(context.points(self.layers), self.quantile, generator)
        reach = self.reach(context, generator)
        balls = sp.csr_array(reach.nearest <= radius)
        covered = np.asarray((reach.nearest_held <= radius).any(axis=0))
        nothing = np.empty((len(reach.candidates), 0), dtype=np.float32)
        return reach.candidates[greedy_cover(balls, covered, nothing, nothing[0], budget)]


@register_strategy("grain-nn")
class GrainNN(Grain):
    """Diversified influence maximisation, NN-D: influence many nodes and keep the others close to them.

    Maximises |influenced| / n + (1/n) Σ_j (d_max - distance of j to the nearest influenced node), with distances on
    S^K X scaled so that the largest, d_max, is 1; a selected node influences itself. The paper leaves open what happens
    when no candidate brings a gain; here the covering restarts. With more than 4,096 nodes, the sum is over a random
    sample of 4,096. Ties go to the candidate whose influenced nodes are nearest to all.
    """

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        reach = self.reach(context, generator)
        scale = np.float32(reach.largest or 1.0)
        covered = np.zeros(context.graph.n_nodes, dtype=bool)
        covered[reach.held.indices] = True
        near = np.minimum(reach.nearest_held.min(axis=0, initial=np.inf) / scale, np.float32(1.0))
        nearest = np.divide(reach.nearest, scale, out=reach.nearest)
        return reach.candidates[greedy_cover(reach.sets, covered, nearest, near, budget)]


def influence(graph: Graph, layers: int, theta: float) -> sp.csr_array:
    """Return a 0/1 matrix whose row v marks v itself and the nodes u with (S^K)_vu > θ."""
    S = normalised_adjacency(graph)
    itself = sp.eye_array(graph.n_nodes, format="csr", dtype=np.float32)
    reached = itself.copy()
    for _ in range(layers):
        reached = sp.csr_array(reached @ S)
    reached.data[reached.data <= theta] = 0.0
    reached = sp.csr_array(reached + itself)
    reached.eliminate_zeros()
    reached.data[:] = 1.0
    return reached


def greedy_cover(
    sets: sp.csr_array, covered: NDArray[np.bool_], rows: NDArray[np.float32], near: NDArray[np.float32], count: int
) -> NDArray[np.intp]:
    """Select `count` candidates greedily, each with the largest gain; ties go to the first.

    The gain of a candidate is the share of all nodes in its set that are not covered yet, plus the mean over the
    reference nodes of how much closer its row is than `near`. Gains only shrink, so an earlier one is an upper bound.
    When no candidate brings a gain, everything is covered and the covering restarts.
    """
    far = np.ones_like(near)
    chosen = _cover(sets.indptr, sets.indices, covered.copy(), rows, near.copy(), far, count)
    return np.asarray(chosen, dtype=np.intp)


@njit(cache=True)
def _nearest(indptr, indices, distances):  # type: ignore[no-untyped-def]
    nearest = np.full((len(indptr) - 1, distances.shape[1]), np.inf, dtype=np.float32)
    for v in range(len(indptr) - 1):
        for entry in range(indptr[v], indptr[v + 1]):
            row = distances[indices[entry]]
            for j in range(len(row)):
                if row[j] < nearest[v, j]:
                    nearest[v, j] = row[j]
    return nearest


@njit(cache=True)
def _cover(indptr, indices, covered, rows, near, far, count):  # type: ignore[no-untyped-def]
    n = len(indptr) - 1
    chosen = np.empty(count, dtype=np.int64)
    left = np.ones(n, dtype=np.bool_)
    bounds = np.full(n, np.inf)
    made, starting = 0, False
    for v in range(n):
        bounds[v] = _gain(v, indptr, indices, covered, rows, near)
    while made < count:
        best = np.argmax(bounds)
        gain = _gain(best, indptr, indices, covered, rows, near)
        if gain < bounds[best]:
            bounds[best] = gain
        elif gain <= 0 and not starting:
            starting = True
            covered[:] = False
            near[:] = far
            for v in range(n):
                if left[v]:
                    bounds[v] = _gain(v, indptr, indices, covered, rows, near)
        else:
            starting = False
            chosen[made] = best
            made += 1
            left[best] = False
            bounds[best] = -np.inf
            for entry in range(indptr[best], indptr[best + 1]):
                covered[indices[entry]] = True
            for j in range(len(near)):
                near[j] = min(near[j], rows[best, j])
    return chosen


@njit(cache=True)
def _gain(v, indptr, indices, covered, rows, near):  # type: ignore[no-untyped-def]
    new = 0
    for entry in range(indptr[v], indptr[v + 1]):
        if not covered[indices[entry]]:
            new += 1
    nearer = 0.0
    for j in range(len(near)):
        if rows[v, j] < near[j]:
            nearer += np.float64(near[j]) - rows[v, j]
    return new / max(1, len(covered)) + nearer / max(1, len(near))
