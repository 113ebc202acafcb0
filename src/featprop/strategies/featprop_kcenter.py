"""FeatProp's first ablation: K-Center instead of K-Medoids."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.kcenter import k_center
from featprop.options import Between
from featprop.strategies.base import Strategy, register_strategy
from featprop.strategies.context import QueryContext


@register_strategy("featprop-kcenter")
class FeatPropKCenter(Strategy):
    """Greedy K-Center on S^K X: minimise the largest distance instead of the mean (ablation).

    It minimises the term of the paper's Theorem 2, max_i min_{m ∈ M} ‖(S^K X)_i - (S^K X)_m‖, where FeatProp minimises
    that of Theorem 1. The paper does not say how it solves K-Center or where it starts; this is farthest-first, from
    the labelled nodes or, if there are none, from the candidate nearest the mean.

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
