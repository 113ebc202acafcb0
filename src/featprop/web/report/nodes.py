"""Data of the nodes on the map as JSON for the script of the page.

User text becomes JSON that cannot end the element around it (`embed_json`), and from there only text nodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from featprop.progress import tracked
from featprop.web.common.card import build_card, node_picture, node_title
from featprop.web.common.formatting import clean_line, clean_text
from featprop.web.common.neighbourhood import find_neighbourhood
from featprop.web.common.palette import class_css
from featprop.web.report.analysis import Analysis
from featprop.web.report.map import NodeMap

MAX_TEXT_BYTES, MIN_CHARS, MAX_CHARS = 1_500_000, 20, 1000
"""Size of the values of all nodes together, and limits of the characters of one value."""
MAX_ID_CHARS = 100
MAX_FIELDS, MAX_NEIGHBOURS, MAX_CLASSES = 30, 10, 3
"""Columns, neighbours and classes of a node."""
MAX_PIXELS = 16
"""Side of a picture."""


def node_data(analysis: Analysis, map_: NodeMap, lists: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the data of the nodes on the map, ready for JSON.

    ``nodes`` has a list per property, in the order of the map. Texts are numbers, so that each is stored once.
    """
    graph, covered = analysis.graph, analysis.covered
    positions: list[int] = map_.shown.tolist()
    cards = [
        build_card(graph, each).fields[:MAX_FIELDS] for each in tracked(positions, "describing nodes", len(positions))
    ]
    max_chars = int(np.clip(MAX_TEXT_BYTES // max(1, sum(map(len, cards))), MIN_CHARS, MAX_CHARS))
    members = [set(each) for each in lists.values()]
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    records = []
    for (x, y), position, fields in zip(map_.places.tolist(), positions, cards, strict=True):
        around = find_neighbourhood(
            graph,
            position,
            labels=analysis.labelled,
            predictions=analysis.predicted,
            classes=analysis.class_titles,
            limit=MAX_NEIGHBOURS,
        )
        near: list[Any] = [map_.index_of(each.position) for each in around.shown]
        row = analysis.probabilities[position]
        record = {
            "x": x,
            "y": y,
            "title": number(node_title(graph, position)),
            "id": number(clean_line(str(graph.ids[position]), MAX_ID_CHARS)),
            "class": int(analysis.known[position]),
            "label": int(analysis.labelled[position]),
            "audit": int(analysis.audited[position]),
            "confidence": round(100 * float(row.max())),
            "likely": [
                [code, round(100 * float(row[code]))] for code in np.argsort(-row, kind="stable")[:MAX_CLASSES].tolist()
            ],
            "distance": float(f"{covered.distances[position]:.3g}"),
            "nearest": map_.index_of(int(analysis.positions[covered.nearest[position]])),
            "lists": [place for place, each in enumerate(members) if position in each],
            "fields": [
                [
                    number(each.name),
                    number(clean_text(each.text, max_chars)),
                    number(each.note),
                    each.href if each.kind == "link" else 0,
                ]
                for each in fields
            ],
            "degree": around.total,
            "near": [
                [number(each.name), each.code] if index is None else index
                for each, index in zip(around.shown, near, strict=True)
            ],
            "counts": [[each.code, each.count] for each in around.counts[: MAX_CLASSES + 1]],
            "picture": _pixels(analysis, position),
        }
        records.append(record)
    return {
        "classes": analysis.class_titles,
        "styles": [class_css(code) for code in range(len(analysis.classes))],
        "lists": list(lists),
        "nodes": {name: [each[name] for each in records] for name in records[0]},
        "texts": list(texts),
    }


def embed_json(data: Any) -> Markup:
    """Return JSON for the inside of a script element, with markup and line separators escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _pixels(analysis: Analysis, position: int) -> str:
    """Return the shades of the picture of a node, one digit each; empty without a picture."""
    picture = node_picture(analysis.graph, position)
    if picture is None:
        return ""
    step = -(-len(picture.pixels) // MAX_PIXELS)
    return "".join(map(str, picture.pixels[::step, ::step].ravel().tolist()))
