"""FeatProp's first ablation: K-Center instead of K-Medoids."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.kcenter import k_center
from featprop.options import Between
from featprop.strategies.base import Strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.registry import register_strategy


@register_strategy("featprop-kcenter")
class FeatPropKCenter(Strategy):
    """Greedy K-Center on S^K X, which minimises the largest distance to a selected node, not the mean (ablation).

    It minimises the term of the paper's Theorem 2, max_i min_{m ∈ M} ‖(S^K X)_i - (S^K X)_m‖, and FeatProp that of
    Theorem 1. The paper does not say how its K-Center is solved or where it starts; here it is farthest-first, from the
    labelled nodes or, without any, from the candidate nearest to the mean.

    Parameters
    ----------
    layers
        K, the number of propagation steps.
    """

    reference = "Wu et al. 2019, ablation; Gonzalez 1985"
    cost = "O(b n d)"

    def __init__(self, layers: Annotated[int, Between(0, 1000)] = 2) -> None:
        self.layers = layers

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the centres in the order of selection."""
        points = context.points(self.layers)
        return k_center(points, budget, context.labelled, context.candidates, generator).centres
