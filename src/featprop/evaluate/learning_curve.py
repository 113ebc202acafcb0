"""Prediction stability, the estimated learning curve, and a forecast for twice as many labels.

Prediction stability compares the model with models of the first quarter, half and three quarters of its labels, by the
share of changed predictions and Cohen's kappa. Labels sorted by class have lost their order and are shuffled first.

Labels keep changing predictions long after most are right, and more predictions become right than wrong. Over the
doublings of graphs with known labels (docs/how-good-measured.md), accuracy grew by about a seventh of the share of
predictions that the previous doubling had changed, plus or minus the same: that is the forecast. A curve fitted to a
few estimates would be worse, because each of them is off by more than a doubling gains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from featprop.evaluate.cross_validation import training_labels
from featprop.evaluate.estimate import MIN_LABELS, Estimate, estimate
from featprop.evaluate.intervals import LEVEL, Interval
from featprop.graph import GraphLike
from featprop.models import NodeClassifier
from featprop.models.base import clone
from featprop.progress import tracked

STEPS = 4
"""Number of equal steps the labels are divided into."""
MIN_SWITCHES = 0.25
"""Labels whose class changes less often than this share of what chance gives are sorted."""
GAIN_PER_CHANGE = 0.15
"""Gain of a doubling per share of predictions that the previous doubling changed; also its relative error."""
GAIN_ERROR = 0.012
"""Absolute error of the gain, a standard deviation."""


@dataclass(frozen=True)
class StabilityStep:
    """Comparison of two models of the first labels."""

    before: int  # number of labels of the first model
    after: int  # number of labels of the second one
    changed: float  # share of unlabelled nodes that they predict differently
    kappa: float  # Cohen's kappa of their predictions


@dataclass(frozen=True)
class Stability:
    """How much the last labels changed the predictions."""

    steps: tuple[StabilityStep, ...]  # equal steps, in order
    last_half: StabilityStep  # from the first half of the labels to all of them

    def __str__(self) -> str:
        last = self.steps[-1]
        return (
            f"The last half of the labels changed {100 * self.last_half.changed:.1f} % of the predictions, the last "
            f"{last.after - last.before:,} labels {100 * last.changed:.1f} % (kappa {last.kappa:.2f})."
        )


@dataclass(frozen=True)
class Forecast:
    """Expected gain from twice as many labels."""

    n_labels: int  # twice the current number of labels
    gain: Interval  # gain in accuracy with its interval

    def accuracy(self, now: Interval) -> Interval:
        """Return the expected accuracy, given the current one."""
        value = min(1.0, now.value + self.gain.value)
        below = float(np.hypot(now.value - now.low, self.gain.value - self.gain.low))
        above = float(np.hypot(now.high - now.value, self.gain.high - self.gain.value))
        return Interval(value, max(0.0, value - below), min(1.0, value + above))

    def __str__(self) -> str:
        about, low, high = (
            f"{100 * value:+.1f}".replace("-", "−") for value in (self.gain.value, self.gain.low, self.gain.high)
        )
        return f"Doubling to {self.n_labels:,} labels: about {about} points ({low} to {high})"


@dataclass(frozen=True)
class LearningCurve:
    """Estimated accuracy with fewer labels, with all of them, and with twice as many.

    Attributes
    ----------
    estimates
        Estimates by number of labels, the last one for all labels.
    stability
        How much the last labels changed the predictions; None if there are too few labels.
    forecast
        Forecast for twice as many labels; None if there are too few labels.
    """

    estimates: tuple[Estimate, ...]
    stability: Stability | None
    forecast: Forecast | None

    @property
    def now(self) -> Estimate:
        """Estimate with all labels."""
        return self.estimates[-1]


def learning_curve(graph: GraphLike, model: NodeClassifier, *, earlier: bool = True) -> LearningCurve:
    """Estimate the accuracy of a model with a quarter, half and all of its labels, and forecast it for more.

    Parameters
    ----------
    graph
        Graph that the model was fitted to.
    model
        Fitted model. Each estimate takes ten trainings, unless the model cross-validates itself.
    earlier
        Whether to estimate the accuracy with fewer labels too.
    """
    whole = model.prepare_graph(graph)
    models = [*_earlier_models(whole, model), model]
    stability = _compare_models(whole, models)
    halvings = {len(model.labelled_) // step for step in (STEPS, STEPS // 2)} if earlier else set()
    usable = [each for each in models[:-1] if len(each.labelled_) in halvings and len(each.labelled_) >= MIN_LABELS]
    estimates = tuple(estimate(whole, each) for each in [*usable, model])
    return LearningCurve(estimates, stability, None if stability is None else forecast(stability))


def forecast(stability: Stability) -> Forecast:
    """Forecast the gain from twice as many labels."""
    gain = GAIN_PER_CHANGE * stability.last_half.changed
    error = float(ndtri((1 + LEVEL) / 2) * np.hypot(GAIN_ERROR, gain))
    return Forecast(2 * stability.last_half.after, Interval(gain, gain - error, gain + error))


def _earlier_models(graph: GraphLike, model: NodeClassifier) -> list[NodeClassifier]:
    """Return models of the first quarter, half and three quarters of the labels, if those have two classes."""
    whole = model.prepare_graph(graph).without_labels()
    given = _shuffle_if_sorted(model.training_labels_in(whole))
    sizes = sorted({len(given) * step // STEPS for step in range(1, STEPS)} - {0, len(given)})
    firsts = [dict(given[:size]) for size in sizes]
    usable = [first for first in firsts if len(set(first.values())) > 1]
    return [
        clone(model).fit(whole, list(first), list(first.values()))
        for first in tracked(usable, "training on the first labels", len(usable))
    ]


def _shuffle_if_sorted(given: Mapping[Hashable, Hashable]) -> list[tuple[Hashable, Hashable]]:
    """Return the labels in their order, or shuffled if they are sorted by class."""
    labels = list(given.items())
    shares = np.array(list(Counter(given.values()).values())) / max(1, len(labels))
    expected = (len(labels) - 1) * (1 - np.sum(shares**2))
    switches = sum(one[1] != other[1] for one, other in pairwise(labels))
    if switches >= MIN_SWITCHES * expected:
        return labels
    return [labels[place] for place in np.random.default_rng(0).permutation(len(labels))]


def _compare_models(graph: GraphLike, models: list[NodeClassifier]) -> Stability | None:
    """Compare each model with the next one, and the model of half of the labels with the last one."""
    last = models[-1]
    whole = last.prepare_graph(graph).without_labels()
    labelled, _ = training_labels(whole, last)
    halves = [model for model in models if len(model.labelled_) == len(labelled) * (STEPS // 2) // STEPS]
    if len(models) < 2 or not halves:
        return None
    code_of = {name: code for code, name in enumerate(last.class_names_)}
    others = np.setdiff1d(whole.candidate_positions, labelled)

    def predict(model: NodeClassifier) -> NDArray[np.intp]:
        codes = np.array([code_of[name] for name in model.class_names_], dtype=np.intp)
        return np.asarray(codes[model.decision_function(whole).argmax(axis=1)][others])

    predictions = [(len(model.labelled_), predict(model)) for model in models]
    steps = tuple(_compare(*one, *other) for one, other in pairwise(predictions))
    return Stability(steps, _compare(*predictions[models.index(halves[0])], *predictions[-1]))


def _compare(before: int, old: NDArray[np.intp], after: int, new: NDArray[np.intp]) -> StabilityStep:
    from sklearn.metrics import cohen_kappa_score

    if np.array_equal(old, new):
        return StabilityStep(before, after, 0.0, 1.0)
    return StabilityStep(before, after, float(np.mean(old != new)), float(cohen_kappa_score(old, new)))
