"""Estimate the accuracy of predictions from the labels alone, without an audit.

Accuracy on selected labels says little, because they are not typical and the model has seen them. The estimate is the
mean confidence of the unlabelled nodes, so it is as good as the calibration. The default model is calibrated on
held-out labels when it is fitted; other models get a temperature from ten folds. The interval is as wide as the error
of such estimates on graphs with known labels (docs/default.md). An audit is more reliable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax

from featprop.errors import LabelError, ParameterError
from featprop.evaluate.cross_validation import (
    CrossValidation,
    cross_validate,
    held_out_probabilities,
    training_labels,
)
from featprop.evaluate.intervals import LEVEL, Interval
from featprop.graph import GraphLike
from featprop.models import NodeClassifier
from featprop.models.calibration import inverse_temperature
from featprop.propagation import Propagation

ACCURACY_ERROR, F1_ERROR = 0.06, 0.07
"""Standard deviation of the error of estimates from `RELIABLE_LABELS` labels on (docs/default.md)."""
FEW_LABELS_POWER = 2 / 3
"""Power of `RELIABLE_LABELS` / labels by which the error grows with fewer labels."""
MAX_SAMPLE = 10_000
"""Nodes whose confidences are averaged."""
MIN_LABELS = 10
"""Labels needed for an estimate."""
RELIABLE_LABELS = 40
"""Labels from which estimates are within five points of the truth on average (docs/how-good-measured.md)."""


@dataclass(frozen=True)
class Estimate:
    """Estimated accuracy of the predictions of unlabelled nodes.

    Attributes
    ----------
    accuracy
        Accuracy with its interval.
    macro_f1
        Mean F1 of the labelled classes with its interval.
    n_labels
        Number of labels.
    cv_accuracy
        Cross-validated accuracy on the labels themselves, which are harder or easier than other nodes.
    """

    accuracy: Interval
    macro_f1: Interval
    n_labels: int
    cv_accuracy: float

    def __str__(self) -> str:
        few = "" if self.n_labels >= RELIABLE_LABELS else " (too few for a reliable estimate; an audit is better)"
        return f"Estimated accuracy {self.accuracy} from {self.n_labels:,} labels{few}"


def estimate(graph: GraphLike, model: NodeClassifier) -> Estimate:
    """Estimate the accuracy of a model on the unlabelled nodes.

    Parameters
    ----------
    graph
        Graph that the model was fitted to.
    model
        Fitted model. A model that does not cross-validate itself is trained ten times.
    """
    fitting = model.prepare_graph(graph)
    positions, codes = training_labels(fitting, model)
    count = len(codes)
    if count < MIN_LABELS:
        raise LabelError(
            f"An estimate needs at least {MIN_LABELS} labels; there are {count}.",
            hint="Label more nodes, or draw an audit.",
            parameter="model",
            value=count,
        )
    others = np.setdiff1d(fitting.candidate_positions, positions)
    if not others.size:
        raise ParameterError("Every node is labelled; there are no predictions to estimate.", parameter="graph")
    if len(others) > MAX_SAMPLE:
        others = np.random.default_rng(0).choice(others, MAX_SAMPLE, replace=False)
    scores = model.scores_at(Propagation.of(fitting.without_labels()), others)
    if model.held_out_proba_ is None:
        labels = cross_validate(fitting, model)
        probabilities = softmax(_temperature(labels, model) * scores.astype(np.float64), axis=1)
        right = labels.right
    else:
        probabilities = model.probabilities(scores).astype(np.float64)
        right = held_out_probabilities(fitting, model).argmax(axis=1) == codes
    accuracy, f1 = _accuracy_and_f1(probabilities)
    factor = max(1.0, RELIABLE_LABELS / count) ** FEW_LABELS_POWER
    intervals = _interval(accuracy, factor * ACCURACY_ERROR), _interval(f1, factor * F1_ERROR)
    return Estimate(*intervals, count, float(right.mean()))


def _temperature(labels: CrossValidation, model: NodeClassifier) -> float:
    """Return the inverse temperature; the only label of a class does not count."""
    judged = np.isfinite(labels.scores[np.arange(len(labels.codes)), labels.codes])
    if not judged.any():
        return model.typical_inverse_temperature
    scores = np.maximum(labels.scores[judged], np.finfo(np.float32).min)
    return inverse_temperature(scores, labels.codes[judged], model.typical_inverse_temperature)


def _accuracy_and_f1(probabilities: NDArray[np.float64]) -> tuple[float, float]:
    """Return the expected accuracy and Macro-F1 of the most probable classes."""
    n_classes, best = probabilities.shape[1], probabilities.argmax(axis=1)
    sure = probabilities.max(axis=1)
    hits = np.bincount(best, weights=sure, minlength=n_classes)
    named, there = np.bincount(best, minlength=n_classes), probabilities.sum(axis=0)
    return float(sure.mean()), float(np.mean(2 * hits / np.maximum(named + there, np.finfo(float).tiny)))


def _interval(value: float, error: float) -> Interval:
    reach = float(ndtri((1 + LEVEL) / 2)) * error
    return Interval(value, max(0.0, value - reach), min(1.0, value + reach))
