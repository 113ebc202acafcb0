"""The estimated learning curve, and what twice as many labels would probably bring.

Labels keep changing predictions long after most are right, and of those that change more become right than wrong. Over
the doublings of graphs whose truth is known (docs/how-good.md) accuracy grew by about a fifth of the share of the
predictions that the doubling before had changed, give or take as much: that is the forecast. A curve through a few
estimates would say less, as each of them is off by more than a doubling brings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from featprop.estimates.change import Change, change_between, earlier_models
from featprop.estimates.estimate import Estimate, estimate
from featprop.estimates.intervals import LEVEL, Interval
from featprop.html import card, grid
from featprop.io.given import GraphLike
from featprop.models import NodeClassifier

__all__ = ["Forecast", "LearningCurve", "forecast", "learning_curve"]

BECOME_RIGHT = 0.2
"""The gain of a doubling beside the share of predictions that the doubling before changed; also how far it is off."""
OFF = 0.015
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
    accuracy
        What it would be.
    """

    n_labels: int
    gain: Interval
    accuracy: Interval

    def __str__(self) -> str:
        about, low, high = (f"{100 * value:.1f}" for value in (self.gain.value, self.gain.low, self.gain.high))
        return f"{self.n_labels:,} labels would probably bring {about} points more ({low} to {high})"


@dataclass(frozen=True)
class LearningCurve:
    """How good the model was with fewer labels, as far as can be told now.

    Attributes
    ----------
    estimates
        One for each number of labels, the last for all there are.
    forecast
        For twice as many; None where the first half of the labels says nothing.
    """

    estimates: tuple[Estimate, ...]
    forecast: Forecast | None

    def _repr_html_(self) -> str:
        rows: list[tuple[str, Interval]] = [(f"{each.n_labels:,}", each.accuracy) for each in self.estimates]
        if self.forecast is not None:
            rows.append((f"{self.forecast.n_labels:,}, forecast", self.forecast.accuracy))
        return card("Learning curve", [], grid(["labels", "accuracy"], rows))


def learning_curve(graph: GraphLike, model: NodeClassifier) -> LearningCurve:
    """Estimate how good models of the first quarter, half and three quarters of the labels are, and this one.

    Parameters
    ----------
    graph
        The graph that the model was fitted to.
    model
        A fitted model. Each point of the curve takes ten trainings.
    """
    models = [*earlier_models(graph, model), model]
    changes = change_between(graph, models)
    estimates = tuple(estimate(graph, each) for each in models)
    return LearningCurve(estimates, None if changes is None else forecast(estimates[-1].accuracy, changes))


def forecast(now: Interval, changes: Change) -> Forecast:
    """Say what twice as many labels would probably bring.

    Parameters
    ----------
    now
        The accuracy with all labels there are.
    changes
        What the last half of them changed.
    """
    z = float(ndtri((1 + LEVEL) / 2))
    share = BECOME_RIGHT * changes.last_half.changed
    gain, off = min(share, 1 - now.value), z * float(np.hypot(OFF, share))
    value, reach = now.value + gain, float(np.hypot(now.width / 2, off))
    accuracy = Interval(value, max(0.0, value - reach), min(1.0, value + reach))
    return Forecast(2 * changes.last_half.after, Interval(gain, gain - off, gain + off), accuracy)
