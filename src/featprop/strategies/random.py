"""Random: the baseline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import Strategy
from featprop.strategies.registry import register_strategy
from featprop.strategies.situation import Situation

__all__ = ["Random"]


@register_strategy("random")
class Random(Strategy):
    """Uniform over the candidates, without replacement."""

    reference = "the baseline"
    cost = "O(n)"

    def select(self, situation: Situation, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return `budget` candidates in random order."""
        return generator.choice(situation.candidates, size=budget, replace=False)
