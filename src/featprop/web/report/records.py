"""What the page knows of each node on its map, as small as it goes: lists in place of names, every text once.

Text is what tables and people say. It goes into the page as JSON that cannot end the element it stands in
(`embedded`), and from there only ever into text.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.graph import UNKNOWN
from featprop.progress import tracked
from featprop.web.page.card import card_of, picture_of
from featprop.web.page.legible import legible
from featprop.web.report.lists import Listed
from featprop.web.report.map import NodeMap
from featprop.web.report.subject import Subject

__all__ = ["embedded", "records"]

LARGEST = 3_000_000
"""Bytes that all nodes may take together."""
CUTS = ((40, 1000), (40, 400), (20, 200), (12, 100), (6, 60), (0, 0))
"""How many columns of a node are told, and how many characters of each: the first that fits."""
NEIGHBOURS = 10
"""Neighbours that are named of each node."""
LIKELIEST = 3
"""Classes whose probability is told."""
FINEST = 16
"""Pixels along a side of a picture; finer ones are averaged."""


def records(subject: Subject, map_: NodeMap, lists: list[Listed]) -> dict[str, Any]:
    """Return what the page knows of the nodes on its map, ready for JSON.

    Each node is a list: x, y, class, confidence in percent, distance to the nearest label and which that is, label,
    class by audit, which lists it is in, its title, fields (name, text, note, …), neighbours on the map, other ones
    (title, class, …), how many there are, how many of each class, the likeliest classes and their percents, pixels.
    """
    texts = _Texts()
    shown = map_.shown.tolist()
    cards = [card_of(subject.graph, position).fields for position in tracked(shown, "describing nodes", len(shown))]
    cut = next(cut for cut in CUTS if cut[0] == 0 or _size(cards, *cut) <= LARGEST // 2)
    member = _members(lists, map_)
    nodes = [
        [
            *_said(subject, map_, place),
            member[place],
            texts(subject.title(position)),
            _fields(texts, cards[place], cut),
            *_around(subject, map_, position, texts),
            _likeliest(subject, position),
            _pixels(subject, position),
        ]
        for place, position in enumerate(shown)
    ]
    return {
        "classes": subject.class_titles,
        "lists": [each.title for each in lists],
        "nodes": nodes,
        "texts": texts.all,
    }


def embedded(data: Any) -> Markup:
    """Return JSON for the inside of a script element: nothing in it is markup, or the end of a line of a program."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


class _Texts:
    """Every text once, by its number."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.number.setdefault(text, len(self.number))

    @property
    def all(self) -> list[str]:
        return list(self.number)


def _said(subject: Subject, map_: NodeMap, place: int) -> list[Any]:
    """Return place, class, confidence, distance, nearest label, label, class by audit."""
    position = int(map_.shown[place])
    nearest = map_.index_of(int(subject.positions[subject.covered.nearest[position]]))
    return [
        *map_.places[place].tolist(),
        int(subject.known[position]),
        round(100 * float(subject.confidence[position])),
        float(f"{subject.covered.distances[position]:.3g}"),
        -1 if nearest is None else nearest,
        int(subject.labelled[position]),
        int(subject.audited[position]),
    ]


def _members(lists: list[Listed], map_: NodeMap) -> list[int]:
    """Return for each node the lists it is in, a bit each."""
    found = np.zeros(len(map_.shown), dtype=np.int64)
    for number, each in enumerate(lists):
        found[np.isin(map_.shown, each.positions)] |= 1 << number
    return [int(bits) for bits in found]


def _size(cards: list[Any], most: int, longest: int) -> int:
    """Return about how many bytes the columns take when cut so; texts that repeat are stored once."""
    unique = {field.text[:longest] for fields in cards for field in fields[:most]}
    count = sum(min(len(fields), most) for fields in cards)
    return sum(len(text.encode("utf-8", "replace")) + 3 for text in unique) + 14 * count


def _fields(texts: _Texts, fields: list[Any], cut: tuple[int, int]) -> list[Any]:
    """Return name, text, note and place, or the address of a link, of each column that is told."""
    most, longest = cut
    return [
        part
        for field in fields[:most]
        for part in (
            texts(field.name),
            texts(legible(field.text, longest)),
            texts(field.note),
            field.href if field.kind == "link" else -1 if field.place is None else round(100 * field.place),
        )
    ]


def _around(subject: Subject, map_: NodeMap, position: int, texts: _Texts) -> list[Any]:
    """Return neighbours on the map, labelled ones first, others by name, how many there are, and their classes."""
    adjacency = subject.graph.adjacency
    nodes: NDArray[Any] = adjacency.indices[adjacency.indptr[position] : adjacency.indptr[position + 1]]
    if not len(nodes):
        return [[], [], 0, []]
    places = np.minimum(np.searchsorted(map_.shown, nodes), len(map_.shown) - 1)
    there = map_.shown[places] == nodes
    order = np.lexsort((nodes, subject.labelled[nodes] == UNKNOWN, ~there))[:NEIGHBOURS]
    inside = [int(places[place]) for place in order if there[place]]
    outside = [
        part
        for place in order
        if not there[place]
        for part in (texts(subject.title(int(nodes[place]))), int(subject.known[nodes[place]]))
    ]
    counts = np.bincount(subject.known[nodes])
    best = np.argsort(-counts, kind="stable")[: LIKELIEST + 1]
    return [inside, outside, len(nodes), [int(part) for code in best if counts[code] for part in (code, counts[code])]]


def _likeliest(subject: Subject, position: int) -> list[int]:
    row = subject.probabilities[position]
    best = np.argsort(-row, kind="stable")[:LIKELIEST]
    return [int(part) for code in best for part in (code, round(100 * float(row[code])))]


def _pixels(subject: Subject, position: int) -> str:
    """Return the shades of the picture that the node's features are, a digit each; empty if they are none."""
    picture = picture_of(subject.graph, position)
    if picture is None:
        return ""
    pixels = picture.pixels.astype(np.float64)
    step = -(-len(pixels) // FINEST)
    side = len(pixels) // step
    mean = pixels[: side * step, : side * step].reshape(side, step, side, step).mean(axis=(1, 3))
    return "".join(map(str, np.rint(mean).astype(int).ravel().tolist()))
