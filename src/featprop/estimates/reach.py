"""Nodes that no label speaks for: far from every label, or in a part of the graph that has none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from featprop.distances.points import Points
from featprop.graph import Graph
from featprop.propagation import Propagation

__all__ = ["Reach", "Unreached", "reach", "rows_compared", "unreached_components"]

ROWS = ("two-hops", "diffused")
"""The smoothed features that nodes are compared by, as the default strategy does."""


@dataclass(frozen=True)
class Reach:
    """How far labels reach.

    Attributes
    ----------
    nearest
        For each node, the nearest labelled one: an index into them.
    distances
        For each node, how far that is.
    """

    nearest: NDArray[np.intp]
    distances: NDArray[np.float32]


@dataclass(frozen=True)
class Unreached:
    """The connected parts of a graph that have no label, the largest first.

    Attributes
    ----------
    positions
        The node of each that has the most neighbours.
    sizes
        How many nodes each has.
    """

    positions: NDArray[np.intp]
    sizes: NDArray[np.int64]


def rows_compared(graph: Graph) -> Points:
    """Return the rows that nodes are compared by: features smoothed over the graph."""
    return Propagation.of(graph).side_by_side(ROWS)


def reach(graph: Graph, labelled: NDArray[np.intp]) -> Reach:
    """Measure how far every node is from the nearest label; a labelled node is at 0, its own."""
    points = rows_compared(graph)
    centres = points.take(labelled)
    nearest, _ = points.nearest(centres)
    nearest[labelled] = np.arange(len(labelled))
    return Reach(nearest, points.exact_distances(centres, nearest))


def unreached_components(graph: Graph, labelled: NDArray[np.intp]) -> Unreached:
    """Find the connected parts without a label."""
    count, component = connected_components(graph.adjacency, directed=False)
    sizes = np.bincount(component, minlength=count)
    without = np.ones(count, dtype=bool)
    without[component[labelled]] = False
    degrees = np.diff(graph.adjacency.indptr)
    nodes = np.flatnonzero(without[component])
    ordered = nodes[np.lexsort((nodes, -degrees[nodes], component[nodes], -sizes[component[nodes]]))]
    _, first = np.unique(component[ordered], return_index=True)
    chosen = ordered[np.sort(first)]
    return Unreached(chosen, sizes[component[chosen]].astype(np.int64))
