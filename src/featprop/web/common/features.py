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
    document_counts: NDArray[np.int64]  # for words, the number of sampled nodes that have each one; empty otherwise
    ordered: NDArray[np.float32]  # for numbers, the sorted values of each feature, one column each; empty otherwise
    mean: NDArray[np.float32]  # mean and standard deviation of each feature, for numbers
    spread: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Number of features."""
        return self.stop - self.start

    def places(self, row: NDArray[np.float32], shown: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the share of nodes with a smaller value, for the shown features of a node."""
        return np.asarray((self.ordered[:, shown] < row[shown]).mean(axis=0))

    def most_unusual(self, row: NDArray[np.float32], count: int) -> NDArray[np.intp]:
        """Return the features of a node farthest from their mean in standard deviations, farthest first."""
        distance = np.abs(row - self.mean) / np.where(self.spread > 0, self.spread, np.inf)
        return np.argsort(-distance, kind="stable")[:count]


@dataclass(frozen=True, eq=False)
class Picture:
    """A square picture in shades of the text colour."""

    pixels: NDArray[np.int64]  # shades from 0 (paper) to `LEVELS` (ink)

    def svg(self, attributes: str = "") -> str:
        """Return the picture as an SVG element, one path per shade; `attributes` is extra markup for the element."""
        side = len(self.pixels)
        paths = [
            f'<path d="{strokes}" fill-opacity="{level / LEVELS:g}"/>'
            for level in range(1, LEVELS + 1)
            if (strokes := "".join(f"M{x} {y}h{length}v1h-{length}z" for y, x, length in _runs(self.pixels == level)))
        ]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" fill="currentColor" '
            f'shape-rendering="crispEdges"{" " if attributes else ""}{attributes}>{"".join(paths)}</svg>'
        )


def summarize_features(graph: Graph, start: int, stop: int) -> FeatureSummary:
    """Return the summary of the features from `start` to `stop`; computed once per graph."""
    found: FeatureSummary = graph.cache.get(
        ("features a person sees", start, stop), lambda: _compute_summary(graph, start, stop)
    )
    return found


def feature_row(graph: Graph, position: int, start: int, stop: int) -> NDArray[np.float32]:
    """Return the features of a node from `start` to `stop`."""
    features: Any = graph.features
    if not sp.issparse(features):
        return np.asarray(features[position, start:stop])
    row = np.zeros(stop - start, dtype=np.float32)
    entries = slice(features.indptr[position], features.indptr[position + 1])
    columns, values = features.indices[entries], features.data[entries]
    wanted = (columns >= start) & (columns < stop)
    row[columns[wanted] - start] = values[wanted]
    return row


def picture_from_features(graph: Graph, position: int, summary: FeatureSummary) -> Picture | None:
    """Return the features of a node as a picture; None if they are not pixels."""
    if summary.kind != "picture":
        return None
    side = math.isqrt(summary.width)
    row = feature_row(graph, position, summary.start, summary.stop).astype(np.float64)
    shares = np.clip((row - summary.low) / (summary.high - summary.low), 0, 1)
    return Picture(np.rint(LEVELS * shares).astype(np.int64).reshape(side, side))


def _compute_summary(graph: Graph, start: int, stop: int) -> FeatureSummary:
    width = stop - start
    some = _sample_rows(graph, start, stop)
    values = np.asarray(some.data if sp.issparse(some) else some)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    counts, ordered = np.empty(0, np.int64), np.zeros((1, width), np.float32)
    kind = "numbers"
    if _are_pixels(some):
        kind = "picture"
    elif low >= 0 and width >= MIN_WORDS and np.count_nonzero(values) <= (1 - MIN_ZERO_SHARE) * some.shape[0] * width:
        kind, counts = "words", np.bincount(sp.coo_array(some).coords[1], minlength=width)
    else:
        ordered = np.sort(dense(some), axis=0)
    return FeatureSummary(kind, start, stop, low, high, counts, ordered, ordered.mean(axis=0), ordered.std(axis=0))


def _sample_rows(graph: Graph, start: int, stop: int) -> sp.csr_array | NDArray[np.float32]:
    """Return the features of evenly spaced nodes."""
    count = min(graph.n_nodes, MAX_ROWS, max(MIN_ROWS, MAX_VALUES // (stop - start)))
    rows = graph.features[np.linspace(0, graph.n_nodes - 1, count).astype(np.intp)]
    return rows if (start, stop) == (0, graph.n_features) else rows[:, start:stop]


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


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return row, first column and length of each run of set pixels."""
    edges = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, firsts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    return [(int(y), int(x), int(end - x)) for y, x, end in zip(rows, firsts, ends, strict=True)]
