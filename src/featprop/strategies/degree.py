"""Degree: the nodes with the most neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import QueryContext, ScoreStrategy, register_strategy


@register_strategy("degree")
class Degree(ScoreStrategy):
    """Largest degree; the seed breaks ties.

    With edge weights, the degree is the sum of the weights at a node, as in the D of S; the paper's graphs have none.
    """

    reference = "Wu et al. 2019, a baseline"
    cost = "O(m)"

    def scores(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(context.graph.adjacency.sum(axis=1, dtype=np.float64))
