"""Draw the map of the report: every node as a dot, in the colour of its class, confidence or distance to a label.

A dot is a stroke of length 0 with a round cap, so that one path per colour draws thousands of nodes in a few kilobytes
and the style sheet sets their size. From the eleventh class on, the ten colours repeat with squares.

The data of the nodes on the map is JSON for the script of the page, which makes text nodes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.graph import UNKNOWN
from featprop.progress import tracked
from featprop.web.common.card import build_card, node_picture, node_title
from featprop.web.common.formatting import clean_line, clean_text
from featprop.web.common.layout import tsne_layout
from featprop.web.common.neighbourhood import find_neighbourhood
from featprop.web.common.palette import class_css
from featprop.web.report.analysis import Analysis

WIDTH, HEIGHT, MARGIN = 1000, 640, 24
CONFIDENCE_STEPS = (0.95, 0.8, 0.6, 0.4, 0.0)
"""Lower ends of the confidence steps, highest first."""
STEPS = 5
MAX_NODES, MAX_LABELLED = 4000, 2500
"""Nodes on a map, and labelled ones among them."""
MAX_CHARS, MAX_ID_CHARS = 300, 100
"""Characters of a value and of an id."""
MAX_FIELDS, MAX_NEIGHBOURS, MAX_CLASSES = 30, 10, 3
"""Columns, neighbours and classes of a node."""
MAX_PIXELS = 16
"""Side of a picture."""


@dataclass(frozen=True, eq=False)
class NodeMap:
    """A map of some nodes; a path of the drawing has the nodes that look alike."""

    shown: NDArray[np.intp]  # sorted positions of the nodes on the map
    places: NDArray[np.int64]  # their coordinates
    layers: dict[str, dict[int, str]]  # paths of unlabelled nodes by ``"class"``, ``"confidence"``, ``"distance"``
    labels: dict[int, str]  # paths of the labels by class code
    steps: dict[str, list[tuple[str, int]]]  # title and number of nodes of each step of the scales, from good to bad

    @property
    def n_labelled(self) -> int:
        """Number of labels on the map."""
        return sum(path.count("M") for path in self.labels.values())

    def index_of(self, position: int) -> int | None:
        """Return the index of a node on the map; None if it is not there."""
        place = int(np.searchsorted(self.shown, position))
        return place if place < len(self.shown) and self.shown[place] == position else None

    def path(self, positions: Iterable[int], stroke: str) -> str:
        """Return a path that draws a stroke at each of these nodes."""
        places = self.places[np.isin(self.shown, list(positions))]
        return "".join(f"M{x} {y}{stroke}" for x, y in places.tolist())


def draw_map(analysis: Analysis, listed: Sequence[int], seed: int = 0) -> NodeMap:
    """Lay out and draw the nodes, or a sample that has the labelled and the listed ones."""
    graph = analysis.graph
    shown = sample_nodes(graph.n_nodes, analysis.positions, listed, seed)
    places = _fit(tsne_layout(analysis.model.representation(graph)[shown]))
    labels, distances = analysis.labelled[shown], analysis.covered.distances
    plain = labels == UNKNOWN
    open_ = distances[analysis.labelled == UNKNOWN]
    edges = np.quantile(open_, np.arange(1, STEPS) / STEPS) if open_.size else np.zeros(STEPS - 1)
    confidence = np.minimum(np.searchsorted(-np.array(CONFIDENCE_STEPS), -analysis.confidence[shown]), STEPS - 1)
    distance = np.searchsorted(edges, distances[shown], side="left")
    titles = {
        "confidence": [
            *(f"{round(100 * low)} % or more" for low in CONFIDENCE_STEPS[:-1]),
            f"below {round(100 * CONFIDENCE_STEPS[-2])} %",
        ],
        "distance": [
            f"nearest fifth, up to {edges[0]:.3g}",
            *(f"up to {edge:.3g}" for edge in edges[1:]),
            f"farthest fifth, beyond {edges[-1]:.3g}",
        ],
    }
    steps = {"confidence": confidence, "distance": distance}
    return NodeMap(
        shown,
        places,
        {name: _paths(places[plain], code[plain]) for name, code in {"class": analysis.known[shown], **steps}.items()},
        _paths(places[~plain], labels[~plain]),
        {
            name: list(zip(titles[name], np.bincount(step[plain], minlength=STEPS).tolist(), strict=True))
            for name, step in steps.items()
        },
    )


def _paths(places: NDArray[np.int64], codes: NDArray[np.integer]) -> dict[int, str]:
    """Return a path of dots for each code."""
    return {
        code: "".join(f"M{x} {y}h0" for x, y in places[codes == code].tolist()) for code in np.unique(codes).tolist()
    }


def _fit(coordinates: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return whole coordinates that fill the drawing, the longer extent horizontal."""
    is_wide = np.ptp(coordinates[:, 0]) >= np.ptp(coordinates[:, 1])
    turned = coordinates if is_wide else coordinates[:, ::-1]
    low, extent = turned.min(axis=0), np.ptp(turned, axis=0)
    shares = np.divide(turned - low, extent, out=np.full(turned.shape, 0.5), where=extent > 0)
    places = MARGIN + shares * (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)
    return np.asarray(np.rint(places), dtype=np.int64)


def sample_nodes(n_nodes: int, labelled: NDArray[np.intp], listed: Sequence[int], seed: int = 0) -> NDArray[np.intp]:
    """Return the sorted positions of the nodes to draw."""
    if n_nodes <= MAX_NODES:
        return np.arange(n_nodes)
    generator = np.random.default_rng([seed, n_nodes])
    kept = generator.choice(labelled, MAX_LABELLED, replace=False) if len(labelled) > MAX_LABELLED else labelled
    wanted = np.unique(np.concatenate([kept, np.asarray(listed, dtype=np.intp)]))
    room = max(0, MAX_NODES - len(wanted))
    others = np.setdiff1d(np.arange(n_nodes), np.concatenate([wanted, labelled]))
    return np.sort(np.concatenate([wanted, generator.choice(others, min(room, len(others)), replace=False)]))


def node_data(analysis: Analysis, map_: NodeMap, lists: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the data of the nodes on the map, ready for JSON.

    ``nodes`` has a list per property, in the order of the map. Texts are numbers, so that each is stored once.
    """
    graph, covered = analysis.graph, analysis.covered
    positions: list[int] = map_.shown.tolist()
    cards = [
        build_card(graph, each).fields[:MAX_FIELDS] for each in tracked(positions, "describing nodes", len(positions))
    ]
    members = [set(each) for each in lists]
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
                    number(clean_text(each.text, MAX_CHARS)),
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
        "nodes": {name: [each[name] for each in records] for name in records[0]},
        "texts": list(texts),
    }


def _pixels(analysis: Analysis, position: int) -> str:
    """Return the shades of the picture of a node, one digit each; empty without a picture."""
    picture = node_picture(analysis.graph, position)
    if picture is None:
        return ""
    step = -(-len(picture.pixels) // MAX_PIXELS)
    return "".join(map(str, picture.pixels[::step, ::step].ravel().tolist()))
