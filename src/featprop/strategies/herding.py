"""MaxHerding: greedy kernel coverage of the propagated features.

Bae, Noh, Sutherland, "Generalized coverage for more robust low-budget active learning" (2024): select the node that
most increases the mean over all nodes x of max_{s selected or labelled} exp(-‖h_x - h_s‖² / σ²), one at a time.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.swaps import greedy_order
from featprop.options import Between
from featprop.strategies.base import Strategy, register_strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.references import distance_quantile, sample_references


@register_strategy("herding")
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

    def __init__(
        self,
        layers: Annotated[int, Between(0, 1000)] = 2,
        unit: bool = True,
        quantile: Annotated[float, Between(0, 1)] = 0.05,
    ) -> None:
        self.layers = layers
        self.unit = unit
        self.quantile = quantile

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the nodes in the order of selection."""
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
