"""From held-out scores to probabilities, and from probabilities to the weights of several models.

**Temperature.** Scores s become probabilities softmax(τ s), τ the inverse temperature (Guo et al. 2017, "On calibration
of modern neural networks"). τ is the most probable value given held-out scores, under a Student t prior on log τ: ten
labels that are all predicted correctly would make τ infinite otherwise, and where scores say nothing, heavy tails let
the labels make it small.

**Weights.** Models are averaged by how well each predicts held-out labels: pseudo-BMA+ (Yao, Vehtari, Simpson and
Gelman 2018, "Using stacking to average Bayesian predictive distributions"). The summed log score of a model is shrunk
by how uncertain its difference from the best model's is, so thin evidence leaves the weights near the prior. The mean
of the logistic function over that uncertainty has a closed form (MacKay 1992), so no bootstrap is drawn.

The tables behind the constants are in docs/default.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

TYPICAL_INVERSE_TEMPERATURE = 8.0
"""Centre of the prior of τ: least squares on one-hot targets gives scores between 0 and 1."""
LOG_SPREAD, DEGREES_OF_FREEDOM = 0.5, 3
"""Scale of the Student t prior of log τ, and its degrees of freedom."""
LOG_BOUNDS, GRID_SIZE = (-5.0, 2.0), 141
"""Range of log τ around its centre, and the number of values tried."""
UNKNOWN_LABELS = 0.25
"""Labels of unknown class that are added for each class."""


def inverse_temperature(
    scores: NDArray[np.float64], codes: NDArray[np.integer], typical: float = TYPICAL_INVERSE_TEMPERATURE
) -> float:
    """Return the most probable inverse temperature.

    Parameters
    ----------
    scores
        Held-out scores, one row per label, one column per class.
    codes
        The class of each label, an index of a column.
    typical
        Centre of the prior.
    """
    logs = np.log(typical) + np.linspace(*LOG_BOUNDS, GRID_SIZE)
    below = scores - scores.max(axis=1, keepdims=True)
    own = below[np.arange(len(codes)), codes]
    likelihood = np.array([tau * own.sum() - np.log(np.exp(tau * below).sum(axis=1)).sum() for tau in np.exp(logs)])
    distance = (logs - np.log(typical)) / LOG_SPREAD
    prior = -(DEGREES_OF_FREEDOM + 1) / 2 * np.log1p(distance**2 / DEGREES_OF_FREEDOM)
    return float(np.exp(logs[int(np.argmax(likelihood + prior))]))


def label_smoothing(n_labels: int, n_classes: int) -> float:
    """Return the probability that is spread evenly over the classes because there are few labels."""
    return UNKNOWN_LABELS * n_classes / (n_labels + UNKNOWN_LABELS * n_classes)


def model_weights(log_scores: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of each model.

    Parameters
    ----------
    log_scores
        The logarithm of the probability that each model gave to each held-out label, shape (labels, models).
    prior
        Weight of each model before any evidence.
    """
    n_labels = len(log_scores)
    if not n_labels:
        return np.asarray(prior / prior.sum())
    behind = log_scores - log_scores[:, [int(log_scores.sum(axis=0).argmax())]]
    variance = n_labels * behind.var(axis=0)
    return np.asarray(softmax(behind.sum(axis=0) / np.sqrt(1 + np.pi / 8 * variance) + np.log(prior)))
