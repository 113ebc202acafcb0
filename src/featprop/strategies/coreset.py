"""Coreset: K-Center on the hidden layer of the model, greedy or as a mixed integer program.

Sener and Savarese, "Active Learning for Convolutional Neural Networks: A Core-Set Approach" (2018). The representation
of a GCN is relu(S X W1 + b1), the activations of its hidden layer before the second layer propagates them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.kcenter import k_center, robust_k_center
from featprop.compute.points import Points
from featprop.options import AtLeast
from featprop.strategies.base import QueryContext, Share, Strategy, register_strategy

log = logging.getLogger(__name__)


@register_strategy("coreset-greedy")
class CoresetGreedy(Strategy):
    """Greedy K-Center (farthest first) on the last hidden representation of the current model.

    Selects argmax_i min_{j selected or labelled} ‖h_i - h_j‖ repeatedly. The authors start from labelled data; without
    labels, this one starts from the candidate nearest the mean.
    """

    needs = frozenset({"hidden"})
    reference = "Sener and Savarese 2018, algorithm 1"
    cost = "a trained model; O(b n hidden)"

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        points = Points(context.outputs["hidden"])
        return k_center(points, budget, context.labelled, context.candidates, generator)[0]


@register_strategy("coreset-mip")
@dataclass(eq=False)
class CoresetMIP(Strategy):
    """Robust K-Center on the last hidden representation as a mixed integer program, solved by HiGHS.

    Starts from the greedy solution and bisects on the radius; a few outliers need not be covered. Sener and Savarese
    use a commercial solver and do not report a time limit; here there is one, and the radius, the proved bound and the
    gap are logged. With more than `points` nodes, the program covers that many nodes spread over the graph. A result
    that the time limit cut short may differ between machines; any other is determined by the seed.

    Parameters
    ----------
    outliers
        Number of outliers Ξ as a share of all nodes; the authors use 0.0001.
    time_limit
        Seconds for all programs of one selection together.
    points
        Maximum number of nodes in a program.
    """

    needs = frozenset({"hidden"})
    reference = "Sener and Savarese 2018, algorithm 2"
    cost = "a trained model; up to the time limit, 60 s"

    outliers: Share = 1e-4
    time_limit: Annotated[float, AtLeast(0)] = 60.0
    points: Annotated[int, AtLeast(1)] = 600

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        result = robust_k_center(
            Points(context.outputs["hidden"]),
            budget,
            context.labelled,
            context.candidates,
            generator,
            outliers=int(self.outliers * context.graph.n_nodes),
            time_limit=self.time_limit,
            max_size=self.points,
        )
        log.info(
            "K-Center: radius %.4g (greedy %.4g), lower bound %.4g, gap %.1f %%, %d integer programs",
            result.radius,
            result.greedy_radius,
            result.lower_bound,
            100 * result.gap,
            result.n_problems,
        )
        return result.centres
