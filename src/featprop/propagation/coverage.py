"""How well chosen nodes cover a graph: the two loss bounds of the paper as figures.

Theorem 1 bounds the classification loss by the **mean**, Theorem 2 by the **maximum**, over all nodes, of the
distance ‖(S^K X)_i - (S^K X)_j‖ to the nearest labelled node j (up to a constant and a term that vanishes with n).
FeatProp minimises the first, K-Center the second; the mean is never above the maximum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points
from featprop.graph import Graph
from featprop.propagation.propagation import Propagation

__all__ = ["BOUND_LAYERS", "Coverage", "coverage", "coverage_curve", "covered"]

BOUND_LAYERS = 2
"""K, the layers of the models that are trained: distances are measured on S²X whatever the strategy."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """How well a set of nodes covers all of them.

    Attributes
    ----------
    nearest
        For each node, the nearest of the chosen ones: an index into them.
    distances
        For each node, how far that is.
    mean_distance
        The term of Theorem 1.
    max_distance
        The term of Theorem 2.
    """

    nearest: NDArray[np.intp]
    distances: NDArray[np.float32]
    mean_distance: float
    max_distance: float


def coverage(graph: Graph, chosen: NDArray[np.intp], layers: int = BOUND_LAYERS) -> Coverage:
    """Measure the distance of every row of S^K X to the nearest of the rows at the `chosen` positions.

    A chosen row counts as nearest to itself, also where an equal row is chosen too.
    """
    return covered(Propagation.of(graph).points(layers), chosen)


def covered(points: Points, chosen: NDArray[np.intp]) -> Coverage:
    """Measure the distance of every point to the nearest of the chosen ones, as `coverage` does."""
    centres = points.take(chosen)
    nearest, _ = points.nearest(centres)
    nearest[chosen] = np.arange(len(chosen))
    distances = points.exact_distances(centres, nearest)
    return Coverage(nearest, distances, float(distances.mean(dtype=np.float64)), float(distances.max()))


def coverage_curve(points: Points, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the mean distance of all points to the nearest of the first, the first two, … of the `chosen`.

    One pass over the points; the last value is the mean distance to the nearest of all of the chosen.
    """
    centres = points.take(chosen)
    totals = np.zeros(len(chosen))
    for block in points.split(len(points), len(chosen)):
        distances = points.take(block).distances(slice(None), to=centres)
        totals += np.minimum.accumulate(distances, axis=1).sum(axis=0, dtype=np.float64)
    return totals / len(points)
