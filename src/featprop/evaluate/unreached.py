"""Parts of a graph that no label speaks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.graph import Graph

__all__ = ["Unreached", "unreached_components"]


@dataclass(frozen=True, eq=False)
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


def unreached_components(graph: Graph, labelled: NDArray[np.intp]) -> Unreached:
    """Find the connected parts without a label."""
    from scipy.sparse.csgraph import connected_components  # takes longer to load than the rest of this package

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
