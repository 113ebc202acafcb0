"""What a person sees of features that are no columns: a picture, the words of a bag, or the most unusual numbers.

Features are a **picture** if they are the pixels of a square one, which shows in the correlation of pixels: that of
pixels side by side is well above that of pixels half a picture apart. They are **words** if none is below 0 and most
are 0. All else is **numbers**. What is needed of all nodes is taken from some thousand of them, once a graph.
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

__all__ = ["FeatureSummary", "Picture", "feature_row", "picture_in", "summary_of"]

ROWS, VALUES = 2000, 4_000_000
"""Nodes that are looked at, and numbers at most."""
FEWEST_ROWS = 20
SMALLEST, LARGEST = 4, 64
"""Pixels along a side of a picture."""
NEARER = 0.15
"""How much more pixels side by side have in common than distant ones, in a picture."""
ZEROS = 0.8
"""The share of zeros in words that were counted."""
FEWEST_WORDS = 20
LEVELS = 8
"""Shades of grey."""


@dataclass(frozen=True, eq=False)
class FeatureSummary:
    """What features are, and what they are usually like.

    Attributes
    ----------
    kind
        ``"picture"``, ``"words"`` or ``"numbers"``.
    start, stop
        Which features of the graph.
    low, high
        The smallest and the largest number there is among those looked at.
    common
        Of words, in how many nodes each is, of those looked at; empty otherwise.
    ordered
        Of numbers, the values of each feature from small to large, a column each; empty otherwise.
    mean, spread
        Of each feature, if they are numbers.
    """

    kind: str
    start: int
    stop: int
    low: float
    high: float
    common: NDArray[np.int64]
    ordered: NDArray[np.float32]
    mean: NDArray[np.float32]
    spread: NDArray[np.float32]

    @property
    def width(self) -> int:
        """How many features."""
        return self.stop - self.start

    def places(self, row: NDArray[np.float32], shown: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the share of nodes whose number is smaller, for those numbers of a node that are shown."""
        return np.asarray((self.ordered[:, shown] < row[shown]).mean(axis=0))

    def unusual(self, row: NDArray[np.float32], count: int) -> NDArray[np.intp]:
        """Return which numbers of a node are farthest from the mean, in standard deviations, farthest first."""
        distance = np.abs(row - self.mean) / np.where(self.spread > 0, self.spread, np.inf)
        return np.argsort(-distance, kind="stable")[:count]


@dataclass(frozen=True, eq=False)
class Picture:
    """A square picture in shades of the colour of the text around it.

    Attributes
    ----------
    pixels
        0 for the paper to `LEVELS` for full ink.
    """

    pixels: NDArray[np.int64]

    def svg(self, attributes: str = "") -> str:
        """Return it as an SVG element: a path a shade, of rows of pixels; `attributes` are markup, such as a size."""
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


def summary_of(graph: Graph, start: int, stop: int) -> FeatureSummary:
    """Look at the features from `start` to before `stop`: the first time, and remember it."""
    found: FeatureSummary = graph.cache.get(
        ("features a person sees", start, stop), lambda: _summary(graph, start, stop)
    )
    return found


def feature_row(graph: Graph, position: int, start: int, stop: int) -> NDArray[np.float32]:
    """Return some of the features of a node."""
    features: Any = graph.features
    if not sp.issparse(features):
        return np.asarray(features[position, start:stop])
    row = np.zeros(stop - start, dtype=np.float32)
    entries = slice(features.indptr[position], features.indptr[position + 1])
    columns, values = features.indices[entries], features.data[entries]
    wanted = (columns >= start) & (columns < stop)
    row[columns[wanted] - start] = values[wanted]
    return row


def picture_in(graph: Graph, position: int, summary: FeatureSummary) -> Picture | None:
    """Return the picture that features of a node are; None if they are none."""
    if summary.kind != "picture":
        return None
    side = math.isqrt(summary.width)
    row = feature_row(graph, position, summary.start, summary.stop).astype(np.float64)
    shares = np.clip((row - summary.low) / (summary.high - summary.low), 0, 1)
    return Picture(np.rint(LEVELS * shares).astype(np.int64).reshape(side, side))


def _summary(graph: Graph, start: int, stop: int) -> FeatureSummary:
    width = stop - start
    some = _some_rows(graph, start, stop)
    values = np.asarray(some.data if sp.issparse(some) else some)
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    common, ordered = np.empty(0, np.int64), np.zeros((1, width), np.float32)
    kind = "numbers"
    if _are_pixels(some):
        kind = "picture"
    elif low >= 0 and width >= FEWEST_WORDS and np.count_nonzero(values) <= (1 - ZEROS) * some.shape[0] * width:
        kind, common = "words", np.bincount(sp.coo_array(some).coords[1], minlength=width)
    else:
        ordered = np.sort(dense(some), axis=0)
    return FeatureSummary(kind, start, stop, low, high, common, ordered, ordered.mean(axis=0), ordered.std(axis=0))


def _some_rows(graph: Graph, start: int, stop: int) -> sp.csr_array | NDArray[np.float32]:
    """Return the features of some nodes, from everywhere."""
    count = min(graph.n_nodes, ROWS, max(FEWEST_ROWS, VALUES // (stop - start)))
    rows = graph.features[np.linspace(0, graph.n_nodes - 1, count).astype(np.intp)]
    return rows if (start, stop) == (0, graph.n_features) else rows[:, start:stop]


def _are_pixels(some: sp.csr_array | NDArray[np.float32]) -> bool:
    count, width = some.shape
    side = math.isqrt(width)
    if side * side != width or not SMALLEST <= side <= LARGEST or count < FEWEST_ROWS:
        return False
    values = dense(some).astype(np.float64).reshape(count, side, side)
    spread = values.std(axis=0)
    varying = spread > 0
    if varying.sum() < width / 4:
        return False
    scaled = np.where(varying, (values - values.mean(axis=0)) / np.where(varying, spread, 1), np.nan)
    return _in_common(scaled, 1) - _in_common(scaled, side // 2) >= NEARER


def _in_common(scaled: NDArray[np.float64], step: int) -> float:
    """Return the mean correlation of pixels that many steps apart, across and down; 0 if none vary."""
    across = (scaled[:, :, step:] * scaled[:, :, :-step]).mean(axis=0).ravel()
    down = (scaled[:, step:] * scaled[:, :-step]).mean(axis=0).ravel()
    found = np.concatenate([across, down])
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else 0.0


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return row, first column and length of each run of pixels that are set."""
    edges = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, firsts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    return [(int(y), int(x), int(end - x)) for y, x, end in zip(rows, firsts, ends, strict=True)]
