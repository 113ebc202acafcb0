"""Estimate how good predictions are from the labels alone, without an audit.

Accuracy on chosen labels says little: they are neither like the other nodes nor unseen. The estimate is the mean
confidence of the nodes without a label, the same figure that the probabilities of the predictions give, so it is as
good as their calibration. The default model is calibrated when it is fitted, on held-out labels; a model that is not
gets a temperature from ten folds. The width of the interval is how far such estimates were off on graphs
whose truth is known (docs/default.md). An audit, whose nodes are drawn at random, is better where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax

from featprop.errors import LabelError, ParameterError
from featprop.evaluate.held_out import HeldOut, held_out
from featprop.evaluate.intervals import LEVEL, Interval
from featprop.evaluate.left_out import left_out_probabilities
from featprop.graph import Graph
from featprop.html import card
from featprop.models import NodeClassifier
from featprop.models.calibration import inverse_temperature
from featprop.propagation import Propagation
from featprop.sources import GraphLike

__all__ = ["FEWEST", "LEAST", "Estimate", "estimate"]

ACCURACY_ERROR, F1_ERROR = 0.06, 0.07
"""Standard deviation of the error of estimates from `FEWEST` labels on (docs/default.md)."""
FEW_LABELS_POWER = 2 / 3
"""Power of `FEWEST` / labels by which the error grows with fewer labels."""
MEASURED = 10_000
"""Nodes whose confidences are averaged, if there are more."""
LEAST = 10
"""Labels below which nothing is said."""
FEWEST = 40
"""Labels from which estimates are within five points of the truth on average (docs/how-good-measured.md)."""


@dataclass(frozen=True)
class Estimate:
    """How good the predictions of the nodes without a label are, judged from the labels alone.

    Attributes
    ----------
    accuracy
        The share of them that is right.
    macro_f1
        The mean F1 of the classes that have labels.
    n_labels
        From how many labels.
    held_out
        The share of the labels that the model names when it has not seen them; they are harder than other nodes, or
        easier, so this is no estimate.
    """

    accuracy: Interval
    macro_f1: Interval
    n_labels: int
    held_out: float

    def __str__(self) -> str:
        more = "; so few labels say little: an audit of 30 nodes drawn at random is surer"
        few = "" if self.n_labels >= FEWEST else more
        return f"{self.accuracy} of the other nodes are predicted right, as {self.n_labels:,} labels tell{few}"

    def _repr_html_(self) -> str:
        facts = [
            ("accuracy", self.accuracy),
            ("Macro-F1", self.macro_f1),
            ("labels", f"{self.n_labels:,}"),
            ("labels named when left out", f"{self.held_out:.0%}"),
        ]
        return card("Estimate without an audit", facts)


def estimate(graph: GraphLike, model: NodeClassifier) -> Estimate:
    """Say how good a model's predictions are for the nodes without a label.

    Parameters
    ----------
    graph
        The graph that the model was fitted to.
    model
        A fitted model. One that does not cross-validate is trained ten times, on nine tenths of its labels each.
    """
    fitting = model.fitting(graph)
    count = len(model.given_in(fitting))
    if count < LEAST:
        cure = "label more nodes, or check it by an audit"
        raise LabelError("Labels to judge a model by", f"must be {LEAST} at least", count, cure)
    positions = fitting.positions(model.given_in(fitting))
    others = np.setdiff1d(fitting.candidate_positions, positions)
    if not others.size:
        rule = "must have nodes without a label to be judged by"
        raise ParameterError("graph", rule, "a label for every node", "look at the labels themselves")
    if len(others) > MEASURED:
        others = np.random.default_rng(0).choice(others, MEASURED, replace=False)
    scores = model.scores_at(Propagation.of(fitting.without_labels()), others)
    if model.left_out_ is None:
        labels = held_out(fitting, model)
        probabilities, right = softmax(_temperature(labels, model) * scores.astype(np.float64), axis=1), labels.right
    else:
        probabilities, right = model.probabilities(scores).astype(np.float64), _right(fitting, model)
    accuracy, f1 = _accuracy_and_f1(probabilities)
    factor = max(1.0, FEWEST / count) ** FEW_LABELS_POWER
    intervals = _interval(accuracy, factor * ACCURACY_ERROR), _interval(f1, factor * F1_ERROR)
    return Estimate(*intervals, count, float(right.mean()))


def _temperature(labels: HeldOut, model: NodeClassifier) -> float:
    """Return the inverse temperature; a label whose class no other label has says nothing about it."""
    judged = np.isfinite(labels.scores[np.arange(len(labels.codes)), labels.codes])
    if not judged.any():
        return model.typical_inverse_temperature
    scores = np.maximum(labels.scores[judged], np.finfo(np.float32).min)
    return inverse_temperature(scores, labels.codes[judged], model.typical_inverse_temperature)


def _right(graph: Graph, model: NodeClassifier) -> NDArray[np.bool_]:
    """Return whether the model predicted each label of a graph in its own cross-validation."""
    code_of = {name: code for code, name in enumerate(model.classes_)}
    codes = [code_of[name] for name in model.given_in(graph).values()]
    return np.asarray(left_out_probabilities(graph, model).argmax(axis=1) == codes)


def _accuracy_and_f1(probabilities: NDArray[np.float64]) -> tuple[float, float]:
    """Return the expected accuracy and Macro-F1 of the most probable classes, if the probabilities hold."""
    n_classes, best = probabilities.shape[1], probabilities.argmax(axis=1)
    sure = probabilities.max(axis=1)
    hits = np.bincount(best, weights=sure, minlength=n_classes)
    named, there = np.bincount(best, minlength=n_classes), probabilities.sum(axis=0)
    return float(sure.mean()), float(np.mean(2 * hits / np.maximum(named + there, np.finfo(float).tiny)))


def _interval(value: float, error: float) -> Interval:
    reach = float(ndtri((1 + LEVEL) / 2)) * error
    return Interval(value, max(0.0, value - reach), min(1.0, value + reach))
