"""Summarize features for people: as a picture, the words of a bag, or numbers.

Features are a **picture** if they are the pixels of a square image: adjacent pixels correlate far more than pixels half
an image apart. They are **words** if none is negative and most are 0. Anything else is **numbers**. A sample of up to
2,000 nodes decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.matrix import dense

MAX_ROWS, MAX_VALUES = 2000, 4_000_000
"""Size of the sample."""
MIN_ROWS = 20
MIN_SIDE, MAX_SIDE = 4, 32
"""Side of a picture in pixels."""
MIN_CORRELATION_GAP = 0.15
"""Difference in correlation between adjacent and distant pixels of a picture."""
MIN_ZERO_SHARE = 0.8
"""Share of zeros in word counts."""
MIN_WORDS = 20
LEVELS = 8
"""Shades of grey."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A square picture in shades of the text colour."""

    pixels: NDArray[np.int64]  # shades from 0 (paper) to `LEVELS` (ink)

    def svg(self, attributes: str = "") -> Markup:
        """Return the picture as an SVG element, one path per shade; `attributes` is extra markup for the element."""
        side = len(self.pixels)
        paths = []
        for level in range(1, LEVELS + 1):
            dots = "".join(f"M{x} {y}h1" for y, x in np.argwhere(self.pixels == level).tolist())
            if dots:
                paths.append(f'<path d="{dots}" stroke-opacity="{level / LEVELS:g}"/>')
        return Markup(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -0.5 {side} {side}" stroke="currentColor" '
            f'shape-rendering="crispEdges" {attributes}>{"".join(paths)}</svg>'
        )


@dataclass(frozen=True, eq=False)
class FeatureSummary:
    """Kind and statistics of a range of features."""

    name: str
    kind: str  # ``"picture"``, ``"words"`` or ``"numbers"``
    start: int  # range of the features in the graph
    stop: int
    low: float  # smallest and largest value in the sample
    high: float
    mean: NDArray[np.float64]  # mean of each feature

    @property
    def width(self) -> int:
        """Number of features."""
        return self.stop - self.start

    def row(self, graph: Graph, position: int) -> NDArray[np.float32]:
        """Return these features of a node."""
        row: Any = graph.features[[position]]
        return np.asarray(dense(row)[0, self.start : self.stop])

    def picture(self, graph: Graph, position: int) -> Picture:
        """Return these features of a node, which are pixels, as a picture."""
        side = math.isqrt(self.width)
        shares = np.clip((self.row(graph, position).astype(np.float64) - self.low) / (self.high - self.low), 0, 1)
        return Picture(np.rint(LEVELS * shares).astype(np.int64).reshape(side, side))


def summarize_features(graph: Graph, name: str, start: int, stop: int) -> FeatureSummary:
    """Return the summary of the features from `start` to `stop`."""
    width = stop - start
    count = min(graph.n_nodes, MAX_ROWS, max(MIN_ROWS, MAX_VALUES // width))
    rows: Any = graph.features[np.linspace(0, graph.n_nodes - 1, count).astype(np.intp)][:, start:stop]
    values = dense(rows)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    if _are_pixels(values):
        kind = "picture"
    elif low >= 0 and width >= MIN_WORDS and np.count_nonzero(values) <= (1 - MIN_ZERO_SHARE) * values.size:
        kind = "words"
    else:
        kind = "numbers"
    return FeatureSummary(name, kind, start, stop, low, high, values.mean(axis=0, dtype=np.float64))


def _are_pixels(values: NDArray[np.float32]) -> bool:
    count, width = values.shape
    side = math.isqrt(width)
    if side * side != width or not MIN_SIDE <= side <= MAX_SIDE or count < MIN_ROWS:
        return False
    with np.errstate(invalid="ignore"):  # pixels that never vary
        correlation = np.nan_to_num(np.corrcoef(values, rowvar=False))
    adjacent, distant = (
        np.append(np.diagonal(correlation, step), np.diagonal(correlation, step * side)).mean()
        for step in (1, side // 2)
    )
    return bool(adjacent - distant >= MIN_CORRELATION_GAP)
