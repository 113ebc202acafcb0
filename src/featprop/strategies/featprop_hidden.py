"""FeatProp's second ablation: the output of the network instead of the propagated features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import Strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.featprop import clustered
from featprop.strategies.registry import register_strategy


@register_strategy("featprop-hidden")
class FeatPropHidden(Strategy):
    """K-Medoids on the current model's final-layer representation (ablation).

    The paper replaces its distance "with L2 distance from the final GCN layer", without saying whether before or after
    the softmax. Here it is before, the logits, whose distances are unbounded.
    """

    needs = frozenset({"logits"})
    reference = "Wu et al. 2019, ablation"
    cost = "a trained model; as featprop with d = classes"

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the medoids, starting with the one that lowers the loss most."""
        return clustered(context.outputs["logits"], context, budget, generator)
