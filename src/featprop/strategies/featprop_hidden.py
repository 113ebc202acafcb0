"""FeatProp's second ablation: the final layer of the model instead of propagated features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import Strategy, register_strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.featprop import clustered


@register_strategy("featprop-hidden")
class FeatPropHidden(Strategy):
    """K-Medoids on the final layer of the current model (ablation).

    The paper replaces its distance "with L2 distance from the final GCN layer", without saying whether it means logits
    or probabilities. Here it is the logits, which are unbounded as distances should be.
    """

    needs = frozenset({"logits"})
    reference = "Wu et al. 2019, ablation"
    cost = "a trained model; as featprop with d = classes"

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the medoids, starting with the one that lowers the loss most."""
        return clustered(context.outputs["logits"], context, budget, generator)
