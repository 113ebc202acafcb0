"""FeatProp: K-Medoids on the propagated features.

Wu, Xu, Singh, Yang, Dubrawski, "Active Learning for Graph Neural Networks via Node Feature Propagation" (2019):
select the b nodes M that minimise Σ_i min_{m ∈ M} ‖(S^K X)_i - (S^K X)_m‖, with K the layers of the GCN to train.
Its experiments approximate this by K-Means and the node nearest each centre, as ``clustering="kmeans"`` does. If two
centres share their nearest node, which the paper leaves open, the closer centre gets it and the other takes its next
nearest, so the result has b nodes.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from featprop.clustering import k_medoids
from featprop.clustering.kmeans import k_means, nearest_distinct
from featprop.clustering.swaps import greedy_order
from featprop.compute.points import Points
from featprop.matrix import Features
from featprop.options import Between
from featprop.strategies.base import Strategy, register_strategy
from featprop.strategies.context import QueryContext

MAX_ITERATIONS = 300
"""Upper limit for K-Means, which usually converges much earlier."""


@register_strategy("featprop")
class FeatProp(Strategy):
    """K-Medoids on the propagated features S^K X: the paper's method.

    Labelled nodes are fixed medoids.

    Parameters
    ----------
    layers
        K, the number of propagation steps.
    clustering
        ``"kmedoids"``, or ``"kmeans"`` for the approximation in the paper's experiments.
    """

    reference = "Wu et al. 2019, arXiv:1910.07567"
    cost = "distances in blocks, O(n² d) up to 60,000 nodes, a sample beyond"

    def __init__(
        self,
        layers: Annotated[int, Between(0, 1000)] = 2,
        clustering: Literal["kmedoids", "kmeans"] = "kmedoids",
    ) -> None:
        self.layers = layers
        self.clustering = clustering

    def points(self, context: QueryContext) -> Points:
        """Return the points to cluster: S^K X."""
        return context.points(self.layers)

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the medoids, starting with the one that lowers the loss most."""
        if self.clustering == "kmeans":
            return _nearest_to_means(self.points(context), context, budget, generator)
        return clustered(self.points(context), context, budget, generator)


def clustered(
    points: Points | Features,
    context: QueryContext,
    budget: int,
    generator: np.random.Generator,
    weights: NDArray[np.float32] | None = None,
    n_init: int | None = None,
) -> NDArray[np.intp]:
    """Return `budget` candidates that, with the labelled nodes, are medoids of the points; most useful first."""
    return k_medoids(
        points,
        budget,
        fixed=context.labelled,
        candidates=context.candidates,
        sample_weight=weights,
        n_init=n_init,
        random_state=generator,
    ).medoids


def _nearest_to_means(
    points: Points, context: QueryContext, budget: int, generator: np.random.Generator
) -> NDArray[np.intp]:
    weights = np.ones(len(points), dtype=np.float32)
    centres = k_means(points, budget, context.labelled, weights, generator, MAX_ITERATIONS)
    chosen = nearest_distinct(points, centres, context.candidates)
    covered = np.full(len(points), np.inf, dtype=np.float32)
    if context.labelled.size:
        covered = points.nearest(points.take(context.labelled))[1]
    return chosen[greedy_order(points.distances(chosen), covered, weights, budget)]
