"""Coreset, greedy: K-Center on the hidden layer of the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.kcenter import k_center
from featprop.compute.points import Points
from featprop.strategies.base import Strategy, register_strategy
from featprop.strategies.context import QueryContext


@register_strategy("coreset-greedy")
class CoresetGreedy(Strategy):
    """Greedy K-Center (farthest first) on the last hidden representation of the current model.

    Selects argmax_i min_{j selected or labelled} ‖h_i - h_j‖ repeatedly: algorithm 1 of Sener and Savarese, "Active
    Learning for Convolutional Neural Networks: A Core-Set Approach" (2018). Theirs starts from labelled data; without
    labels, this one starts from the candidate nearest the mean. The representation of a GCN is relu(S X W1 + b1), the
    activations of its hidden layer before the second layer propagates them.
    """

    needs = frozenset({"hidden"})
    reference = "Sener and Savarese 2018, algorithm 1"
    cost = "a trained model; O(b n hidden)"

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the centres in the order of selection."""
        points = Points(context.outputs["hidden"])
        return k_center(points, budget, context.labelled, context.candidates, generator).centres
