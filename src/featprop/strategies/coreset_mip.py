"""Coreset, robust: K-Center on what the network has learnt, as a mixed integer program."""

from __future__ import annotations

import logging
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.robust_kcenter import robust_k_center
from featprop.compute.points import Points
from featprop.options import AtLeast, Between
from featprop.strategies.base import Strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.registry import register_strategy

__all__ = ["CoresetMIP"]

log = logging.getLogger(__name__)


@register_strategy("coreset-mip")
class CoresetMIP(Strategy):
    """Robust K-Center on the last hidden representation as a mixed integer program, solved by HiGHS.

    It starts from greedy and bisects on the radius; a few outliers need not be covered. Sener and Savarese solve it
    with a commercial solver and no word on time; here there is a time limit, and the radius reached, the bound proved
    and the gap between them are logged. Up to `points` nodes the program has all of them, beyond that as many that
    are spread over all. An answer that the time limit cut short may differ from one machine to the next; any other is
    the same for the same seed.

    Parameters
    ----------
    outliers
        Ξ as a share of all nodes; the authors use 0.0001.
    time_limit
        Seconds for all programs of one choice together.
    points
        How many nodes a program has at most.
    """

    needs = frozenset({"hidden"})
    reference = "Sener and Savarese 2018, algorithm 2"
    cost = "a trained model; as long as the time limit, 60 s, allows"

    def __init__(
        self,
        outliers: Annotated[float, Between(0, 1)] = 1e-4,
        time_limit: Annotated[float, AtLeast(0)] = 60.0,
        points: Annotated[int, AtLeast(1)] = 600,
    ) -> None:
        self.outliers = outliers
        self.time_limit = time_limit
        self.points = points

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the centres, the farthest from everything before it first."""
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
            "K-Center: radius %.4g (greedy %.4g), proved to be at least %.4g: gap %.1f %%, %d integer programs",
            result.radius,
            result.greedy_radius,
            result.lower_bound,
            100 * result.gap,
            result.n_problems,
        )
        return result.centres
