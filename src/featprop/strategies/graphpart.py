"""GraphPart: partition the graph and select nodes in every part.

J. Ma, Z. Ma, Chai, Mei, "Partition-Based Active Learning for Graph Neural Networks" (TMLR 2023): communities by greedy
modularity, merged to a few parts; K-Means on S²X within each part, and one node per centre.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.communities import greedy_modularity, merge_groups
from featprop.clustering.kmeans import as_points, k_means
from featprop.compute.points import first_minimum
from featprop.graph import Graph
from featprop.matrix import read_only
from featprop.options import AtLeast
from featprop.strategies.base import Layers, QueryContext, Strategy, register_strategy


@register_strategy("graphpart")
@dataclass(eq=False)
class GraphPart(Strategy):
    """Communities merged to a few parts, K-Means on S²X within each, and the node nearest to each centre.

    The communities are those of Clauset, Newman and Moore. The two whose union costs least,
    ‖x̄_i - x̄_j‖ · n_i n_j / (n_i + n_j) on the means of the raw features, are merged until `parts` are left. The
    authors provide partitions with a number of parts per data set; here it is one option with one default. The budget
    is divided so that labelled and new nodes together are spread evenly; a part without enough candidates passes its
    share on. Labelled nodes are fixed centres, and no node is selected twice.

    Parameters
    ----------
    parts
        Number of parts; fewer if there are fewer communities.
    layers
        K, the number of propagation steps.
    """

    reference = "Ma et al., TMLR 2023, arXiv:2201.09391"
    cost = "O(m log n) for the communities, then O(b n d)"

    parts: Annotated[int, AtLeast(1)] = 8
    layers: Layers = 2

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        graph = context.graph
        part = graph.cache.get(("graphpart", self.parts), lambda: _parts(graph, self.parts))
        points = context.points(self.layers)
        to_selected = np.full(len(points), np.inf, dtype=np.float32)
        if context.labelled.size:
            to_selected = points.nearest(points.take(context.labelled))[1]
        selected: list[int] = []
        for own, share in enumerate(_shares(part, context, budget)):
            if not share:
                continue
            members = np.flatnonzero(part == own)
            held = np.flatnonzero(np.isin(members, context.labelled))
            equally = np.ones(len(members), dtype=np.float32)
            centres = as_points(points, k_means(points.take(members), int(share), held, equally, generator))
            members = np.intersect1d(members, context.candidates)
            for to_centre in centres.distances(np.arange(len(centres)), to=points.take(members)):
                values = self.objective(to_centre, to_selected[members])
                values[np.isin(members, selected)] = np.inf
                selected.append(int(members[first_minimum(values, to_centre.max())]))
                to_selected = np.minimum(to_selected, points.distances(np.array(selected[-1:]))[0])
        return np.array(selected, dtype=np.intp)

    def objective(self, to_centre: NDArray[np.float32], to_selected: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what to minimise, given the distances to the centre and to the nearest selected or labelled node."""
        return to_centre.copy()


@register_strategy("graphpart-far")
class GraphPartFar(GraphPart):
    """GraphPart with nodes near their centre and far from nodes selected before, in all parts.

    For a centre c it selects the node that minimises ‖h - c‖ - min_{s selected or labelled} ‖h - h_s‖. The paper does
    not define the second term for the first node; here it is 0.

    Parameters
    ----------
    parts, layers
        As in `GraphPart`.
    """

    def objective(self, to_centre: NDArray[np.float32], to_selected: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(to_centre - np.where(np.isinf(to_selected), np.float32(0), to_selected))


def _parts(graph: Graph, count: int) -> NDArray[np.intp]:
    part: NDArray[np.intp] = read_only(merge_groups(graph.features, greedy_modularity(graph.adjacency), count))
    return part


def _shares(part: NDArray[np.intp], context: QueryContext, budget: int) -> NDArray[np.int64]:
    """Divide the budget so that labelled and new nodes are spread evenly over the parts, if they have candidates."""
    count = int(part.max()) + 1
    filled = np.bincount(part[context.labelled], minlength=count)
    room = filled + np.bincount(part[context.candidates], minlength=count)
    before = filled.copy()
    for _ in range(budget):
        filled[np.where(filled < room, filled, len(part) + 1).argmin()] += 1
    return filled - before
