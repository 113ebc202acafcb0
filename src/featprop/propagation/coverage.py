"""Coverage: the loss bounds of the paper for a set of chosen nodes.

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
from featprop.matrix import Floats, Positions
from featprop.propagation.propagation import Propagation

BOUND_LAYERS = 2
"""K: coverage is measured on S²X for every strategy, because the models have two layers."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """Distances of all nodes to the nearest chosen node.

    Attributes
    ----------
    nearest
        Nearest chosen node of each node, as an index into the chosen nodes.
    distances
        Distance of each node to it.
    mean_distance
        Mean of the distances, the term of Theorem 1.
    max_distance
        Maximum of the distances, the term of Theorem 2.
    """

    nearest: Positions
    distances: Floats
    mean_distance: float
    max_distance: float


def coverage(graph: Graph, chosen: Positions, layers: int = BOUND_LAYERS) -> Coverage:
    """Measure the distance of every row of S^K X to the nearest of the `chosen` rows.

    A chosen row is nearest to itself, even if an equal row is chosen too.
    """
    return measure_coverage(Propagation.of(graph).points(layers), chosen)


def measure_coverage(points: Points, chosen: Positions) -> Coverage:
    """Measure the distance of every point to the nearest chosen point, as `coverage` does."""
    centres = points.take(chosen)
    nearest, _ = points.nearest(centres)
    nearest[chosen] = np.arange(len(chosen))
    distances = points.exact_distances(centres, nearest)
    return Coverage(nearest, distances, float(distances.mean(dtype=np.float64)), float(distances.max()))


def coverage_curve(points: Points, chosen: Positions) -> NDArray[np.float64]:
    """Return the mean distance of all points to the nearest chosen point, for every prefix of `chosen`."""
    centres = points.take(chosen)
    totals = np.zeros(len(chosen))
    for block in points.split(len(points), len(chosen)):
        distances = points.take(block).distances(slice(None), to=centres)
        totals += np.minimum.accumulate(distances, axis=1).sum(axis=0, dtype=np.float64)
    return totals / len(points)
