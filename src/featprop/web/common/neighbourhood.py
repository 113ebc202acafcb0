"""The neighbours of a node: by name, as counts of their classes, and as a drawing.

A node may have a million neighbours; a page shows up to forty. Labelled neighbours come first, then the heaviest edges,
then the order of the nodes. The counts are about all neighbours.

Squares are labelled, circles predicted; each has the colour and the abbreviation of its class, so nothing depends on
colour alone. The SVG has no style and no script: `palette.class_stylesheet` has the rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.graph import UNKNOWN, Graph
from featprop.web.common.card import node_title
from featprop.web.common.features import Picture
from featprop.web.common.formatting import clean_line
from featprop.web.common.palette import abbreviate_classes, class_css
from featprop.web.common.templates import render_template

MAX_NEIGHBOURS = 40
MAX_NAME_CHARS = 200
SIZE, RING_RADIUS, STAGGER = 400, 158, 16
"""Side of the drawing, radius of the ring, and how far every other node of a crowded ring moves in and out."""
MAX_UNCROWDED = 24
"""Neighbours on a ring without stagger."""
MAX_LINKS = 30
"""Edges between neighbours that are drawn; more would hide the nodes."""
MIN_STROKE, MAX_STROKE, EQUAL_STROKE = 1.2, 4.5, 1.6
"""Width of the lightest and the heaviest edge, and of edges of one weight."""


@dataclass(frozen=True)
class Neighbour:
    """A neighbour shown on a page."""

    position: int  # position in the graph, name, and address of its page
    name: str
    address: str
    weight: float  # weight of the edge, as in the table of edges
    code: int | None = None  # class code by label, else by prediction
    how: str = ""  # ``"labelled"``, ``"predicted"``, or empty
    label: str = ""  # name, abbreviation and CSS class of its class
    mark: str = ""
    style: str = "class-none"


@dataclass(frozen=True)
class ClassCount:
    """Number of all neighbours of a class, by label and by prediction."""

    code: int | None  # class code, None for neighbours without label and prediction
    name: str  # class, ``"unlabelled"`` for neighbours without label and prediction
    mark: str
    style: str
    labelled: int
    predicted: int

    @property
    def count(self) -> int:
        """Number of neighbours."""
        return self.labelled + self.predicted


@dataclass(frozen=True)
class Neighbourhood:
    """A node and its neighbours."""

    title: str  # name of the node, and its mark and CSS class, or "?" without a label
    mark: str
    style: str
    total: int  # number of neighbours
    shown: list[Neighbour]  # neighbours shown, labelled ones first
    counts: list[ClassCount]  # classes of all neighbours, most frequent first
    links: list[tuple[int, int]]  # edges between neighbours shown, as pairs of positions

    @property
    def is_weighted(self) -> bool:
        """Whether the weights of the neighbours shown differ."""
        return len({each.weight for each in self.shown}) > 1


def find_neighbourhood(
    graph: Graph,
    position: int,
    *,
    labels: NDArray[Any],
    predictions: NDArray[Any] | None = None,
    classes: Sequence[str] = (),
    link: Callable[[int], str] = str,
    limit: int = MAX_NEIGHBOURS,
) -> Neighbourhood:
    """Return the neighbourhood of a node.

    `labels` and `predictions` have the class code of each node, -1 for none; `link` returns the address of a node.
    """
    entries = slice(graph.adjacency.indptr[position], graph.adjacency.indptr[position + 1])
    nodes, weights = graph.adjacency.indices[entries], graph.adjacency.data[entries]
    labelled = np.asarray(labels[nodes], dtype=np.int64)
    predicted = np.full(len(nodes), UNKNOWN) if predictions is None else np.asarray(predictions[nodes], dtype=np.int64)
    predicted = np.where(labelled == UNKNOWN, predicted, UNKNOWN)
    order = np.lexsort((-weights, labelled == UNKNOWN))[:limit]
    marks, scale = abbreviate_classes(classes), graph.weight_scale or 1.0

    def neighbour(place: int) -> Neighbour:
        node, code = int(nodes[place]), int(max(labelled[place], predicted[place]))
        known = code != UNKNOWN
        return Neighbour(
            position=node,
            name=clean_line(node_title(graph, node), MAX_NAME_CHARS),
            address=link(node),
            weight=float(weights[place]) * scale,
            code=code if known else None,
            how="" if not known else "predicted" if labelled[place] == UNKNOWN else "labelled",
            label=clean_line(classes[code]) if known else "",
            mark=marks[code] if known else "",
            style=class_css(code if known else None),
        )

    own = None if labels[position] == UNKNOWN else int(labels[position])
    return Neighbourhood(
        title=clean_line(node_title(graph, position), MAX_NAME_CHARS),
        mark="?" if own is None else marks[own],
        style=class_css(own),
        total=len(nodes),
        shown=[neighbour(place) for place in order.tolist()],
        counts=list(_count_classes(labelled, predicted, classes, marks)),
        links=_links(graph, nodes[order]),
    )


def _count_classes(
    labelled: NDArray[np.int64], predicted: NDArray[np.int64], classes: Sequence[str], marks: Sequence[str]
) -> Iterator[ClassCount]:
    """Yield the classes of the neighbours, most frequent first, and those without a class last."""
    by_label = np.bincount(labelled[labelled != UNKNOWN], minlength=len(classes))
    by_prediction = np.bincount(predicted[predicted != UNKNOWN], minlength=len(classes))
    for code in np.argsort(-(by_label + by_prediction), kind="stable").tolist():
        if by_label[code] + by_prediction[code]:
            counts = int(by_label[code]), int(by_prediction[code])
            yield ClassCount(code, clean_line(classes[code]), marks[code], class_css(code), *counts)
    rest = len(labelled) - int(by_label.sum() + by_prediction.sum())
    if rest:
        yield ClassCount(None, "unlabelled", "", class_css(None), 0, rest)


def _links(graph: Graph, shown: NDArray[Any]) -> list[tuple[int, int]]:
    """Return the edges between the neighbours shown, once each."""
    nodes = np.sort(shown)
    one, other = sp.triu(graph.adjacency[nodes][:, nodes], k=1, format="csr").nonzero()
    return list(zip(nodes[one].tolist(), nodes[other].tolist(), strict=True))


def draw_neighbourhood(neighbourhood: Neighbourhood, pictures: Callable[[int], Picture | None] | None = None) -> Markup:
    """Return the node in the middle of a ring of its neighbours, sorted by class, as an SVG element.

    The neighbours go clockwise from the top, labelled ones first within a class.
    """
    shown = sorted(
        neighbourhood.shown, key=lambda each: (each.code is None, each.code or 0, each.how != "labelled", each.position)
    )
    is_crowded = len(shown) > MAX_UNCROWDED
    gap = 2 * math.pi * RING_RADIUS / max(len(shown), 1)
    places, strokes = {}, {}
    heaviest = max((each.weight for each in shown), default=1.0) or 1.0
    for number, each in enumerate(shown):
        angle = 2 * math.pi * number / len(shown) - math.pi / 2
        distance = RING_RADIUS + is_crowded * (-STAGGER if number % 2 else STAGGER)
        places[each.position] = SIZE / 2 + distance * math.cos(angle), SIZE / 2 + distance * math.sin(angle)
        share = each.weight / heaviest
        width = MIN_STROKE + (MAX_STROKE - MIN_STROKE) * share if neighbourhood.is_weighted else EQUAL_STROKE
        strokes[each.position] = f"{width:.1f}"
    return render_template(
        "web/common/neighbourhood.html.j2",
        around=neighbourhood,
        shown=shown,
        places=places,
        strokes=strokes,
        links=neighbourhood.links if len(neighbourhood.links) <= MAX_LINKS else (),
        pictures=pictures or (lambda _: None),
        radius=round(min(20.0, max(9.0, 0.4 * gap * (1 + is_crowded))), 1),
        size=SIZE,
    )
