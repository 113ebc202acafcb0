"""MaxHerding: greedy kernel coverage of the propagated features.

Bae, Noh, Sutherland, "Generalized coverage for more robust low-budget active learning" (2024): one by one the node that
most raises the mean over all nodes x of max_{s chosen or labelled} exp(-‖h_x - h_s‖² / σ²).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.swaps import greedy_order
from featprop.options import Between
from featprop.strategies.base import Strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.references import distance_quantile, sample_references
from featprop.strategies.registry import register_strategy

__all__ = ["Herding"]


@register_strategy("herding")
class Herding(Strategy):
    """Greedy kernel coverage of S²X (MaxHerding): each pick covers most of what is not covered yet.

    The coverage is submodular, so a gain of an earlier round is an upper bound and most candidates are not looked at
    again (lazy greedy). The paper works on features of a network trained without labels; here they are the rows of
    S^K X. It leaves the width σ of the kernel to the data; here it is a quantile of the distances between nodes. With
    more than 4,096 nodes, the mean is over so many of them, drawn at random.

    Parameters
    ----------
    layers
        K, how many times the features are propagated.
    unit
        Whether rows are scaled to unit length first.
    quantile
        σ is the distance that this share of all pairs of nodes are within.
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
        """Return the nodes in the order they are picked."""
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
    """Turn distances, in place, into what of each row is left uncovered."""
    distances /= np.float32(width)
    np.square(distances, out=distances)
    np.negative(distances, out=distances)
    np.expm1(distances, out=distances)
    np.negative(distances, out=distances)
    return distances
