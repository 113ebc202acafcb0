"""How far nodes are from the nearest label, over the labels in the order they were given: one pass over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.propagation import BOUND_LAYERS, Propagation

__all__ = ["Covered", "covered"]

STEPS = 16
"""Points of the curve at most."""


@dataclass(frozen=True, eq=False)
class Covered:
    """How the labels cover the graph.

    Attributes
    ----------
    nearest
        For each node, which label is the nearest: an index into them.
    distances
        For each node, how far that is, on S²X.
    budgets, means
        After how many labels the mean distance of a node to the nearest was how large.
    """

    nearest: NDArray[np.intp]
    distances: NDArray[np.float32]
    budgets: tuple[int, ...]
    means: tuple[float, ...]


def covered(graph: Graph, labelled: NDArray[np.intp]) -> Covered:
    """Measure the distance of every row of S²X to the nearest of the labelled ones, a few more of them at a time.

    Parameters
    ----------
    graph
        The graph.
    labelled
        The positions of the labelled nodes, in the order of the labels; one at least.
    """
    points = Propagation.of(graph).points(BOUND_LAYERS)
    nearest = np.zeros(graph.n_nodes, dtype=np.intp)
    distances = np.full(graph.n_nodes, np.inf, dtype=np.float32)
    budgets = np.unique(np.rint(np.linspace(1, len(labelled), min(STEPS, len(labelled)))).astype(np.intp))
    means = []
    for start, stop in zip([0, *budgets[:-1].tolist()], budgets.tolist(), strict=True):
        centres = points.take(labelled[start:stop])
        found, _ = points.nearest(centres)
        found[labelled[start:stop]] = np.arange(stop - start)
        gaps = points.exact_distances(centres, found)
        nearer = gaps < distances
        nearest[nearer], distances[nearer] = found[nearer] + start, gaps[nearer]
        means.append(float(distances.mean(dtype=np.float64)))
    nearest[labelled] = np.arange(len(labelled))
    return Covered(nearest, distances, tuple(budgets.tolist()), tuple(means))
