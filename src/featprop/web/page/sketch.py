"""The neighbourhood of a node as a drawing.

The node is in the middle, its neighbours are on a ring around it, class by class, and theirs outside, each next to the
neighbour it belongs to. Squares are labelled, circles predicted, and each wears the colour and a letter or two of its
class: no fact is told by colour alone. The drawing is SVG without style or script of its own: `class_marks.style` has
the rules that give it its colours. What is drawn depends on what is given alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from featprop.web.page.class_marks import abbreviations, class_style
from featprop.web.page.features import Picture
from featprop.web.page.legible import legible
from featprop.web.page.neighbourhood import Neighbour, Neighbourhood

__all__ = ["drawn"]

SIZE = 400
MIDDLE = SIZE / 2
INNER = 112
"""Radius of the first ring, with a second one around it."""
ALONE = 140
"""Radius of the first ring where there is no second."""
OUTER = 176
STAGGER = 17
"""How far a crowded ring is moved in and out by turns."""
CROWDED = 24
"""Neighbours from which on a ring is crowded."""
NAMED = 8
"""Neighbours up to which their names are written; their ring is smaller, so that there is room."""
ROOM = 98
FEW_LINKS = 30
"""Edges between neighbours that are drawn; more would hide everything."""
LONGEST_NAME, LONGEST_TITLE = 14, 200
THINNEST, THICKEST, CROWDED_THICKEST = 1.2, 5.0, 3.0
WIDEST_STEP = 0.24
"""Angle between neighbours of a neighbour, at most."""
MARGIN = 14


@dataclass(frozen=True)
class _Spot:
    """A neighbour and where it is drawn."""

    neighbour: Neighbour
    x: float
    y: float
    angle: float
    radius: float


def drawn(
    neighbourhood: Neighbourhood,
    names: Callable[[int], str],
    classes: Sequence[str],
    link: Callable[[int], str],
    pictures: Callable[[int], Picture | None] | None = None,
) -> str:
    """Return the drawing as an SVG element.

    Parameters
    ----------
    neighbourhood
        What to draw.
    names
        Returns what a node is called.
    classes
        The name of each class, by its code.
    link
        Returns where the card of a node is.
    pictures
        Returns the picture of a node, None if it has none: drawn in its mark.
    """
    return _Drawing(neighbourhood, names, classes, link, pictures).svg()


def _written(text: str, most: int | None = None) -> str:
    """Return text as it stands in markup, in an attribute too."""
    return escape(" ".join(legible(text, most).split()), quote=True)


class _Drawing:
    def __init__(
        self,
        neighbourhood: Neighbourhood,
        names: Callable[[int], str],
        classes: Sequence[str],
        link: Callable[[int], str],
        pictures: Callable[[int], Picture | None] | None,
    ) -> None:
        self.hood, self.names, self.link, self.pictures = neighbourhood, names, link, pictures
        self.classes, self.marks = classes, abbreviations(classes)
        self.heaviest = max((each.weight for each in (*self.hood.first, *self.hood.second)), default=1.0) or 1.0
        lightest = min((each.weight for each in (*self.hood.first, *self.hood.second)), default=1.0)
        self.alike = lightest == self.heaviest
        count = len(self.hood.first)
        self.sector = 2 * math.pi / max(count + count % 2 if count > CROWDED else count, 1)
        self.is_pictured = pictures is not None and pictures(self.hood.centre) is not None
        self.is_named = count <= NAMED and not self.is_pictured
        self.first = self._first_ring()
        self.second = self._second_ring()

    def svg(self) -> str:
        spots = {spot.neighbour.position: spot for spot in (*self.first, *self.second)}
        twigs = [self._line("hood-twig", spots[child.neighbour.parent or 0], child) for child in self.second]
        edges = [self._line("hood-edge", None, spot) for spot in self.first]
        links = [self._bow(spots[a], spots[b]) for a, b in self.hood.links] if len(self.hood.links) <= FEW_LINKS else []
        marks = [self._node(spot) for ring in (self.second, self.first) for spot in ring]
        named = [self._name(spot) for spot in self.first] if self.is_named else []
        alone = [] if self.first else [f'<text class="hood-name" x="{MIDDLE}" y="{MIDDLE + 40}">No neighbours</text>']
        label = _written(f"{self.names(self.hood.centre)} and its neighbours: {self.hood.shown}", LONGEST_TITLE)
        body = "".join([*twigs, *links, *edges, *marks, self._centre(), *named, *alone])
        top, bottom = self._extent()
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="hood" viewBox="0 {top} {SIZE} {bottom - top}" '
            f'role="group" aria-label="{label}">{body}</svg>'
        )

    def _extent(self) -> tuple[int, int]:
        """Return where the drawing begins and ends, as few neighbours do not fill the square."""
        heights = [spot.y for spot in (*self.first, *self.second)]
        tops, bottoms = min([MIDDLE - 34, *heights]), max([MIDDLE + 40, *heights])
        return max(0, round(tops - MARGIN)), min(SIZE, round(bottoms + MARGIN + (20 if self.is_named else 0)))

    def _first_ring(self) -> list[_Spot]:
        """Place the neighbours clockwise from the top, two from side to side; a crowded ring has an even number."""
        count = len(self.hood.first)
        crowded = count > CROWDED
        ring = ALONE if not self.hood.second else ROOM if self.is_named else INNER
        each = 2 * math.pi * (ring - STAGGER) / count * 2 if crowded else 2 * math.pi * ring / max(count, 1)
        radius = min(19.0, max(8.0, (0.36 if self.is_pictured else 0.4) * each))
        start = 0.0 if count <= 2 else -math.pi / 2
        moved = (-STAGGER, STAGGER) if crowded else (0, 0)
        return [
            _spot(neighbour, start + self.sector * place, ring + moved[place % 2], radius)
            for place, neighbour in enumerate(self.hood.first)
        ]

    def _second_ring(self) -> list[_Spot]:
        families = [
            (parent, [child for child in self.hood.second if child.parent == parent.neighbour.position])
            for parent in self.first
        ]
        step = min(WIDEST_STEP, self.sector / max([1, *(len(children) for _, children in families)]))
        radius = min(8.0, max(3.6, OUTER * step / 2 - 1))
        return [
            _spot(child, parent.angle + step * (place - (len(children) - 1) / 2), OUTER, radius)
            for parent, children in families
            for place, child in enumerate(children)
        ]

    def _width(self, weight: float) -> str:
        thickest = CROWDED_THICKEST if len(self.first) > CROWDED else THICKEST
        width = 1.6 if self.alike else THINNEST + (thickest - THINNEST) * weight / self.heaviest
        return f"{width:.1f}"

    def _line(self, style: str, parent: _Spot | None, spot: _Spot) -> str:
        x, y = (MIDDLE, MIDDLE) if parent is None else (parent.x, parent.y)
        return (
            f'<line class="{style}" x1="{x:.1f}" y1="{y:.1f}" x2="{spot.x:.1f}" y2="{spot.y:.1f}" '
            f'stroke="currentColor" stroke-width="{self._width(spot.neighbour.weight)}"/>'
        )

    def _bow(self, one: _Spot, other: _Spot) -> str:
        """Join two neighbours by a line that bends towards the middle."""
        x, y = (
            MIDDLE + 0.7 * ((one_end + other_end) / 2 - MIDDLE)
            for one_end, other_end in ((one.x, other.x), (one.y, other.y))
        )
        return (
            f'<path class="hood-link" d="M{one.x:.1f} {one.y:.1f}Q{x:.1f} {y:.1f} {other.x:.1f} {other.y:.1f}" '
            f'fill="none" stroke="currentColor" stroke-width="1"/>'
        )

    def _node(self, spot: _Spot) -> str:
        """Return the mark of a neighbour: a link with a shape in it, its letters and its title."""
        neighbour, r = spot.neighbour, spot.radius
        is_labelled, is_first = neighbour.label is not None, neighbour.parent is None
        picture = self.pictures(neighbour.position) if self.pictures is not None and is_first else None
        size = r if is_first or not is_labelled else max(r, 4.5)
        shape = _shape(spot.x, spot.y, size, square=is_labelled or picture is not None, name="hood-shape")
        around = _shape(spot.x, spot.y, size + 3.5, square=is_labelled or picture is not None, name="hood-stands")
        parts = [
            f"<title>{self._told(neighbour)}</title>",
            f'<circle class="hood-hit" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{size + 3:.1f}" fill="none"/>',
            around if neighbour.stands_for else "",
            shape,
            self._inside(spot, size, picture),
        ]
        states = [class_style(neighbour.code), f"hood-{neighbour.how or 'unknown'}"]
        states += ["hood-pictured"] if picture is not None else []
        href = _written(self.link(neighbour.position))
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
            badge = _shape(x, y, 6.5, square=spot.neighbour.label is not None, name="hood-badge")
            return f'{image}{badge}<text class="hood-mark" x="{x:.1f}" y="{y + 3.2:.1f}">{mark}</text>'
        if not mark or size < 5.5:
            return ""
        small = " hood-small" if size <= 8 else ""
        drop = 2.9 if small else 3.9
        return f'<text class="hood-mark{small}" x="{spot.x:.1f}" y="{spot.y + drop:.1f}">{mark}</text>'

    def _told(self, neighbour: Neighbour) -> str:
        """Say what a mark is."""
        told = [_written(self.names(neighbour.position), LONGEST_TITLE)]
        if neighbour.code is not None:
            told.append(f"{neighbour.how} {_written(self.classes[neighbour.code], LONGEST_TITLE)}")
        else:
            told.append("no label yet")
        told += [] if self.alike else [f"weight {neighbour.weight:.4g}"]
        told += ["the node stands for it"] if neighbour.stands_for else []
        told += (
            [] if neighbour.parent is None else [f"by way of {_written(self.names(neighbour.parent), LONGEST_TITLE)}"]
        )
        return "; ".join(told)

    def _centre(self) -> str:
        code = self.hood.label
        picture = None if self.pictures is None else self.pictures(self.hood.centre)
        is_labelled = code is not None
        shape = _shape(
            MIDDLE, MIDDLE, 26 if picture else 20, square=is_labelled or picture is not None, name="hood-shape"
        )
        mark = "?" if code is None else escape(self.marks[code], quote=True)
        inside = (
            picture.svg(f'x="{MIDDLE - 24:.1f}" y="{MIDDLE - 24:.1f}" width="48" height="48"')
            if picture
            else f'<text class="hood-mark" x="{MIDDLE:.1f}" y="{MIDDLE + 6.4:.1f}">{mark}</text>'
        )
        state = f"hood-centre {class_style(code)} hood-{'labelled' if is_labelled else 'unknown'}"
        state += " hood-pictured" if picture else ""
        told = "this node" + (f"; labelled {_written(self.classes[code], LONGEST_TITLE)}" if code is not None else "")
        title = f"<title>{_written(self.names(self.hood.centre), LONGEST_TITLE)}; {told}</title>"
        href = _written(self.link(self.hood.centre))
        return f'<a class="{state}" href="{href}">{title}{shape}{inside}</a>'

    def _name(self, spot: _Spot) -> str:
        text = _written(self.names(spot.neighbour.position), LONGEST_NAME)
        return f'<text class="hood-name" x="{spot.x:.1f}" y="{spot.y + spot.radius + 13:.1f}">{text}</text>'


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
