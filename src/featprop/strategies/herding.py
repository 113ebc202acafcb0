"""MaxHerding: greedy kernel coverage of the propagated features.

Bae, Noh, Sutherland, "Generalized coverage for more robust low-budget active learning" (2024): select the node that
most increases the mean over all nodes x of max_{s selected or labelled} exp(-‖h_x - h_s‖² / σ²), one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.swaps import greedy_order
from featprop.compute.points import Points
from featprop.strategies.base import Layers, QueryContext, Share, Strategy, register_strategy

MAX_REFERENCES = 4096
"""Number of nodes up to which all nodes represent the graph; beyond, a sample does."""
MAX_PAIRS = 200_000


@register_strategy("herding")
@dataclass(eq=False)
class Herding(Strategy):
    """Greedy kernel coverage of S²X (MaxHerding): each pick covers the most uncovered nodes.

    Coverage is submodular, so earlier gains are upper bounds and most candidates need no second look (lazy greedy). The
    paper uses features of a self-supervised network; here they are the rows of S^K X. The kernel width σ, which
    depends on the data, is a quantile of the distances between nodes. With more than 4,096 nodes, the mean is over a
    random sample of 4,096.

    Parameters
    ----------
    layers
        K, the number of propagation steps.
    unit
        Whether to scale rows to unit length first.
    quantile
        Quantile of the distances between nodes that gives σ.
    """

    reference = "Bae, Noh and Sutherland 2024, arXiv:2407.12212"
    cost = "O(n r d), r = 4,096 or n if fewer; 4 n r bytes"

    layers: Layers = 2
    unit: bool = True
    quantile: Share = 0.05

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        points = context.points(self.layers, self.unit)
        width = distance_quantile(points, self.quantile, generator) or 1.0
        columns = sample_references(len(points), generator)
        uncovered = _one_minus_kernel(points.distances_to_subset(context.candidates, columns), width)
        left = np.ones(len(columns), dtype=np.float32)
        if context.labelled.size:
            nearest = points.take(columns).nearest(points.take(context.labelled))[1]
            left = _one_minus_kernel(nearest, width)
        order = greedy_order(uncovered, left, np.ones(len(columns), dtype=np.float32), budget)
        return context.candidates[order]


def _one_minus_kernel(distances: NDArray[np.float32], width: float) -> NDArray[np.float32]:
    """Replace distances d in place by 1 - exp(-(d / width)²), what is left uncovered."""
    distances /= np.float32(width)
    np.square(distances, out=distances)
    np.negative(distances, out=distances)
    np.expm1(distances, out=distances)
    np.negative(distances, out=distances)
    return distances


def sample_references(n: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return all positions 0..n-1, or a random sample if there are more than `MAX_REFERENCES`."""
    return np.arange(n) if n <= MAX_REFERENCES else np.sort(generator.choice(n, size=MAX_REFERENCES, replace=False))


def distance_quantile(points: Points, quantile: float, generator: np.random.Generator) -> float:
    """Return a quantile of the distances between all pairs of points; between a sample of many points."""
    n = len(points)
    rows = np.arange(n)
    if n * (n - 1) // 2 > MAX_PAIRS:
        rows = np.sort(generator.choice(n, size=min(n, 633), replace=False))
    between = points.distances_to_subset(rows, rows)[np.triu_indices(len(rows), 1)]
    return float(np.quantile(between, quantile)) if between.size else 0.0
