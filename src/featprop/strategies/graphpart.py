"""GraphPart: partition the graph and select nodes in every part.

J. Ma, Z. Ma, Chai, Mei, "Partition-Based Active Learning for Graph Neural Networks" (TMLR 2023): communities by greedy
modularity, merged to a few parts; K-Means on S²X within each part, and one node per centre.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.communities import greedy_modularity, merge_groups
from featprop.clustering.kmeans import as_points, k_means
from featprop.compute.points import Points, first_minimum
from featprop.graph import Graph
from featprop.matrix import read_only
from featprop.options import AtLeast, Between
from featprop.strategies.base import Strategy, register_strategy
from featprop.strategies.context import QueryContext


@register_strategy("graphpart")
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

    def __init__(self, parts: Annotated[int, AtLeast(1)] = 8, layers: Annotated[int, Between(0, 1000)] = 2) -> None:
        self.parts = parts
        self.layers = layers

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return one node per centre, part by part, largest part first."""
        graph = context.graph
        part = graph.cache.get(("graphpart", self.parts), lambda: _parts(graph, self.parts))
        points = context.points(self.layers)
        selected = Selected(points, context.labelled)
        for own, share in enumerate(_shares(part, context, budget)):
            if share:
                members = np.flatnonzero(part == own)
                held = np.flatnonzero(np.isin(members, context.labelled))
                equally = np.ones(len(members), dtype=np.float32)
                centres = k_means(points.take(members), int(share), held, equally, generator)
                self._select_near(as_points(points, centres), np.intersect1d(members, context.candidates), selected)
        return np.array(selected.nodes, dtype=np.intp)

    def _select_near(self, centres: Points, members: NDArray[np.intp], selected: Selected) -> None:
        """Select for each centre the best member that is not selected yet."""
        for distances in centres.distances(np.arange(len(centres)), to=selected.points.take(members)):
            values = self.objective(distances, selected.distances[members])
            values[np.isin(members, selected.nodes)] = np.inf
            selected.add(int(members[first_minimum(values, distances.max())]))

    def objective(self, to_centre: NDArray[np.float32], to_selected: NDArray[np.float32]) -> NDArray[np.float32]:  # noqa: ARG002
        """Return what to minimise: the distance to the centre."""
        return to_centre.copy()


class Selected:
    """The nodes selected so far, and the distance of every node to the nearest selected or labelled one."""

    def __init__(self, points: Points, labelled: NDArray[np.intp]) -> None:
        self.points = points
        self.nodes: list[int] = []
        self.is_first = not labelled.size
        self.distances = np.zeros(len(points), dtype=np.float32)
        if labelled.size:
            self.distances = points.nearest(points.take(labelled))[1]

    def add(self, node: int) -> None:
        """Select one more node."""
        self.nodes.append(node)
        distances = self.points.distances(np.array([node]))[0]
        self.distances = distances if self.is_first else np.minimum(self.distances, distances)
        self.is_first = False


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
