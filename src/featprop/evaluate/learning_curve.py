"""The estimated learning curve, and what twice as many labels would probably bring.

Labels keep changing predictions long after most are right, and of those that change more become right than wrong. Over
the doublings of graphs whose truth is known (docs/how-good-measured.md) accuracy grew by about a seventh of the share
of the predictions that the doubling before had changed, give or take as much: that is the forecast. A curve through a
few estimates would say less, as each of them is off by more than a doubling brings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from featprop.evaluate.change import STEPS, Change, change_between, earlier_models
from featprop.evaluate.estimate import LEAST, Estimate, estimate
from featprop.evaluate.intervals import LEVEL, Interval
from featprop.html import card, grid
from featprop.models import NodeClassifier
from featprop.sources import GraphLike

__all__ = ["Forecast", "LearningCurve", "forecast", "learning_curve"]

BECOME_RIGHT = 0.15
"""The gain of a doubling beside the share of predictions that the doubling before changed; also how far it is off."""
OFF = 0.012
"""How far it is off besides: a standard deviation."""


@dataclass(frozen=True)
class Forecast:
    """What more labels would probably bring.

    Attributes
    ----------
    n_labels
        How many there would be: twice as many as now.
    gain
        By how much the accuracy would grow.
    """

    n_labels: int
    gain: Interval

    def accuracy(self, now: Interval) -> Interval:
        """Return what the accuracy would be, of what it is now."""
        value = min(1.0, now.value + self.gain.value)
        below = float(np.hypot(now.value - now.low, self.gain.value - self.gain.low))
        above = float(np.hypot(now.high - now.value, self.gain.high - self.gain.value))
        return Interval(value, max(0.0, value - below), min(1.0, value + above))

    def __str__(self) -> str:
        about, low, high = (f"{100 * value:.1f}" for value in (self.gain.value, self.gain.low, self.gain.high))
        return f"{self.n_labels:,} labels would probably bring {about} points more ({low} to {high})"


@dataclass(frozen=True)
class LearningCurve:
    """How good the model is, was with fewer labels, and would be with more, as far as can be told now.

    Attributes
    ----------
    estimates
        One for each number of labels, the last for all there are.
    change
        What the last labels changed; None where there are too few to say.
    forecast
        For twice as many labels; None likewise.
    """

    estimates: tuple[Estimate, ...]
    change: Change | None
    forecast: Forecast | None

    @property
    def now(self) -> Estimate:
        """The estimate with all labels."""
        return self.estimates[-1]

    def _repr_html_(self) -> str:
        rows: list[tuple[str, Interval]] = [(f"{each.n_labels:,}", each.accuracy) for each in self.estimates]
        if self.forecast is not None:
            rows.append((f"{self.forecast.n_labels:,}, forecast", self.forecast.accuracy(self.now.accuracy)))
        return card("Learning curve", [], grid(["labels", "accuracy"], rows))


def learning_curve(graph: GraphLike, model: NodeClassifier, *, earlier: bool = True) -> LearningCurve:
    """Estimate how good a model is, was with the first quarter and the first half of its labels, and would be.

    Parameters
    ----------
    graph
        The graph that the model was fitted to.
    model
        A fitted model. Each estimate takes ten trainings.
    earlier
        Estimate also how good the models of fewer labels were.
    """
    whole = model.fitting(graph)
    models = [*earlier_models(whole, model), model]
    change = change_between(whole, models)
    halvings = {len(model.labelled_) // step for step in (STEPS, STEPS // 2)} if earlier else set()
    judged = [each for each in models[:-1] if len(each.labelled_) in halvings and len(each.labelled_) >= LEAST]
    estimates = tuple(estimate(whole, each) for each in [*judged, model])
    return LearningCurve(estimates, change, None if change is None else forecast(change))


def forecast(changes: Change) -> Forecast:
    """Say what twice as many labels would probably bring, by what the last half of those there are changed."""
    gain = BECOME_RIGHT * changes.last_half.changed
    off = float(ndtri((1 + LEVEL) / 2) * np.hypot(OFF, gain))
    return Forecast(2 * changes.last_half.after, Interval(gain, gain - off, gain + off))
