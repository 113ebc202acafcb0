"""Summarize features for people: as a picture, the words of a bag, or the most unusual numbers.

Features are a **picture** if they are the pixels of a square image: adjacent pixels correlate far more than pixels half
an image apart. They are **words** if none is negative and most are 0. Anything else is **numbers**. Statistics come
from a sample of up to 2,000 nodes, once per graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.matrix import dense

MAX_ROWS, MAX_VALUES = 2000, 4_000_000
"""Size of the sample."""
MIN_ROWS = 20
MIN_SIDE, MAX_SIDE = 4, 64
"""Side of a picture in pixels."""
MIN_CORRELATION_GAP = 0.15
"""Difference in correlation between adjacent and distant pixels of a picture."""
MIN_ZERO_SHARE = 0.8
"""Share of zeros in word counts."""
MIN_WORDS = 20
LEVELS = 8
"""Shades of grey."""


@dataclass(frozen=True, eq=False)
class FeatureSummary:
    """Kind and statistics of a range of features."""

    kind: str  # ``"picture"``, ``"words"`` or ``"numbers"``
    start: int  # range of the features in the graph
    stop: int
    low: float  # smallest and largest value in the sample
    high: float
    mean: NDArray[np.float64]  # mean of each feature
    spread: NDArray[np.float32]  # for numbers, standard deviation and sorted values of each feature; else empty
    ordered: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Number of features."""
        return self.stop - self.start

    def shares_below(self, row: NDArray[np.float32], shown: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the share of nodes with a smaller value, for the shown features of a node."""
        return np.asarray((self.ordered[:, shown] < row[shown]).mean(axis=0))

    def most_unusual(self, row: NDArray[np.float32], count: int) -> NDArray[np.intp]:
        """Return the numbers farthest from their mean in standard deviations, or the words used more than usual."""
        if self.kind == "words":
            words = np.flatnonzero(row)
            return words[np.argsort(-row[words] / np.maximum(self.mean[words], 1e-9), kind="stable")[:count]]
        distance = np.abs(row - self.mean) / np.where(self.spread > 0, self.spread, np.inf)
        return np.argsort(-distance, kind="stable")[:count]


@dataclass(frozen=True, eq=False)
class Picture:
    """A square picture in shades of the text colour."""

    pixels: NDArray[np.int64]  # shades from 0 (paper) to `LEVELS` (ink)

    def svg(self, attributes: str = "") -> str:
        """Return the picture as an SVG element, one path per shade; `attributes` is extra markup for the element."""
        side = len(self.pixels)
        paths = []
        for level in range(1, LEVELS + 1):
            dots = "".join(f"M{x} {y}h1" for y, x in np.argwhere(self.pixels == level).tolist())
            if dots:
                paths.append(f'<path d="{dots}" stroke-opacity="{level / LEVELS:g}"/>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -0.5 {side} {side}" stroke="currentColor" '
            f'shape-rendering="crispEdges" {attributes}>{"".join(paths)}</svg>'
        )


def summarize_features(graph: Graph, start: int, stop: int) -> FeatureSummary:
    """Return the summary of the features from `start` to `stop`; computed once per graph."""
    found: FeatureSummary = graph.cache.get(
        ("features a person sees", start, stop), lambda: _compute_summary(graph, start, stop)
    )
    return found


def feature_row(graph: Graph, position: int, summary: FeatureSummary) -> NDArray[np.float32]:
    """Return the summarized features of a node."""
    row: Any = graph.features[[position]]
    return np.asarray(dense(row)[0, summary.start : summary.stop])


def picture_from_features(graph: Graph, position: int, summary: FeatureSummary) -> Picture | None:
    """Return the features of a node as a picture; None if they are not pixels."""
    if summary.kind != "picture":
        return None
    side = math.isqrt(summary.width)
    row = feature_row(graph, position, summary).astype(np.float64)
    shares = np.clip((row - summary.low) / (summary.high - summary.low), 0, 1)
    return Picture(np.rint(LEVELS * shares).astype(np.int64).reshape(side, side))


def _compute_summary(graph: Graph, start: int, stop: int) -> FeatureSummary:
    width = stop - start
    count = min(graph.n_nodes, MAX_ROWS, max(MIN_ROWS, MAX_VALUES // width))
    some: Any = graph.features[np.linspace(0, graph.n_nodes - 1, count).astype(np.intp)][:, start:stop]
    values = np.asarray(some.data if sp.issparse(some) else some)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    spread, ordered = np.empty(0, np.float32), np.empty((0, width), np.float32)
    if _are_pixels(some):
        kind = "picture"
    elif low >= 0 and width >= MIN_WORDS and np.count_nonzero(values) <= (1 - MIN_ZERO_SHARE) * count * width:
        kind = "words"
    else:
        kind, ordered = "numbers", np.sort(dense(some), axis=0)
        spread = ordered.std(axis=0)
    mean = np.asarray(some.mean(axis=0), dtype=np.float64).ravel()
    return FeatureSummary(kind, start, stop, low, high, mean, spread, ordered)


def _are_pixels(some: sp.csr_array | NDArray[np.float32]) -> bool:
    count, width = some.shape
    side = math.isqrt(width)
    if side * side != width or not MIN_SIDE <= side <= MAX_SIDE or count < MIN_ROWS:
        return False
    values = dense(some).astype(np.float64).reshape(count, side, side)
    spread = values.std(axis=0)
    varying = spread > 0
    if varying.sum() < width / 4:
        return False
    scaled = np.where(varying, (values - values.mean(axis=0)) / np.where(varying, spread, 1), np.nan)
    return _correlation(scaled, 1) - _correlation(scaled, side // 2) >= MIN_CORRELATION_GAP


def _correlation(scaled: NDArray[np.float64], step: int) -> float:
    """Return the mean correlation of pixels `step` pixels apart, horizontally and vertically; 0 if none vary."""
    across = (scaled[:, :, step:] * scaled[:, :, :-step]).mean(axis=0).ravel()
    down = (scaled[:, step:] * scaled[:, :-step]).mean(axis=0).ravel()
    found = np.concatenate([across, down])
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else 0.0
