"""Draw the map of the report as SVG, coloured by class, confidence or distance to the nearest label.

A dot is a stroke of length 0 with a round cap, so that one path per colour draws thousands of nodes in a few kilobytes
and the style sheet sets their size. From the eleventh class on, the ten colours repeat with another mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.graph import UNKNOWN
from featprop.web.common.palette import DIGITS
from featprop.web.report.context import ReportContext
from featprop.web.report.findings import ReviewList

SIDE, MARGIN = 1000, 24
MIN_ASPECT = 0.6
"""Smallest ratio of height to width."""
MARKS = ("round", "square", "ring", "frame")
"""Marks of the first ten classes, the next ten, and so on."""
CONFIDENCE_STEPS = (0.95, 0.8, 0.6, 0.4, 0.0)
"""Lower ends of the confidence steps, highest first."""
STEPS = 5
MAX_NODES, MAX_LABELLED = 4000, 2500
"""Nodes on a map, and labelled ones among them."""


@dataclass(frozen=True)
class Step:
    """A step of a scale: its title and the number of nodes on the map."""

    title: str
    count: int


@dataclass(frozen=True, eq=False)
class NodeMap:
    """A map of some nodes."""

    shown: NDArray[np.intp]  # sorted positions of the nodes on the map
    places: NDArray[np.int64]  # their coordinates
    height: int  # height of the drawing, which is `SIDE` wide
    svg: Markup  # content of the drawing
    confidence: list[Step]  # steps of the two scales, from good to bad
    distance: list[Step]

    def index_of(self, position: int) -> int | None:
        """Return the index of a node on the map; None if it is not there."""
        place = int(np.searchsorted(self.shown, position))
        return place if place < len(self.shown) and self.shown[place] == position else None


def class_mark(code: int) -> tuple[int, str]:
    """Return the colour number and the mark of a class."""
    return code % len(DIGITS), MARKS[code // len(DIGITS) % len(MARKS)]


def draw_map(
    context: ReportContext, shown: NDArray[np.intp], coordinates: NDArray[np.float32], lists: Sequence[ReviewList]
) -> NodeMap:
    """Draw the map."""
    places, height = _fit(coordinates)
    label, audited = context.labelled[shown], context.audited[shown] != UNKNOWN
    plain = label == UNKNOWN
    classes = context.known[shown]
    wrong = np.isin(shown, [position for each in lists if each.key == "wrong_labels" for position in each.positions])
    flagged = np.isin(shown, [position for each in lists for position in each.positions]) & ~wrong
    confidence = np.minimum(np.searchsorted(-np.array(CONFIDENCE_STEPS), -context.confidence[shown]), STEPS - 1)
    edges = _quintiles(context)
    distance = np.searchsorted(edges, context.covered.distances[shown], side="left")
    codes = np.unique(classes[plain]).tolist()
    layers = [
        _layer("class", [_dots(places[plain & (classes == code)], _class_style(code), code) for code in codes]),
        _layer("confidence", [_dots(places[plain & (confidence == step)], f"scale-{step}") for step in range(STEPS)]),
        _layer("distance", [_dots(places[plain & (distance == step)], f"scale-{step}") for step in range(STEPS)]),
        Markup('<g class="flagged">{}</g>').format(_signs(places[flagged], "M{x} {y}m-5-5l10 10m0-10l-10 10")),
        Markup('<g class="audited">{}</g>').format(_signs(places[audited], "M{x} {y}m-8-8h16v16h-16z")),
        _layer("labels", [_labels(places[label == code], code) for code in np.unique(label[~plain]).tolist()]),
        Markup('<g class="wrong">{}</g>').format(
            _signs(places[wrong], "M{x} {y}m-17 0a17 17 0 1 0 34 0a17 17 0 1 0-34 0")
        ),
    ]
    titles = [f"{round(100 * low)} % or more" for low in CONFIDENCE_STEPS[:-1]]
    titles.append(f"below {round(100 * CONFIDENCE_STEPS[-2])} %")
    return NodeMap(
        shown,
        places,
        height,
        Markup("").join(layers),
        [Step(title, int(np.count_nonzero(plain & (confidence == step)))) for step, title in enumerate(titles)],
        [
            Step(_quintile_title(step, edges), int(np.count_nonzero(plain & (distance == step))))
            for step in range(STEPS)
        ],
    )


def _fit(coordinates: NDArray[np.float32]) -> tuple[NDArray[np.int64], int]:
    """Return whole coordinates inside the drawing, the longer extent horizontal, and its height."""
    is_wide = np.ptp(coordinates[:, 0]) >= np.ptp(coordinates[:, 1])
    turned = coordinates if is_wide else coordinates[:, ::-1]
    low, extent = turned.min(axis=0), np.maximum(np.ptp(turned, axis=0), 1e-9)
    scale = (SIDE - 2 * MARGIN) / extent[0]
    height = int(np.clip(round(extent[1] * scale) + 2 * MARGIN, MIN_ASPECT * SIDE, SIDE))
    shift = np.array([MARGIN, (height - extent[1] * scale) / 2])
    return np.rint((turned - low) * scale + shift).astype(np.int64), height


def _quintiles(context: ReportContext) -> NDArray[np.float64]:
    """Return the quintiles of the distances of the unlabelled nodes."""
    open_ = context.covered.distances[context.labelled == UNKNOWN]
    shares = np.arange(1, STEPS) / STEPS
    return np.quantile(open_, shares) if open_.size else np.zeros(STEPS - 1)


def _quintile_title(step: int, edges: NDArray[np.float64]) -> str:
    if step == 0:
        return f"nearest fifth, up to {edges[0]:.3g}"
    if step == STEPS - 1:
        return f"farthest fifth, beyond {edges[-1]:.3g}"
    return f"up to {edges[step]:.3g}"


def _layer(name: str, paths: Iterable[Markup]) -> Markup:
    return Markup('<g class="layer-{}">{}</g>').format(name, Markup("").join(paths))


def _class_style(code: int) -> str:
    colour, mark = class_mark(code)
    return f"c{colour} {mark}"


def _dots(places: NDArray[np.int64], style: str, code: int | None = None) -> Markup:
    """Draw dots; rings and frames are dots with a smaller one in the colour of the paper on top."""
    if not len(places):
        return Markup("")
    strokes = "".join(f"M{x} {y}h0" for x, y in places.tolist())
    named = Markup("") if code is None else Markup(' data-class="{}"').format(code)
    path = Markup('<path class="dots {}"{} d="{}"/>').format(style, named, strokes)
    if style.endswith(("ring", "frame")):
        path += Markup('<path class="dots {} hole"{} d="{}"/>').format(style, named, strokes)
    return path


def _labels(places: NDArray[np.int64], code: int) -> Markup:
    """Draw labels as large dots with a rim."""
    strokes = "".join(f"M{x} {y}h0" for x, y in places.tolist())
    colour, mark = class_mark(code)
    cap = "square" if mark in ("square", "frame") else "round"
    paths = [Markup('<path class="{} {}" d="{}"/>').format(rim, cap, strokes) for rim in ("halo", "rim")]
    paths.append(Markup('<path class="label c{} {}" d="{}"/>').format(colour, cap, strokes))
    if mark in ("ring", "frame"):
        paths.append(Markup('<path class="label {} hole" d="{}"/>').format(cap, strokes))
    return Markup('<g data-class="{}">{}</g>').format(code, Markup("").join(paths))


def _signs(places: NDArray[np.int64], form: str) -> Markup:
    if not len(places):
        return Markup("")
    return Markup('<path d="{}"/>').format("".join(form.format(x=x, y=y) for x, y in places.tolist()))


def sample_nodes(
    n_nodes: int, labelled: NDArray[np.intp], listed: Sequence[int], seed: int = 0, max_nodes: int = MAX_NODES
) -> NDArray[np.intp]:
    """Return the sorted positions of the nodes to draw."""
    if n_nodes <= max_nodes:
        return np.arange(n_nodes)
    generator = np.random.default_rng([seed, n_nodes])
    limit = MAX_LABELLED * max_nodes // MAX_NODES
    kept = generator.choice(labelled, limit, replace=False) if len(labelled) > limit else labelled
    wanted = np.unique(np.concatenate([kept, np.asarray(listed, dtype=np.intp)]))
    room = max(0, max_nodes - len(wanted))
    others = np.setdiff1d(np.arange(n_nodes), np.concatenate([wanted, labelled]))
    return np.sort(np.concatenate([wanted, generator.choice(others, min(room, len(others)), replace=False)]))
