"""AGE: combine uncertainty, density and centrality with weights that depend on the number of labels.

Cai, Zheng, Chang, "Active Learning for Graph Embedding" (2017): select the candidate with the largest

    α_t P(entropy) + β_t P(density) + γ_t P(centrality)

where P is the share of all nodes with a smaller value, γ_t ~ Beta(1, n_t) with n_t rising from nearly 0, so that
centrality dominates at first, and α_t = β_t = (1 - γ_t) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.kmeans import as_points, k_means
from featprop.compute.points import Points
from featprop.options import AtLeast, Between
from featprop.strategies.base import QueryContext, ScoreStrategy, Share, register_strategy
from featprop.strategies.pagerank import page_rank
from featprop.strategies.uncertainty import entropy


@register_strategy("age")
@dataclass(eq=False)
class AGE(ScoreStrategy):
    """Percentiles of entropy, density and PageRank, weighted by the number of labels.

    Choices the paper leaves open: n_t = 1.005 - f^t as in the authors' code, with t the number of labels so far, and
    one draw of γ per call, because a batch is selected at once. There are as many K-Means centres as known classes.
    No constant depends on the data set.

    Parameters
    ----------
    base
        f, the decay of the weight of centrality.
    clusters
        Number of K-Means centres for the density; by default, the number of known classes.
    damping
        Damping factor of PageRank.
    """

    needs = frozenset({"probabilities", "hidden"})
    reference = "Cai, Zheng and Chang 2017, arXiv:1705.05085"
    cost = "a trained model; PageRank, K-Means on the hidden layer, O(n log n)"

    base: Share = 0.995
    clusters: Annotated[int | None, AtLeast(1)] = None
    damping: Annotated[float, Between(0, 0.999)] = 0.85

    def scores(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        centrality_weight = generator.beta(1.0, 1.005 - self.base ** len(context.labelled))
        density = information_density(context, self.clusters, generator)
        model_weight = (1.0 - centrality_weight) / 2
        return np.asarray(
            model_weight * _percentiles(entropy(context.outputs["probabilities"]))
            + model_weight * _percentiles(density)
            + centrality_weight * _percentiles(page_rank(context.graph, self.damping))
        )


def information_density(
    context: QueryContext, clusters: int | None, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return 1 / (1 + distance to the nearest K-Means centre of the hidden representation) of every node."""
    points = Points(context.outputs["hidden"])
    count = min(clusters or max(1, len(context.classes)), len(points))
    nothing, equally = np.empty(0, dtype=np.intp), np.ones(len(points), dtype=np.float32)
    centres = k_means(points, count, nothing, equally, generator)
    return np.asarray(1.0 / (1.0 + points.nearest(as_points(points, centres))[1].astype(np.float64)))


def _percentiles(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each value the share of values that are smaller."""
    return np.searchsorted(np.sort(values), values, side="left") / len(values)
