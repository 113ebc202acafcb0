"""The map as SVG that needs no script: dots by class, by confidence and by distance, labels, doubts.

A dot is a stroke of no length with a round end, so a path a colour draws thousands of nodes in a few kilobytes, and a
style sheet says how large they are. From the eleventh class on the ten colours come again with another mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.graph import UNKNOWN
from featprop.web.drawing.palette import DIGITS
from featprop.web.report.lists import Listed
from featprop.web.report.subject import Subject

__all__ = ["MARKS", "NodeMap", "Step", "class_mark", "drawn_map"]

SIDE, MARGIN = 1000, 24
"""The longer side of the map, and the room around it."""
FLATTEST = 0.6
"""The shorter side is at least that share of the longer one."""
MARKS = ("round", "square", "ring", "frame")
"""What nodes of a class are drawn as: the first ten classes, the next ten, and so on."""
SURE = (0.95, 0.8, 0.6, 0.4, 0.0)
"""Confidence in steps, the surest first; a step is from this number up."""
STEPS = 5


@dataclass(frozen=True)
class Step:
    """A step of a scale: what it is called and how many nodes on the map are in it."""

    title: str
    count: int


@dataclass(frozen=True, eq=False)
class NodeMap:
    """A map of some nodes.

    Attributes
    ----------
    shown
        The positions of the nodes on it, in order.
    places
        Where each is, in whole units.
    height
        Of the picture, which is `SIDE` wide.
    svg
        What is inside the picture.
    sure, far
        The steps of confidence and of distance, from nothing to worry about to most.
    """

    shown: NDArray[np.intp]
    places: NDArray[np.int64]
    height: int
    svg: Markup
    sure: list[Step]
    far: list[Step]

    def index_of(self, position: int) -> int | None:
        """Return which node of the map a node of the graph is, None if it is not on it."""
        place = int(np.searchsorted(self.shown, position))
        return place if place < len(self.shown) and self.shown[place] == position else None


def class_mark(code: int) -> tuple[int, str]:
    """Return the number of the colour of a class, and its mark."""
    return code % len(DIGITS), MARKS[code // len(DIGITS) % len(MARKS)]


def drawn_map(
    subject: Subject, shown: NDArray[np.intp], laid_out: NDArray[np.float32], lists: Sequence[Listed]
) -> NodeMap:
    """Draw the map.

    Parameters
    ----------
    subject
        What the report is about.
    shown
        The positions of the nodes on it, in order.
    laid_out
        Where each is, in any units.
    lists
        What to distrust.
    """
    places, height = _fitted(laid_out)
    label, checked = subject.labelled[shown], subject.audited[shown] != UNKNOWN
    plain = label == UNKNOWN
    classes = subject.known[shown]
    wrong = np.isin(shown, [position for each in lists if each.key == "wrong_labels" for position in each.positions])
    doubtful = np.isin(shown, [position for each in lists for position in each.positions]) & ~wrong
    sure = np.searchsorted(-np.array(SURE), -subject.confidence[shown])
    sure = np.minimum(sure, STEPS - 1)
    edges = _fifths(subject)
    far = np.searchsorted(edges, subject.covered.distances[shown], side="left")
    codes = np.unique(classes[plain]).tolist()
    layers = [
        _layer("class", [_dots(places[plain & (classes == code)], _class_style(code), code) for code in codes]),
        _layer("sure", [_dots(places[plain & (sure == step)], f"worry-{step}") for step in range(STEPS)]),
        _layer("far", [_dots(places[plain & (far == step)], f"worry-{step}") for step in range(STEPS)]),
        Markup('<g class="doubts">{}</g>').format(_crosses(places[doubtful])),
        Markup('<g class="checked">{}</g>').format(_squares(places[checked])),
        _layer("labels", [_labels(places[label == code], code) for code in np.unique(label[~plain]).tolist()]),
        Markup('<g class="wrong">{}</g>').format(_rings(places[wrong])),
    ]
    titles = [f"{round(100 * low)} % or more" for low in SURE[:-1]] + [f"below {round(100 * SURE[-2])} %"]
    return NodeMap(
        shown,
        places,
        height,
        Markup("").join(layers),
        [Step(title, int(np.count_nonzero(plain & (sure == step)))) for step, title in enumerate(titles)],
        [Step(_fifth_title(step, edges), int(np.count_nonzero(plain & (far == step)))) for step in range(STEPS)],
    )


def _fitted(laid_out: NDArray[np.float32]) -> tuple[NDArray[np.int64], int]:
    """Return places in whole units inside the picture, the longer extent across, and how high it is."""
    turned = laid_out if np.ptp(laid_out[:, 0]) >= np.ptp(laid_out[:, 1]) else laid_out[:, ::-1]
    low, extent = turned.min(axis=0), np.maximum(np.ptp(turned, axis=0), 1e-9)
    scale = (SIDE - 2 * MARGIN) / extent[0]
    height = int(np.clip(round(extent[1] * scale) + 2 * MARGIN, FLATTEST * SIDE, SIDE))
    shift = np.array([MARGIN, (height - extent[1] * scale) / 2])
    return np.rint((turned - low) * scale + shift).astype(np.int64), height


def _fifths(subject: Subject) -> NDArray[np.float64]:
    """Return four distances between which a fifth each of the nodes without a label lies."""
    open_ = subject.covered.distances[subject.labelled == UNKNOWN]
    shares = np.arange(1, STEPS) / STEPS
    return np.quantile(open_, shares) if open_.size else np.zeros(STEPS - 1)


def _fifth_title(step: int, edges: NDArray[np.float64]) -> str:
    if step == 0:
        return f"the nearest fifth, up to {edges[0]:.3g}"
    if step == STEPS - 1:
        return f"the farthest fifth, beyond {edges[-1]:.3g}"
    return f"up to {edges[step]:.3g}"


def _layer(name: str, paths: Iterable[Markup]) -> Markup:
    return Markup('<g class="layer-{}">{}</g>').format(name, Markup("").join(paths))


def _class_style(code: int) -> str:
    colour, mark = class_mark(code)
    return f"c{colour} {mark}"


def _dots(places: NDArray[np.int64], style: str, code: int | None = None) -> Markup:
    """Draw dots of one look; rings and frames are dots with a smaller one of paper on top."""
    if not len(places):
        return Markup("")
    strokes = "".join(f"M{x} {y}h0" for x, y in places.tolist())
    named = Markup("") if code is None else Markup(' data-class="{}"').format(code)
    path = Markup('<path class="dots {}"{} d="{}"/>').format(style, named, strokes)
    if style.endswith(("ring", "frame")):
        path += Markup('<path class="dots {} hole"{} d="{}"/>').format(style, named, strokes)
    return path


def _labels(places: NDArray[np.int64], code: int) -> Markup:
    """Draw labels: a large dot in a rim of ink and one of paper."""
    strokes = "".join(f"M{x} {y}h0" for x, y in places.tolist())
    colour, mark = class_mark(code)
    cap = "square" if mark in ("square", "frame") else "round"
    paths = [Markup('<path class="{} {}" d="{}"/>').format(rim, cap, strokes) for rim in ("halo", "rim")]
    paths.append(Markup('<path class="label c{} {}" d="{}"/>').format(colour, cap, strokes))
    if mark in ("ring", "frame"):
        paths.append(Markup('<path class="label {} hole" d="{}"/>').format(cap, strokes))
    return Markup('<g data-class="{}">{}</g>').format(code, Markup("").join(paths))


def _crosses(places: NDArray[np.int64]) -> Markup:
    return _signs(places, "M{x} {y}m-5-5l10 10m0-10l-10 10")


def _squares(places: NDArray[np.int64]) -> Markup:
    return _signs(places, "M{x} {y}m-8-8h16v16h-16z")


def _rings(places: NDArray[np.int64]) -> Markup:
    return _signs(places, "M{x} {y}m-17 0a17 17 0 1 0 34 0a17 17 0 1 0-34 0")


def _signs(places: NDArray[np.int64], form: str) -> Markup:
    if not len(places):
        return Markup("")
    return Markup('<path d="{}"/>').format("".join(form.format(x=x, y=y) for x, y in places.tolist()))
