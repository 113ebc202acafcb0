"""Draw the neighbourhood of a node as SVG, and describe it as table rows and a legend.

The node is in the middle, its neighbours are on a ring around it, sorted by class, and their neighbours outside.
Squares are labelled, circles predicted; each has the colour and the abbreviation of its class, so nothing depends on
colour alone. The SVG has no style and no script: `class_marks.drawing_stylesheet` has the rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from featprop.web.common.class_marks import abbreviate_classes, class_css
from featprop.web.common.features import Picture
from featprop.web.common.formatting import clean_text
from featprop.web.common.neighbourhood import Neighbour, Neighbourhood

SIZE = 400
MIDDLE = SIZE / 2
INNER_RADIUS = 112
"""Radius of the first ring inside a second one."""
SINGLE_RADIUS = 140
"""Radius of the first ring without a second one."""
NAMED_RADIUS = 98
"""Radius of the first ring with names."""
OUTER_RADIUS = 176
STAGGER = 17
"""Offset of every other node on a crowded ring, inwards and outwards."""
MAX_UNCROWDED = 24
"""Neighbours on a ring without stagger."""
MAX_NAMED = 8
"""Neighbours whose names are drawn."""
MAX_LINKS = 30
"""Edges between neighbours that are drawn; more would hide the nodes."""
MAX_NAME_CHARS, MAX_TITLE_CHARS = 14, 200
MIN_STROKE, MAX_STROKE, MAX_CROWDED_STROKE = 1.2, 5.0, 3.0
MAX_ANGLE = 0.24
"""Angle between two nodes of the second ring."""
MARGIN = 14


@dataclass(frozen=True)
class _Spot:
    """A neighbour and its place in the drawing."""

    neighbour: Neighbour
    x: float
    y: float
    angle: float
    radius: float


def draw_neighbourhood(
    neighbourhood: Neighbourhood,
    names: Callable[[int], str],
    classes: Sequence[str],
    link: Callable[[int], str],
    pictures: Callable[[int], Picture | None] | None = None,
) -> str:
    """Return the drawing as an SVG element."""
    return _Drawing(neighbourhood, names, classes, link, pictures).svg()


def _escape(text: str, max_chars: int | None = None) -> str:
    """Return text escaped for markup and attributes."""
    return escape(" ".join(clean_text(text, max_chars).split()), quote=True)


class _Drawing:
    def __init__(
        self,
        neighbourhood: Neighbourhood,
        names: Callable[[int], str],
        classes: Sequence[str],
        link: Callable[[int], str],
        pictures: Callable[[int], Picture | None] | None,
    ) -> None:
        self.neighbourhood, self.names, self.link, self.pictures = neighbourhood, names, link, pictures
        self.classes, self.marks = classes, abbreviate_classes(classes)
        weights = [each.weight for each in (*neighbourhood.first, *neighbourhood.second)]
        self.max_weight = max(weights, default=1.0) or 1.0
        self.is_unweighted = min(weights, default=1.0) == self.max_weight
        count = len(self.neighbourhood.first)
        self.sector = 2 * math.pi / max(count + count % 2 if count > MAX_UNCROWDED else count, 1)
        self.is_pictured = pictures is not None and pictures(self.neighbourhood.centre) is not None
        self.is_named = count <= MAX_NAMED and not self.is_pictured
        self.first = self._first_ring()
        self.second = self._second_ring()

    def svg(self) -> str:
        spots = {spot.neighbour.position: spot for spot in (*self.first, *self.second)}
        twigs = [self._line("neighbour-twig", spots[child.neighbour.parent or 0], child) for child in self.second]
        edges = [self._line("neighbour-edge", None, spot) for spot in self.first]
        drawn = self.neighbourhood.links if len(self.neighbourhood.links) <= MAX_LINKS else ()
        links = [self._bow(spots[a], spots[b]) for a, b in drawn]
        marks = [self._node(spot) for ring in (self.second, self.first) for spot in ring]
        named = [self._name(spot) for spot in self.first] if self.is_named else []
        alone = (
            [] if self.first else [f'<text class="neighbour-name" x="{MIDDLE}" y="{MIDDLE + 40}">No neighbours</text>']
        )
        label = _escape(
            f"{self.names(self.neighbourhood.centre)} and its neighbours: {self.neighbourhood.shown}", MAX_TITLE_CHARS
        )
        body = "".join([*twigs, *links, *edges, *marks, self._centre(), *named, *alone])
        top, bottom = self._extent()
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="neighbourhood" viewBox="0 {top} {SIZE} {bottom - top}" '
            f'role="group" aria-label="{label}">{body}</svg>'
        )

    def _extent(self) -> tuple[int, int]:
        """Return the top and bottom of the drawing."""
        heights = [spot.y for spot in (*self.first, *self.second)]
        tops, bottoms = min([MIDDLE - 34, *heights]), max([MIDDLE + 40, *heights])
        return max(0, round(tops - MARGIN)), min(SIZE, round(bottoms + MARGIN + (20 if self.is_named else 0)))

    def _first_ring(self) -> list[_Spot]:
        """Place the neighbours clockwise from the top; two are left and right, and a crowded ring is even."""
        count = len(self.neighbourhood.first)
        crowded = count > MAX_UNCROWDED
        ring = SINGLE_RADIUS if not self.neighbourhood.second else NAMED_RADIUS if self.is_named else INNER_RADIUS
        each = 2 * math.pi * (ring - STAGGER) / count * 2 if crowded else 2 * math.pi * ring / max(count, 1)
        radius = min(19.0, max(8.0, (0.36 if self.is_pictured else 0.4) * each))
        start = 0.0 if count <= 2 else -math.pi / 2
        moved = (-STAGGER, STAGGER) if crowded else (0, 0)
        return [
            _spot(neighbour, start + self.sector * place, ring + moved[place % 2], radius)
            for place, neighbour in enumerate(self.neighbourhood.first)
        ]

    def _second_ring(self) -> list[_Spot]:
        families = [
            (parent, [child for child in self.neighbourhood.second if child.parent == parent.neighbour.position])
            for parent in self.first
        ]
        step = min(MAX_ANGLE, self.sector / max([1, *(len(children) for _, children in families)]))
        radius = min(8.0, max(3.6, OUTER_RADIUS * step / 2 - 1))
        return [
            _spot(child, parent.angle + step * (place - (len(children) - 1) / 2), OUTER_RADIUS, radius)
            for parent, children in families
            for place, child in enumerate(children)
        ]

    def _width(self, weight: float) -> str:
        thickest = MAX_CROWDED_STROKE if len(self.first) > MAX_UNCROWDED else MAX_STROKE
        width = 1.6 if self.is_unweighted else MIN_STROKE + (thickest - MIN_STROKE) * weight / self.max_weight
        return f"{width:.1f}"

    def _line(self, style: str, parent: _Spot | None, spot: _Spot) -> str:
        x, y = (MIDDLE, MIDDLE) if parent is None else (parent.x, parent.y)
        return (
            f'<line class="{style}" x1="{x:.1f}" y1="{y:.1f}" x2="{spot.x:.1f}" y2="{spot.y:.1f}" '
            f'stroke="currentColor" stroke-width="{self._width(spot.neighbour.weight)}"/>'
        )

    def _bow(self, one: _Spot, other: _Spot) -> str:
        """Join two neighbours by a line that bends towards the centre."""
        x, y = (
            MIDDLE + 0.7 * ((one_end + other_end) / 2 - MIDDLE)
            for one_end, other_end in ((one.x, other.x), (one.y, other.y))
        )
        return (
            f'<path class="neighbour-link" d="M{one.x:.1f} {one.y:.1f}Q{x:.1f} {y:.1f} {other.x:.1f} {other.y:.1f}" '
            f'fill="none" stroke="currentColor" stroke-width="1"/>'
        )

    def _node(self, spot: _Spot) -> str:
        """Return the mark of a neighbour: a link with a shape, the abbreviation of its class and a tooltip."""
        neighbour, r = spot.neighbour, spot.radius
        is_labelled, is_first = neighbour.label is not None, neighbour.parent is None
        picture = self.pictures(neighbour.position) if self.pictures is not None and is_first else None
        size = r if is_first or not is_labelled else max(r, 4.5)
        shape = _shape(spot.x, spot.y, size, square=is_labelled or picture is not None, name="neighbour-shape")
        around = _shape(
            spot.x, spot.y, size + 3.5, square=is_labelled or picture is not None, name="neighbour-represented"
        )
        parts = [
            f"<title>{self._title(neighbour)}</title>",
            f'<circle class="neighbour-hit" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{size + 3:.1f}" fill="none"/>',
            around if neighbour.represented else "",
            shape,
            self._inside(spot, size, picture),
        ]
        states = [class_css(neighbour.code), f"neighbour-{neighbour.how or 'unknown'}"]
        states += ["neighbour-pictured"] if picture is not None else []
        href = _escape(self.link(neighbour.position))
        return f'<a class="{" ".join(states)}" href="{href}">{"".join(parts)}</a>'

    def _inside(self, spot: _Spot, size: float, picture: Picture | None) -> str:
        code = spot.neighbour.code
        mark = "" if code is None else escape(self.marks[code], quote=True)
        if picture is not None:
            side = 2 * size - 3
            place = f'x="{spot.x - side / 2:.1f}" y="{spot.y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}"'
            image = picture.svg(place)
            if not mark:
                return image
            x, y = spot.x + size - 3, spot.y + size - 3
            badge = _shape(x, y, 6.5, square=spot.neighbour.label is not None, name="neighbour-badge")
            return f'{image}{badge}<text class="neighbour-mark" x="{x:.1f}" y="{y + 3.2:.1f}">{mark}</text>'
        if not mark or size < 5.5:
            return ""
        small = " neighbour-small" if size <= 8 else ""
        drop = 2.9 if small else 3.9
        return f'<text class="neighbour-mark{small}" x="{spot.x:.1f}" y="{spot.y + drop:.1f}">{mark}</text>'

    def _title(self, neighbour: Neighbour) -> str:
        """Return the tooltip of a neighbour."""
        told = [_escape(self.names(neighbour.position), MAX_TITLE_CHARS)]
        if neighbour.code is not None:
            told.append(f"{neighbour.how} {_escape(self.classes[neighbour.code], MAX_TITLE_CHARS)}")
        else:
            told.append("unlabelled")
        told += [] if self.is_unweighted else [f"weight {neighbour.weight:.4g}"]
        told += ["represented by this node"] if neighbour.represented else []
        told += [] if neighbour.parent is None else [f"via {_escape(self.names(neighbour.parent), MAX_TITLE_CHARS)}"]
        return "; ".join(told)

    def _centre(self) -> str:
        code = self.neighbourhood.label
        picture = None if self.pictures is None else self.pictures(self.neighbourhood.centre)
        is_labelled = code is not None
        shape = _shape(
            MIDDLE, MIDDLE, 26 if picture else 20, square=is_labelled or picture is not None, name="neighbour-shape"
        )
        mark = "?" if code is None else escape(self.marks[code], quote=True)
        inside = (
            picture.svg(f'x="{MIDDLE - 24:.1f}" y="{MIDDLE - 24:.1f}" width="48" height="48"')
            if picture
            else f'<text class="neighbour-mark" x="{MIDDLE:.1f}" y="{MIDDLE + 6.4:.1f}">{mark}</text>'
        )
        state = f"neighbour-centre {class_css(code)} neighbour-{'labelled' if is_labelled else 'unknown'}"
        state += " neighbour-pictured" if picture else ""
        told = "this node" + (f"; labelled {_escape(self.classes[code], MAX_TITLE_CHARS)}" if code is not None else "")
        title = f"<title>{_escape(self.names(self.neighbourhood.centre), MAX_TITLE_CHARS)}; {told}</title>"
        href = _escape(self.link(self.neighbourhood.centre))
        return f'<a class="{state}" href="{href}">{title}{shape}{inside}</a>'

    def _name(self, spot: _Spot) -> str:
        text = _escape(self.names(spot.neighbour.position), MAX_NAME_CHARS)
        return f'<text class="neighbour-name" x="{spot.x:.1f}" y="{spot.y + spot.radius + 13:.1f}">{text}</text>'


def _spot(neighbour: Neighbour, angle: float, distance: float, radius: float) -> _Spot:
    x, y = MIDDLE + distance * math.cos(angle), MIDDLE + distance * math.sin(angle)
    return _Spot(neighbour, x, y, angle, radius)


def _shape(x: float, y: float, r: float, *, square: bool, name: str) -> str:
    paint = 'fill="none" stroke="currentColor"'
    if square:
        side = 1.8 * r
        corner = f'x="{x - side / 2:.1f}" y="{y - side / 2:.1f}"'
        return f'<rect class="{name}" {corner} width="{side:.1f}" height="{side:.1f}" rx="2" {paint}/>'
    return f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {paint}/>'


@dataclass(frozen=True)
class Row:
    """A neighbour as a table row."""

    name: str  # title and address
    address: str
    ring: int  # 1 for a neighbour, 2 for a neighbour of a neighbour
    via: str  # in ring 2, the neighbour it belongs to
    label: str  # class, empty if there is none
    how: str  # ``"labelled"``, ``"predicted"``, or empty
    weight: str  # weight of the edge
    represented: bool  # whether the centre represents it


@dataclass(frozen=True)
class LegendLine:
    """A class and the number of neighbours of it."""

    mark: str  # abbreviation in the drawing; empty for unlabelled neighbours
    style: str  # CSS class
    name: str  # class, ``"unlabelled"`` for neighbours without label and prediction
    labelled: int  # number of all neighbours, not only of those shown
    predicted: int
    unlabelled: int = 0


def neighbour_rows(
    neighbourhood: Neighbourhood, names: Callable[[int], str], classes: Sequence[str], link: Callable[[int], str]
) -> list[Row]:
    """Return the nodes of the drawing as table rows, the first ring first."""
    return [
        Row(
            name=clean_text(names(neighbour.position), MAX_TITLE_CHARS),
            address=link(neighbour.position),
            ring=1 if neighbour.parent is None else 2,
            via="" if neighbour.parent is None else clean_text(names(neighbour.parent), MAX_TITLE_CHARS),
            label="" if neighbour.code is None else clean_text(classes[neighbour.code]),
            how=neighbour.how,
            weight=f"{neighbour.weight:.4g}",
            represented=neighbour.represented,
        )
        for neighbour in (*neighbourhood.first, *neighbourhood.second)
    ]


def class_legend(neighbourhood: Neighbourhood, classes: Sequence[str]) -> list[LegendLine]:
    """Return the classes of all neighbours, most frequent first."""
    marks = abbreviate_classes(classes)
    return [
        LegendLine(
            mark="" if code is None else marks[code],
            style=class_css(code),
            name="unlabelled" if code is None else clean_text(classes[code]),
            labelled=count.labelled,
            predicted=0 if code is None else count.predicted,
            unlabelled=count.predicted if code is None else 0,
        )
        for code, count in neighbourhood.counts.items()
    ]
