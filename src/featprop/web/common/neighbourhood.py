"""The neighbours of a node: by name, as counts of their classes, and as a drawing.

A node may have a million neighbours; a page shows up to forty. Labelled neighbours come first, then those the node
represents, then the heaviest edges. Ties are broken by a random order that depends only on the seed and the node, so
the choice stays the same between visits. The counts are about all neighbours.

Squares are labelled, circles predicted; each has the colour and the abbreviation of its class, so nothing depends on
colour alone. The SVG has no style and no script: `palette.class_stylesheet` has the rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from featprop.graph import UNKNOWN, Graph
from featprop.web.common.card import node_title
from featprop.web.common.features import Picture
from featprop.web.common.formatting import clean_line
from featprop.web.common.palette import abbreviate_classes, class_css

MAX_NEIGHBOURS = 40
MAX_NAME_CHARS = 200
SIZE, RING_RADIUS, STAGGER = 400, 158, 16
"""Side of the drawing, radius of the ring, and how far every other node of a crowded ring moves in and out."""
MAX_UNCROWDED = 24
"""Neighbours on a ring without stagger."""
MAX_LINKS = 30
"""Edges between neighbours that are drawn; more would hide the nodes."""
MIN_STROKE, MAX_STROKE = 1.2, 4.5


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
    represented: bool = False  # whether the node was selected to represent it


@dataclass(frozen=True)
class ClassCount:
    """Number of all neighbours of a class, by label and by prediction."""

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
    shown: tuple[Neighbour, ...]  # neighbours shown, labelled ones first
    counts: tuple[ClassCount, ...]  # classes of all neighbours, most frequent first
    links: tuple[tuple[int, int], ...]  # edges between neighbours shown, as pairs of positions

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
    represented: Collection[int] = (),
    classes: Sequence[str] = (),
    link: Callable[[int], str] = str,
    limit: int = MAX_NEIGHBOURS,
    seed: int = 0,
) -> Neighbourhood:
    """Return the neighbourhood of a node.

    Parameters
    ----------
    graph
        The graph.
    position
        Position of the node.
    labels
        Class code of each node, -1 without a label.
    predictions
        Predicted class code of each node, -1 without a prediction; None without a model.
    represented
        Positions of the nodes that the node was selected to represent.
    classes
        Names of the classes.
    link
        Returns the address of a node.
    limit
        Maximum number of neighbours shown.
    seed
        Seed of the order of neighbours that are alike.
    """
    nodes, weights = _row(graph, position)
    labelled = np.asarray(labels[nodes], dtype=np.int64)
    predicted = np.full(len(nodes), UNKNOWN) if predictions is None else np.asarray(predictions[nodes], dtype=np.int64)
    predicted = np.where(labelled == UNKNOWN, predicted, UNKNOWN)
    is_represented = np.isin(nodes, np.fromiter(represented, np.int64, len(represented)))
    chance = np.random.default_rng([seed, position]).random(len(nodes))
    chosen = np.lexsort((chance, -weights, ~is_represented, labelled == UNKNOWN))[:limit]
    order = chosen[np.lexsort((-weights[chosen], labelled[chosen] == UNKNOWN))]
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
            represented=bool(is_represented[place]),
        )

    own = None if labels[position] == UNKNOWN else int(labels[position])
    return Neighbourhood(
        title=clean_line(node_title(graph, position), MAX_NAME_CHARS),
        mark="?" if own is None else marks[own],
        style=class_css(own),
        total=len(nodes),
        shown=tuple(map(neighbour, order.tolist())),
        counts=tuple(_count_classes(labelled, predicted, classes, marks)),
        links=tuple(_links(graph, nodes[order])),
    )


def _row(graph: Graph, position: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted neighbours of a node and the weights of the edges to them."""
    entries = slice(graph.adjacency.indptr[position], graph.adjacency.indptr[position + 1])
    return graph.adjacency.indices[entries], graph.adjacency.data[entries]


def _count_classes(
    labelled: NDArray[np.int64], predicted: NDArray[np.int64], classes: Sequence[str], marks: Sequence[str]
) -> Iterator[ClassCount]:
    """Yield the classes of the neighbours, most frequent first, and those without a class last."""
    by_label = np.bincount(labelled[labelled != UNKNOWN], minlength=len(classes))
    by_prediction = np.bincount(predicted[predicted != UNKNOWN], minlength=len(classes))
    for code in np.argsort(-(by_label + by_prediction), kind="stable").tolist():
        if by_label[code] + by_prediction[code]:
            counts = int(by_label[code]), int(by_prediction[code])
            yield ClassCount(clean_line(classes[code]), marks[code], class_css(code), *counts)
    rest = len(labelled) - int(by_label.sum() + by_prediction.sum())
    if rest:
        yield ClassCount("unlabelled", "", class_css(None), 0, rest)


