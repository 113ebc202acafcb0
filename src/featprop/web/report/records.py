"""Data of the nodes on the map as compact JSON: lists instead of objects, and every text once.

User text becomes JSON that cannot end the element around it (`embed_json`), and from there only text nodes.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.graph import UNKNOWN
from featprop.progress import tracked
from featprop.web.common.card import build_card, node_picture
from featprop.web.common.formatting import clean_line, clean_text
from featprop.web.report.context import ReportContext
from featprop.web.report.findings import ReviewList
from featprop.web.report.map import NodeMap

MAX_BYTES = 3_000_000
"""Size of all nodes together."""
CUTS = ((40, 1000), (40, 400), (20, 200), (12, 100), (6, 60), (0, 0))
"""Number of columns and of characters per column; the first pair that fits is used."""
MAX_NEIGHBOURS, MAX_ID_CHARS = 10, 100
MAX_CLASSES = 3
"""Classes whose probability is shown."""
MAX_PIXELS = 16
"""Side of a picture in pixels; larger ones are averaged."""


def node_records(context: ReportContext, map_: NodeMap, lists: list[ReviewList]) -> dict[str, Any]:
    """Return the data of the nodes on the map, ready for JSON.

    Each node is a list: x, y, class, confidence in percent, distance to the nearest label and its index, label, audit
    label, bit mask of its lists, title, id, fields (name, text, note, …), neighbours on the map, other neighbours
    (title, class, …), number of neighbours, classes of the neighbours, most probable classes in percent, pixels.
    """
    texts = _Texts()
    shown = map_.shown.tolist()
    cards = [build_card(context.graph, position).fields for position in tracked(shown, "describing nodes", len(shown))]
    cut = next(cut for cut in CUTS if cut[0] == 0 or _size(cards, *cut) <= MAX_BYTES // 2)
    member = _members(lists, map_)
    nodes = [
        [
            *_prediction(context, map_, place),
            member[place],
            texts(context.title(position)),
            texts(clean_line(str(context.graph.ids[position]), MAX_ID_CHARS)),
            _fields(texts, cards[place], cut),
            *_neighbours(context, map_, position, texts),
            _top_classes(context, position),
            _pixels(context, position),
        ]
        for place, position in enumerate(shown)
    ]
    return {
        "classes": context.class_titles,
        "lists": [each.title for each in lists],
        "nodes": nodes,
        "texts": texts.all,
    }


def embed_json(data: Any) -> Markup:
    """Return JSON for the inside of a script element, with markup and line separators escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


class _Texts:
    """Texts by number, each stored once."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.number.setdefault(text, len(self.number))

    @property
    def all(self) -> list[str]:
        return list(self.number)


def _prediction(context: ReportContext, map_: NodeMap, place: int) -> list[Any]:
    """Return coordinates, class, confidence, distance, nearest label, label and audit label."""
    position = int(map_.shown[place])
    nearest = map_.index_of(int(context.positions[context.covered.nearest[position]]))
    return [
        *map_.places[place].tolist(),
        int(context.known[position]),
        round(100 * float(context.confidence[position])),
        float(f"{context.covered.distances[position]:.3g}"),
        -1 if nearest is None else nearest,
        int(context.labelled[position]),
        int(context.audited[position]),
    ]


def _members(lists: list[ReviewList], map_: NodeMap) -> list[int]:
    """Return a bit mask of the lists that each node is in."""
    found = np.zeros(len(map_.shown), dtype=np.int64)
    for number, each in enumerate(lists):
        found[np.isin(map_.shown, each.positions)] |= 1 << number
    return [int(bits) for bits in found]


def _size(cards: list[Any], max_fields: int, max_chars: int) -> int:
    """Return the approximate size of the fields in bytes; repeated texts are stored once."""
    unique = {field.text[:max_chars] for fields in cards for field in fields[:max_fields]}
    count = sum(min(len(fields), max_fields) for fields in cards)
    return sum(len(text.encode("utf-8", "replace")) + 3 for text in unique) + 14 * count


def _fields(texts: _Texts, fields: list[Any], cut: tuple[int, int]) -> list[Any]:
    """Return name, text, note, and percentile or link of each field."""
    max_fields, max_chars = cut
    return [
        part
        for field in fields[:max_fields]
        for part in (
            texts(field.name),
            texts(clean_text(field.text, max_chars)),
            texts(field.note),
            field.href if field.kind == "link" else -1 if field.place is None else round(100 * field.place),
        )
    ]


def _neighbours(context: ReportContext, map_: NodeMap, position: int, texts: _Texts) -> list[Any]:
    """Return neighbours on the map, labelled ones first, other neighbours, their number, and their classes."""
    adjacency = context.graph.adjacency
    nodes: NDArray[Any] = adjacency.indices[adjacency.indptr[position] : adjacency.indptr[position + 1]]
    if not len(nodes):
        return [[], [], 0, []]
    places = np.minimum(np.searchsorted(map_.shown, nodes), len(map_.shown) - 1)
    there = map_.shown[places] == nodes
    order = np.lexsort((nodes, context.labelled[nodes] == UNKNOWN, ~there))[:MAX_NEIGHBOURS]
    inside = [int(places[place]) for place in order if there[place]]
    outside = [
        part
        for place in order
        if not there[place]
        for part in (texts(context.title(int(nodes[place]))), int(context.known[nodes[place]]))
    ]
    counts = np.bincount(context.known[nodes])
    best = np.argsort(-counts, kind="stable")[: MAX_CLASSES + 1]
    return [inside, outside, len(nodes), [int(part) for code in best if counts[code] for part in (code, counts[code])]]


def _top_classes(context: ReportContext, position: int) -> list[int]:
    row = context.probabilities[position]
    best = np.argsort(-row, kind="stable")[:MAX_CLASSES]
    return [int(part) for code in best for part in (code, round(100 * float(row[code])))]


def _pixels(context: ReportContext, position: int) -> str:
    """Return the shades of the picture of a node, one digit each; empty without a picture."""
    picture = node_picture(context.graph, position)
    if picture is None:
        return ""
    pixels = picture.pixels.astype(np.float64)
    step = -(-len(pixels) // MAX_PIXELS)
    side = len(pixels) // step
    mean = pixels[: side * step, : side * step].reshape(side, step, side, step).mean(axis=(1, 3))
    return "".join(map(str, np.rint(mean).astype(int).ravel().tolist()))
