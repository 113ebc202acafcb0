"""Draw line charts over the number of labels and bars of intervals as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from featprop.evaluate import Interval, LearningCurve
from featprop.web.common.templates import render_template

WIDTH, HEIGHT = 480, 290
LEFT, RIGHT, TOP, BOTTOM = 54, 458, 22, 242
"""Size of a chart, and ends of its axes."""


class Point(NamedTuple):
    """A point of a chart."""

    labels: int  # number of labels (x axis)
    value: float  # value (y axis)
    low: float | None = None  # ends of the interval of the value; None without one
    high: float | None = None


def line_chart(
    points: Sequence[Point],
    *,
    description: str,
    format_tick: Callable[[float], str] = "{:.3g}".format,
    forecast: Point | None = None,
    highest: float = math.inf,
    from_zero: bool = False,
) -> Markup | None:
    """Return an SVG line chart, or None for fewer than two points.

    The last point is joined to the forecast by a dashed line; no value is above `highest`.
    """
    known = [*points, *([] if forecast is None else [forecast])]
    if len(known) < 2:
        return None
    low, high = _limits(known, highest, from_zero)
    first, last = known[0].labels, known[-1].labels

    def x(labels: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (labels - first) / max(1, last - first), 1)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low), 1)

    ticks = dict.fromkeys(map(round, _ticks(first, max(last, first + 1))))
    return render_template(
        "web/common/chart.html.j2",
        x=x,
        y=y,
        x_ticks=[tick for tick in ticks if first <= tick <= last],
        y_ticks=_ticks(low, high),
        points=points,
        forecast=forecast,
        description=description,
        format_tick=format_tick,
        size=(WIDTH, HEIGHT, LEFT, RIGHT),
    )


def learning_chart(curve: LearningCurve) -> Markup | None:
    """Return the estimated accuracy over the number of labels, with its forecast."""
    points = [(each.n_labels, each.accuracy) for each in curve.estimates]
    text = "; ".join(f"{share} with {labels:,} labels" for labels, share in points)
    forecast = None
    if curve.forecast is not None:
        expected = curve.forecast.accuracy(curve.now.accuracy)
        forecast = _accuracy_point(curve.forecast.n_labels, expected)
        text += f"; forecast {expected} with {curve.forecast.n_labels:,}"
    return line_chart(
        [_accuracy_point(labels, share) for labels, share in points],
        description=f"Estimated accuracy: {text}.",
        format_tick=lambda share: f"{100 * share:.0f} %",
        forecast=forecast,
        highest=1.0,
    )


def _accuracy_point(labels: int, share: Interval) -> Point:
    return Point(int(labels), share.value, share.low, share.high)


def interval_bar(interval: Interval) -> Markup:
    """Return a bar from 0 to 100 % that shows an interval and its value."""
    return Markup(
        '<svg class="interval" viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">'
        '<line x1="0" x2="200" y1="8" y2="8"/><rect x="{:.1f}" width="{:.1f}" y="3" height="10"/>'
        '<line class="value" x1="{:.1f}" x2="{:.1f}" y1="0" y2="16"/></svg>'
    ).format(200 * interval.low, max(1.0, 200 * interval.width), 200 * interval.value, 200 * interval.value)


def _limits(points: Sequence[Point], highest: float, from_zero: bool) -> tuple[float, float]:
    """Return the ends of the y axis."""
    low = min(point.value if point.low is None else point.low for point in points)
    high = max(point.value if point.high is None else point.high for point in points)
    low = 0.0 if from_zero else low
    margin = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    return max(0.0, low - margin), min(highest, high + margin)


def _ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Return about `wanted` round numbers from `low` to `high`."""
    rough = (high - low) / wanted
    power = 10 ** math.floor(math.log10(rough))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]
