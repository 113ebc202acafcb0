"""Draw line charts over the number of labels and bars of intervals as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from featprop.evaluate import Interval, LearningCurve

WIDTH, HEIGHT = 480, 290
LEFT, RIGHT, TOP, BOTTOM = 54, 22, 22, 48


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
    highest: float | None = None,
    from_zero: bool = False,
) -> Markup | None:
    """Return an SVG line chart, or None for fewer than two points.

    Parameters
    ----------
    points
        Points of the line, in order of the number of labels.
    description
        What the chart shows, for screen readers.
    format_tick
        Formats the values on the axis and next to the last point.
    forecast
        Expected next point, joined to the last one by a dashed line.
    highest
        Largest possible value.
    from_zero
        Start the y axis at 0.
    """
    known = [*points, *([] if forecast is None else [forecast])]
    if len(known) < 2:
        return None
    low, high = _limits(known, highest, from_zero)
    first, last = known[0].labels, known[-1].labels

    def x(labels: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (labels - first) / max(1, last - first)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    parts = [_y_axis(y, low, high, format_tick), _x_axis(x, first, last)]
    parts.append(_band([point for point in points if point.low is not None], x, y, "band"))
    if forecast is not None and points:
        parts.append(_band([points[-1], forecast] if forecast.low is not None else [], x, y, "band forecast"))
        parts.append(_line([points[-1], forecast], x, y, "line forecast"))
    parts.append(_line(points, x, y, "line"))
    parts += [
        Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="{}"/>').format(x(each.labels), y(each.value), size)
        for each, size in zip(points, [3.0] * (len(points) - 1) + [5.0], strict=True)
    ]
    if forecast is not None:
        centre = x(forecast.labels), y(forecast.value)
        parts.append(Markup('<circle class="dot forecast" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(*centre))
    parts += [_value_label(point, x, y, format_tick) for point in known[-2 if forecast is not None else -1 :]]
    return Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, description, Markup("").join(parts)
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


def _limits(points: Sequence[Point], highest: float | None, from_zero: bool) -> tuple[float, float]:
    lows = [point.value if point.low is None else point.low for point in points]
    highs = [point.value if point.high is None else point.high for point in points]
    low, high = (0.0 if from_zero else min(lows)), max(highs)
    margin = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = (low if from_zero else low - margin), high + margin
    return (low if from_zero else max(0.0, low)), (high if highest is None else min(highest, high))


def _y_axis(y: Callable[[float], float], low: float, high: float, format_tick: Callable[[float], str]) -> Markup:
    return Markup("").join(
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
            '<text class="tick" text-anchor="end" x="{}" y="{:.1f}">{}</text>'
        ).format(LEFT, WIDTH - RIGHT, y(tick), y(tick), LEFT - 8, y(tick) + 4.5, format_tick(tick))
        for tick in _ticks(low, high)
    )


def _x_axis(x: Callable[[float], float], first: int, last: int) -> Markup:
    ticks = [tick for tick in dict.fromkeys(map(round, _ticks(first, max(last, first + 1)))) if first <= tick <= last]
    drawn = Markup("").join(
        Markup('<text class="tick" text-anchor="middle" x="{:.1f}" y="{}">{:,}</text>').format(
            x(tick), HEIGHT - BOTTOM + 20, tick
        )
        for tick in ticks
    )
    return drawn + Markup('<text class="tick" text-anchor="middle" x="{}" y="{}">labels</text>').format(
        (LEFT + WIDTH - RIGHT) // 2, HEIGHT - 6
    )


def _band(points: Sequence[Point], x: Callable[[float], float], y: Callable[[float], float], css: str) -> Markup:
    ends = [
        (point.labels, point.low, point.high) for point in points if point.low is not None and point.high is not None
    ]
    if len(ends) < 2:
        return Markup("")
    above = [f"{x(labels):.1f},{y(high):.1f}" for labels, _, high in ends]
    below = [f"{x(labels):.1f},{y(low):.1f}" for labels, low, _ in reversed(ends)]
    return Markup('<polygon class="{}" points="{}"/>').format(css, " ".join([*above, *below]))


def _line(points: Sequence[Point], x: Callable[[float], float], y: Callable[[float], float], css: str) -> Markup:
    path = " ".join(f"{x(point.labels):.1f},{y(point.value):.1f}" for point in points)
    return Markup('<polyline class="{}" points="{}"/>').format(css, path)


def _value_label(
    point: Point, x: Callable[[float], float], y: Callable[[float], float], format_tick: Callable[[float], str]
) -> Markup:
    anchor = "end" if x(point.labels) > WIDTH - RIGHT - 40 else "middle"
    return Markup('<text class="value" text-anchor="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(
        anchor,
        x(point.labels) + (6 if anchor == "end" else 0),
        max(14.0, y(point.value) - 12),
        format_tick(point.value),
    )


def _ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Return about `wanted` round numbers from `low` to `high`."""
    rough = (high - low) / wanted
    power = 10 ** math.floor(math.log10(rough))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]
