"""The curve of coverage, drawn as SVG with a table beside it for those who do not see it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

__all__ = ["curve"]

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 16, 40


def curve(points: Sequence[tuple[int, float]]) -> Markup | None:
    """Return the mean distance to the nearest labelled node over the number of labels; None with too few points."""
    known = sorted({labels: distance for labels, distance in points if math.isfinite(distance)}.items())
    if len(known) < 2:
        return None
    most, least = known[-1][0], known[0][0]
    top = max(distance for _, distance in known) * 1.08 or 1.0

    def x(labels: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (labels - least) / (most - least)

    def y(distance: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * distance / top

    lines = [
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text x="{}" y="{:.1f}" class="y">{}</text>'
        ).format(LEFT, WIDTH - RIGHT, y(tick), y(tick), LEFT - 8, y(tick) + 4, f"{tick:g}")
        for tick in _ticks(0.0, top)
    ]
    lines += [
        Markup('<text x="{:.1f}" y="{}" class="x">{}</text>').format(x(tick), HEIGHT - BOTTOM + 18, f"{tick:,.0f}")
        for tick in dict.fromkeys(round(each) for each in _ticks(least, most))
        if least <= tick <= most
    ]
    path = " ".join(f"{x(labels):.1f},{y(distance):.1f}" for labels, distance in known)
    said = f"Mean distance to the nearest labelled node: {known[0][1]:.3g} at {least:,} labels, "
    said += f"{known[-1][1]:.3g} at {most:,}."
    return Markup(
        '<svg class="curve" viewBox="0 0 {} {}" role="img" aria-label="{}">{}<polyline points="{}"/>'
        '<circle cx="{:.1f}" cy="{:.1f}" r="4"/><text x="{}" y="{}" class="x">labels</text></svg>'
    ).format(
        WIDTH, HEIGHT, said, Markup("").join(lines), path, x(most), y(known[-1][1]), (LEFT + WIDTH) // 2, HEIGHT - 4
    )


def _ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Return round numbers from `low` to `high`, about as many as wanted."""
    rough = (high - low) / wanted
    power = 10 ** math.floor(math.log10(rough))
    step = next(nice * power for nice in (1, 2, 5, 10) if nice * power >= rough)
    first = math.ceil(low / step)
    return [round(number * step, 10) for number in range(first, math.floor(high / step) + 1)]
