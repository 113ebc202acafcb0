"""FeatProp: K-Medoids on the propagated features.

Wu, Xu, Singh, Yang, Dubrawski, "Active Learning for Graph Neural Networks via Node Feature Propagation" (2019):
choose the b nodes M that minimise Σ_i min_{m ∈ M} ‖(S^K X)_i - (S^K X)_m‖, with K the layers of the GCN to train.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.clustering import k_medoids
from featprop.strategies.base import Situation, Strategy, register

__all__ = ["FeatProp"]


@register("featprop")
class FeatProp(Strategy):
    """The paper's method. Labelled nodes count as medoids that are already there.

    Parameters
    ----------
    layers
        K, how many times the features are propagated.
    """

    def __init__(self, layers: int = 2) -> None:
        self.layers = layers

    def select(self, situation: Situation, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the medoids, the one that lowers the loss most first."""
        result = k_medoids(
            situation.propagated(self.layers),
            budget,
            fixed=situation.labelled,
            candidates=situation.candidates,
            seed=generator,
        )
        return result.medoids
