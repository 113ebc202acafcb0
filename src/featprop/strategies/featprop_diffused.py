"""FeatProp on smoothed features, in rounds driven by model uncertainty: the default.

K-Medoids with cosine distance on two-hop and diffused features and, if neighbours are dissimilar, on a node's own
features (`featprop.propagation.Propagation.compared`). Labelled nodes are fixed medoids.

Once two classes have labels, nodes are weighted by the uncertainty of the model,

    w_i = 1 / (4 s²) + (1 - m_i)^s,    s = labels per class / 3, between 1 and 4,

where m is the margin between the two most likely classes, relative to the margin exceeded by the most certain tenth.
Each pick thus represents many nodes the model is unsure about. With few labels s is small, so the model has little
influence. (The paper names the combination of coverage and model uncertainty as future work.)
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import margins
from featprop.options import Above, AtLeast
from featprop.propagation import Propagation
from featprop.strategies.base import Strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.featprop import clustered
from featprop.strategies.registry import register_strategy

__all__ = ["FeatPropDiffused", "uncertainty_weights"]

SUREST = 0.9
"""The share of the nodes whose margins are below the one that the others are measured by."""
LABELS_EACH = 3
"""Labels of each class after which the model is followed more closely."""
SHARPEST = 4.0
"""The largest power."""
FLOOR = 0.25
"""What a node that the model is sure of counts at least, with the power 1."""


@register_strategy("featprop-diffused")
class FeatPropDiffused(Strategy):
    """K-Medoids on smoothed features, weighted by model uncertainty: the default.

    Without labels, or with labels of a single class, all nodes have the same weight.

    Parameters
    ----------
    first
        Number of labels in the first round, before the model is used (experiments only).
    step
        Size of each later round, as a share of the labels so far.
    """

    uses = frozenset({"probabilities"})
    reference = "this project; after Wu et al. 2019"
    cost = "as featprop with d = 64 (512 without main directions), and a fit of the model"

    def __init__(self, first: Annotated[int, AtLeast(1)] = 10, step: Annotated[float, Above(0)] = 0.5) -> None:
        self.first = first
        self.step = step

    def steps(self, labelled: int, budget: int) -> list[int]:
        """Return the numbers of labels of the rounds: `first`, then larger by `step` each time."""
        taken: list[int] = []
        while labelled < budget:
            more = max(1, int(np.ceil(self.step * labelled))) if labelled else self.first
            labelled = min(labelled + more, budget)
            taken.append(labelled)
        return taken

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the medoids, the one that lowers the loss most first."""
        points = Propagation.of(context.graph).compared
        found = context.outputs.get("probabilities")
        weights = None
        if found is not None and found.shape[1] > 1:
            weights = uncertainty_weights(np.asarray(found), len(context.labelled))
        n_init = 1 if context.labelled.size else None
        return clustered(points, context, budget, generator, weights, n_init)


def uncertainty_weights(scores: NDArray[np.float32], n_labels: int) -> NDArray[np.float32]:
    """Return how much each node counts: more the less a model can tell its class.

    Parameters
    ----------
    scores
        Of each class (two at least), one row a node; in any unit.
    n_labels
        The labels that the model learnt from.
    """
    gaps = margins(scores)
    surest = float(np.quantile(gaps, SUREST))
    told = np.minimum(gaps / surest, 1) if surest > 0 else (gaps > 0).astype(np.float32)
    sharpness = float(np.clip(n_labels / scores.shape[1] / LABELS_EACH, 1, SHARPEST))
    return np.asarray(FLOOR / sharpness**2 + (1 - told) ** sharpness, dtype=np.float32)
