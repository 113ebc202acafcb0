"""How good predictions are, judged from the labels alone: no audit, nothing to pay for.

Accuracy on labels that were asked for says little: they are neither like the other nodes nor unseen. Mean confidence
says a lot if scores are turned into probabilities with the right steepness τ, softmax(τ s). What τ is, is judged by
labels that were left out (`held_out`) and by what it usually is:

    p(τ | labels)  ∝  t₃(log τ; log usual, ½)  ·  Π_i softmax(τ s_i)[y_i] ^ ⅓,

each label counting a third, since those asked for are not a sample. Student's t has heavy tails: where scores say
nothing, labels soon make them flat. The estimate is the mean over τ of the mean
confidence of the nodes without a label; its interval comes from how unsure τ is, and from how far such estimates were
off where the truth was known (docs/how-good-measured.md). Macro-F1 likewise, from the expected table of predicted and
true.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtri, softmax

from featprop.errors import LabelError, ParameterError
from featprop.estimates.held_out import HeldOut, held_out
from featprop.estimates.intervals import LEVEL, Interval
from featprop.html import card
from featprop.io.given import GraphLike
from featprop.models import NodeClassifier
from featprop.propagation import Propagation

__all__ = ["FEWEST", "LEAST", "Estimate", "estimate"]

SPREAD, FREEDOM = 0.5, 3
"""How far the logarithm of the steepness usually is from the usual one, and the degrees of freedom of the t."""
COUNTED = 1 / 3
"""What a label that was asked for counts beside one that was drawn."""
FLATTEST, STEEPEST, TRIED = -5.0, 2.0, 71
"""Steepnesses that are tried: powers of e from the usual one on."""
OFF_ACCURACY, OFF_F1 = 0.035, 0.055
"""How far estimates are off beside what the steepness explains: a standard deviation."""
MEASURED = 10_000
"""Nodes whose confidences are averaged, if there are more."""
LEAST = 10
"""Labels below which nothing is said."""
FEWEST = 40
"""Labels from which on estimates are within four points of the truth on average (docs/how-good-measured.md)."""


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
        A fitted model. One is trained ten times, on nine tenths of its labels each.
    """
    fitting = model.fitting(graph)
    count = len(model.given_in(fitting))
    if count < LEAST:
        cure = "label more nodes, or check it by an audit"
        raise LabelError("Labels to judge a model by", f"must be {LEAST} at least", count, cure)
    labels = held_out(fitting, model)
    others = np.setdiff1d(np.arange(fitting.n_nodes), labels.positions)
    if not others.size:
        rule = "must have nodes without a label to be judged by"
        raise ParameterError("graph", rule, "a label for every node", "look at the labels themselves")
    if len(others) > MEASURED:
        others = np.random.default_rng(0).choice(others, MEASURED, replace=False)
    scores = model.scores_at(Propagation.of(fitting.without_labels()), others).astype(np.float64) / model.steepness
    tried = model.usual_steepness * np.exp(np.linspace(FLATTEST, STEEPEST, TRIED))
    likely = _likely(labels, tried, model.usual_steepness)
    best = scores.argmax(axis=1)
    tables = [_right_and_f1(softmax(steepness * scores, axis=1), best) for steepness in tried]
    right, f1 = np.array(tables).T
    return Estimate(
        _interval(right, likely, OFF_ACCURACY),
        _interval(f1, likely, OFF_F1),
        len(labels.codes),
        float(labels.right.mean()),
    )


def _likely(labels: HeldOut, tried: NDArray[np.float64], usual: float) -> NDArray[np.float64]:
    """Return how likely each steepness is; a label whose class no other label has says nothing about it."""
    told = np.isfinite(labels.scores[np.arange(len(labels.codes)), labels.codes])
    scores, codes = labels.scores[told], labels.codes[told]
    of_own = scores[np.arange(len(codes)), codes]
    logs = -(FREEDOM + 1) / 2 * np.log1p((np.log(tried / usual) / SPREAD) ** 2 / FREEDOM)
    logs += COUNTED * np.array([np.sum(each * of_own - logsumexp(each * scores, axis=1)) for each in tried])
    return np.asarray(softmax(logs))


def _right_and_f1(probabilities: NDArray[np.float64], best: NDArray[np.intp]) -> tuple[float, float]:
    """Return the expected accuracy and Macro-F1 of naming the `best` class, if the probabilities hold."""
    n_classes = probabilities.shape[1]
    sure = probabilities[np.arange(len(best)), best]
    hits = np.bincount(best, weights=sure, minlength=n_classes)
    named, there = np.bincount(best, minlength=n_classes), probabilities.sum(axis=0)
    return float(sure.mean()), float(np.mean(2 * hits / np.maximum(named + there, np.finfo(float).tiny)))


def _interval(values: NDArray[np.float64], likely: NDArray[np.float64], off: float) -> Interval:
    mean = float(likely @ values)
    reach = float(ndtri((1 + LEVEL) / 2) * np.sqrt(likely @ (values - mean) ** 2 + off**2))
    return Interval(mean, max(0.0, mean - reach), min(1.0, mean + reach))
