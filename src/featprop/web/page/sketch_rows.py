"""The neighbourhood of a node in words: the same as the drawing for who does not see it, and what its colours mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from featprop.web.page.class_marks import abbreviations, class_style
from featprop.web.page.legible import legible
from featprop.web.page.neighbourhood import Neighbourhood

__all__ = ["LegendLine", "Row", "legend", "rows"]

LONGEST_NAME = 200


@dataclass(frozen=True)
class Row:
    """A neighbour in words.

    Attributes
    ----------
    name, href
        What it is called and where its card is.
    ring
        1 for a neighbour, 2 for a neighbour of one.
    via
        For ring 2, the neighbour it belongs to.
    label
        The class, empty if there is none.
    how
        ``"labelled"``, ``"predicted"``, or empty.
    weight
        Of the edge.
    stands_for
        Whether the node in the middle stands for it.
    """

    name: str
    href: str
    ring: int
    via: str
    label: str
    how: str
    weight: str
    stands_for: bool


@dataclass(frozen=True)
class LegendLine:
    """A class, and how many of all neighbours are of it.

    Attributes
    ----------
    mark
        Its letters in the drawing.
    style
        Its CSS class.
    name
        The class; ``"unknown"`` for neighbours without label and prediction.
    labelled, predicted
        Of all neighbours, not only those shown.
    """

    mark: str
    style: str
    name: str
    labelled: int
    predicted: int


def rows(
    neighbourhood: Neighbourhood, names: Callable[[int], str], classes: Sequence[str], link: Callable[[int], str]
) -> list[Row]:
    """Return what the drawing shows as rows, in its order: first the ring of neighbours, then theirs."""
    return [
        Row(
            name=legible(names(neighbour.position), LONGEST_NAME),
            href=link(neighbour.position),
            ring=1 if neighbour.parent is None else 2,
            via="" if neighbour.parent is None else legible(names(neighbour.parent), LONGEST_NAME),
            label="" if neighbour.code is None else legible(classes[neighbour.code]),
            how=neighbour.how,
            weight=f"{neighbour.weight:.4g}",
            stands_for=neighbour.stands_for,
        )
        for neighbour in (*neighbourhood.first, *neighbourhood.second)
    ]


def legend(neighbourhood: Neighbourhood, classes: Sequence[str]) -> list[LegendLine]:
    """Return the classes of all neighbours, most frequent first."""
    marks = abbreviations(classes)
    return [
        LegendLine(
            mark="" if code is None else marks[code],
            style=class_style(code),
            name="unknown" if code is None else legible(classes[code]),
            labelled=count.labelled,
            predicted=0 if code is None else count.predicted,
        )
        for code, count in neighbourhood.counts.items()
    ]
