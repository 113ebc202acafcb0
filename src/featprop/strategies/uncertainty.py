"""Uncertainty: the nodes the current model is least certain about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import Features, as_dense
from featprop.strategies.base import QueryContext, ScoreStrategy, register_strategy


@register_strategy("uncertainty")
@dataclass(eq=False)
class Uncertainty(ScoreStrategy):
    """Highest entropy of the current model's prediction, or the smallest margin or confidence.

    With a single known class all scores are equal, and the seed decides.

    Parameters
    ----------
    measure
        ``"entropy"``, -Σ_c p_c log p_c; ``"margin"``, the lead of the most likely class over the next, smallest first;
        ``"least-confidence"``, the probability of the most likely class, smallest first.
    """

    needs = frozenset({"probabilities"})
    reference = "Settles and Craven 2008"
    cost = "a trained model; O(n classes)"

    measure: Literal["entropy", "margin", "least-confidence"] = "entropy"

    def scores(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        if self.measure == "entropy":
            return entropy(context.outputs["probabilities"])
        probabilities = np.sort(as_dense(context.outputs["probabilities"]).astype(np.float64), axis=1)
        rival = probabilities[:, -2] if probabilities.shape[1] > 1 and self.measure == "margin" else 0.0
        return np.asarray(rival - probabilities[:, -1])


def entropy(probabilities: Features) -> NDArray[np.float64]:
    """Return -Σ_c p_c log p_c of each row."""
    p = as_dense(probabilities).astype(np.float64)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(-(p * logs).sum(axis=1))
