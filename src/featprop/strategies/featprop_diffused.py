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

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import margins
from featprop.options import Above, AtLeast
from featprop.propagation import Propagation
from featprop.strategies.base import QueryContext, Strategy, register_strategy
from featprop.strategies.featprop import clustered

CERTAIN_QUANTILE = 0.9
"""Quantile of the margins that counts as certain."""
LABELS_PER_CLASS = 3
"""Labels per class beyond which the model gains influence."""
MAX_POWER = 4.0
"""Largest value of s."""
MIN_WEIGHT = 0.25
"""Weight of a certain node at s = 1."""


@register_strategy("featprop-diffused")
@dataclass(eq=False)
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

    first: Annotated[int, AtLeast(1)] = 10
    step: Annotated[float, Above(0)] = 0.5

    def steps(self, labelled: int, budget: int) -> list[int]:
        """Return the number of labels after each round: `first`, then larger by the factor 1 + `step`."""
        taken: list[int] = []
        while labelled < budget:
            more = max(1, int(np.ceil(self.step * labelled))) if labelled else self.first
            labelled = min(labelled + more, budget)
            taken.append(labelled)
        return taken

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        points = Propagation.of(context.graph).compared
        found = context.outputs.get("probabilities")
        weights = None
        if found is not None and found.shape[1] > 1:
            weights = uncertainty_weights(np.asarray(found), len(context.labelled))
        n_init = 1 if context.labelled.size else None
        return clustered(points, context, budget, generator, weights, n_init)


def uncertainty_weights(scores: NDArray[np.float32], n_labels: int) -> NDArray[np.float32]:
    """Return the weight of each node, larger the less certain the model is of its class.

    Parameters
    ----------
    scores
        Scores of at least two classes, one row per node; their scale does not matter.
    n_labels
        Number of labels the model was trained on.
    """
    gaps = margins(scores)
    certain = float(np.quantile(gaps, CERTAIN_QUANTILE))
    relative = np.minimum(gaps / certain, 1) if certain > 0 else (gaps > 0).astype(np.float32)
    power = float(np.clip(n_labels / scores.shape[1] / LABELS_PER_CLASS, 1, MAX_POWER))
    return np.asarray(MIN_WEIGHT / power**2 + (1 - relative) ** power, dtype=np.float32)
