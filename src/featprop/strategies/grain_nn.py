"""Grain, NN-D: influence many nodes and keep every node close to an influenced one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import register_strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.grain import Grain, greedy_cover


@register_strategy("grain-nn")
class GrainNN(Grain):
    """Diversified influence maximisation, NN-D: influence many nodes and keep the others close to them.

    Maximises |influenced| / n + (1/n) Σ_j (d_max - distance of j to the nearest influenced node), with distances on
    S^K X scaled so that the largest, d_max, is 1; a selected node influences itself. The paper leaves open what happens
    when no candidate brings a gain; here the covering restarts. With more than 4,096 nodes, the sum is over a random
    sample of 4,096. Ties go to the candidate whose influenced nodes are nearest to all.

    Parameters
    ----------
    theta, layers
        See `Grain`: v influences u if (S^K)_vu exceeds θ.
    """

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the nodes in the order of selection."""
        reach = self.reach(context, generator)
        scale = np.float32(reach.largest or 1.0)
        covered = np.zeros(context.graph.n_nodes, dtype=bool)
        covered[reach.held.indices] = True
        near = np.minimum(reach.nearest_held.min(axis=0, initial=np.inf) / scale, np.float32(1.0))
        nearest = np.divide(reach.nearest, scale, out=reach.nearest)
        return reach.candidates[greedy_cover(reach.sets, covered, nearest, near, budget)]