def _links(graph: Graph, shown: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield the edges between the neighbours shown, once each."""
    for one in sorted(shown.tolist()):
        nodes, _ = _row(graph, one)
        yield from ((one, other) for other in np.intersect1d(nodes, shown).tolist() if other > one)


def draw_class_bar(neighbourhood: Neighbourhood) -> Markup:
    """Return one bar over all neighbours, in the colours of their classes; predictions are paler than labels."""
    parts, start = [], 0
    for each in neighbourhood.counts:
        for count, how in ((each.labelled, "labelled"), (each.predicted, "predicted")):
            if count:
                x, width = (100 * part / neighbourhood.total for part in (start, count))
                parts.append(f'<rect class="{each.style} neighbour-{how}" x="{x:.2f}" width="{width:.2f}" height="8"/>')
                start += count
    text = ", ".join(f"{each.name} {each.count:,}" for each in neighbourhood.counts)
    return Markup(
        '<svg class="class-bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" '
        f'aria-label="Classes of all neighbours: {escape(text)}">{"".join(parts)}</svg>'
    )


@dataclass(frozen=True)
class _Spot:
    """A neighbour and its place in the drawing."""

    neighbour: Neighbour
    x: float
    y: float


def draw_neighbourhood(neighbourhood: Neighbourhood, pictures: Callable[[int], Picture | None] | None = None) -> Markup:
    """Return the node in the middle of a ring of its neighbours, sorted by class, as an SVG element."""
    middle, spots = SIZE / 2, _place(neighbourhood)
    heaviest = max((each.weight for each in neighbourhood.shown), default=1.0) or 1.0
    ring = 2 * math.pi * RING_RADIUS / max(len(spots), 1)
    radius = min(20.0, max(9.0, 0.4 * ring * (2 if len(spots) > MAX_UNCROWDED else 1)))
    lines = []
    for spot in spots:
        width = 1.6
        if neighbourhood.is_weighted:
            width = MIN_STROKE + (MAX_STROKE - MIN_STROKE) * spot.neighbour.weight / heaviest
        lines.append(
            f'<line class="neighbour-edge" x1="{middle}" y1="{middle}" x2="{spot.x:.1f}" y2="{spot.y:.1f}" '
            f'stroke-width="{width:.1f}"/>'
        )
    by_position = {spot.neighbour.position: spot for spot in spots}
    pairs = neighbourhood.links if len(neighbourhood.links) <= MAX_LINKS else ()
    bows = [_draw_link(by_position[one], by_position[other]) for one, other in pairs]
    marks = [_draw_neighbour(spot, radius, pictures and pictures(spot.neighbour.position)) for spot in spots]
    state = "neighbour-unknown" if neighbourhood.mark == "?" else "neighbour-labelled"
    centre = (
        f'<g class="neighbour-centre {neighbourhood.style} {state}">'
        f'<circle class="neighbour-shape" cx="{middle}" cy="{middle}" r="22"/>'
        f'<text class="neighbour-mark" x="{middle}" y="{middle + 6}">{escape(neighbourhood.mark)}</text></g>'
    )
    label = f"Drawing of {neighbourhood.title} and {len(spots):,} of its {neighbourhood.total:,} neighbours"
    return Markup(
        f'<svg class="neighbourhood" viewBox="0 0 {SIZE} {SIZE}" role="group" tabindex="0" '
        f'aria-label="{escape(label)}" aria-description="Arrow keys move between the neighbours, Enter opens one.">'
        f"{''.join([*bows, *lines, *marks, centre])}</svg>"
    )


def _place(neighbourhood: Neighbourhood) -> list[_Spot]:
    """Place the neighbours clockwise from the top by class, labelled ones first within a class."""
    ordered = sorted(
        neighbourhood.shown, key=lambda each: (each.code is None, each.code or 0, each.how != "labelled", each.position)
    )
    spots = []
    for place, neighbour in enumerate(ordered):
        angle = 2 * math.pi * place / len(ordered) - math.pi / 2
        stagger = STAGGER * (-1 if place % 2 else 1) if len(ordered) > MAX_UNCROWDED else 0
        distance = RING_RADIUS + stagger
        spots.append(_Spot(neighbour, SIZE / 2 + distance * math.cos(angle), SIZE / 2 + distance * math.sin(angle)))
    return spots


def _draw_link(one: _Spot, other: _Spot) -> str:
    """Join two neighbours by a line that bends towards the centre."""
    x, y = (0.7 * (a + b) / 2 + 0.3 * SIZE / 2 for a, b in ((one.x, other.x), (one.y, other.y)))
    path = f"M{one.x:.1f} {one.y:.1f}Q{x:.1f} {y:.1f} {other.x:.1f} {other.y:.1f}"
    return f'<path class="neighbour-link" d="{path}"/>'


def _draw_neighbour(spot: _Spot, radius: float, picture: Picture | None) -> str:
    """Return a link with a shape, the abbreviation of the class or a picture, and a tooltip."""
    neighbour = spot.neighbour
    is_square = neighbour.how == "labelled" or picture is not None
    title = f"{neighbour.name}; {f'{neighbour.how} {neighbour.label}' if neighbour.how else 'unlabelled'}"
    title += "; represented by this node" if neighbour.represented else ""
    parts = [_draw_shape(spot, radius + 4, "neighbour-represented", is_square)] if neighbour.represented else []
    parts.append(_draw_shape(spot, radius, "neighbour-shape", is_square))
    if picture is None:
        mark = escape(neighbour.mark)
        parts.append(f'<text class="neighbour-mark" x="{spot.x:.1f}" y="{spot.y + 4:.1f}">{mark}</text>')
    else:
        side = 1.8 * radius - 4
        corner = f'x="{spot.x - side / 2:.1f}" y="{spot.y - side / 2:.1f}"'
        parts.append(picture.svg(f'{corner} width="{side:.1f}" height="{side:.1f}"'))
    return (
        f'<a class="{neighbour.style} neighbour-{neighbour.how or "unknown"}" href="{escape(neighbour.address)}" '
        f'data-node="{neighbour.position}" tabindex="-1"><title>{escape(title)}</title>{"".join(parts)}</a>'
    )


def _draw_shape(spot: _Spot, radius: float, name: str, is_square: bool) -> str:
    if is_square:
        side = 1.8 * radius
        corner = f'x="{spot.x - side / 2:.1f}" y="{spot.y - side / 2:.1f}"'
        return f'<rect class="{name}" {corner} width="{side:.1f}" height="{side:.1f}" rx="3"/>'
    return f'<circle class="{name}" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{radius:.1f}"/>'
