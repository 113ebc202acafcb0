"""FeatProp: K-Medoids on the propagated features.

Wu, Xu, Singh, Yang, Dubrawski, "Active Learning for Graph Neural Networks via Node Feature Propagation" (2019):
select the b nodes M that minimise Σ_i min_{m ∈ M} ‖(S^K X)_i - (S^K X)_m‖, with K the layers of the GCN to train.
Its experiments approximate this by K-Means and the node nearest each centre, as ``clustering="kmeans"`` does. If two
centres share their nearest node, which the paper leaves open, the closer centre gets it and the other takes its next
nearest, so the result has b nodes. Two ablations of the paper and a variant with cosine distance are here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from featprop.clustering import k_medoids
from featprop.clustering.kcenter import k_center
from featprop.clustering.kmeans import k_means, nearest_distinct
from featprop.clustering.swaps import greedy_order
from featprop.compute.points import Points
from featprop.matrix import Features
from featprop.strategies.base import Layers, QueryContext, Strategy, register_strategy

MAX_ITERATIONS = 300
"""Upper limit for K-Means, which usually converges much earlier."""


@register_strategy("featprop")
@dataclass(eq=False)
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

    layers: Layers = 2
    clustering: Literal["kmedoids", "kmeans"] = "kmedoids"

    def points(self, context: QueryContext) -> Points:
        """Return the points to cluster: S^K X."""
        return context.points(self.layers)

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        if self.clustering == "kmeans":
            return _nearest_to_means(self.points(context), context, budget, generator)
        return clustered(self.points(context), context, budget, generator)


@register_strategy("featprop-cosine")
class FeatPropCosine(FeatProp):
    """K-Medoids on the rows of S^K X scaled to unit length, so that only direction counts.

    The distance is that of FeatProp, ‖u - v‖ = sqrt(2 - 2 cos), between unit rows. A row of zeros, which belongs to a
    node without features in its neighbourhood, stays zero and has distance 1 to all others.

    Parameters
    ----------
    layers, clustering
        See `FeatProp`.
    """

    reference = "this project; after Wu et al. 2019"

    def points(self, context: QueryContext) -> Points:
        """Return the rows of S^K X, each of length 1."""
        return context.points(self.layers, unit=True)


@register_strategy("featprop-kcenter")
@dataclass(eq=False)
class FeatPropKCenter(Strategy):
    """Greedy K-Center on S^K X: minimise the largest distance instead of the mean (ablation).

    It minimises the term of the paper's Theorem 2, max_i min_{m ∈ M} ‖(S^K X)_i - (S^K X)_m‖, where FeatProp minimises
    that of Theorem 1. The paper does not say how it solves K-Center or where it starts; this is farthest-first, from
    the labelled nodes or, if there are none, from the candidate nearest the mean.

    Parameters
    ----------
    layers
        K, the number of propagation steps.
    """

    reference = "Wu et al. 2019, ablation; Gonzalez 1985"
    cost = "O(b n d)"

    layers: Layers = 2

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        points = context.points(self.layers)
        return k_center(points, budget, context.labelled, context.candidates, generator)[0]


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
        return clustered(context.outputs["logits"], context, budget, generator)


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
