"""Random selection: the baseline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import QueryContext, Strategy, register_strategy


@register_strategy("random")
class Random(Strategy):
    """Select candidates uniformly at random."""

    reference = "the baseline"
    cost = "O(n)"

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        return generator.choice(context.candidates, size=budget, replace=False)
