"""FeatProp's second ablation: what the network has learnt instead of the propagated features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import Strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.featprop import clustered
from featprop.strategies.registry import register_strategy

__all__ = ["FeatPropHidden"]


@register_strategy("featprop-hidden")
class FeatPropHidden(Strategy):
    """K-Medoids on the current model's final-layer representation (ablation).

    The paper replaces its distance "with L2 distance from the final GCN layer". Here that is the output of the last
    layer before the softmax, the logits, which are unbounded as distances should be; the paper does not say whether
    it means them or the probabilities.
    """

    needs = frozenset({"logits"})
    reference = "Wu et al. 2019, ablation"
    cost = "a trained model; as featprop with d = classes"

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the medoids, the one that lowers the loss most first."""
        return clustered(context.outputs["logits"], context, budget, generator)
