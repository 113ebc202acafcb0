"""Neighbours by name, counts of their classes, and drawings."""

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from featprop.graph import UNKNOWN, Graph
from featprop.web.common import neighbourhood
from featprop.web.common.features import Picture
from featprop.web.common.neighbourhood import SIZE, Neighbourhood, draw_neighbourhood
from featprop.web.common.templates import _environment

SVG = "{http://www.w3.org/2000/svg}"
CLASSES = ["good", "bad", "odd", "new"]
NASTY = "</script><script>alert('1')</script> \" ' & ]]> \x00\x1b"


def graph_of(edges: list[tuple[int, int]], size: int, weights: list[float] | None = None) -> Graph:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    values = np.ones(len(ends)) if weights is None else np.array(weights)
    return Graph.from_scipy(sp.coo_array((values, (ends[:, 0], ends[:, 1])), shape=(size, size)), np.ones((size, 1)))


def star(size: int) -> Graph:
    """Node 0 joined to all others."""
    return graph_of([(0, other) for other in range(1, size)], size)


def find(graph: Graph, position: int, labels: dict[int, int] | None = None, **options: Any) -> Neighbourhood:
    codes = np.full(graph.n_nodes, UNKNOWN)
    codes[list(labels or {})] = list((labels or {}).values())
    options = {"classes": CLASSES, "link": lambda node: f"/nodes/{node}", **options}
    return neighbourhood.find_neighbourhood(graph, position, labels=codes, **options)


def positions(found: Neighbourhood) -> list[int]:
    return [each.position for each in found.shown]


def marks(found: Neighbourhood, **options: Any) -> list[ElementTree.Element]:
    return list(draw(found, **options).iter(f"{SVG}a"))


def draw(found: Neighbourhood, **options: Any) -> ElementTree.Element:
    text = str(draw_neighbourhood(found, **options)).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return ElementTree.fromstring(text)


def test_small_neighbourhood_by_hand() -> None:
    graph = graph_of([(0, 1), (0, 2), (0, 3), (1, 2), (3, 4)], 5, [2, 1, 1, 1, 4])
    predictions = np.array([0, 1, 1, 0, 0])
    found = find(graph, 0, {2: 1, 4: 0}, predictions=predictions)
    assert [(each.position, each.how, each.label, each.weight) for each in found.shown] == [
        (2, "labelled", "bad", 1),
        (1, "predicted", "bad", 2),
        (3, "predicted", "good", 1),
    ]
    assert [(each.name, each.labelled, each.predicted) for each in found.counts] == [("bad", 1, 1), ("good", 0, 1)]
    assert found.links == [(1, 2)]
    assert (found.mark, found.total, found.shown[0].address) == ("?", 3, "/nodes/2")
    assert find(graph, 4, {4: 0}).mark == "g"
    assert find(graph_of([(1, 2)], 3), 0).counts == []


def test_weights_are_those_of_the_table() -> None:
    nodes = pa.table({"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]})
    edges = pa.table({"source": ["a", "a"], "target": ["b", "c"], "weight": [36.31, 5.0]})
    found = find(Graph.from_tables(nodes, edges), 0)
    assert [(each.name, pytest.approx(each.weight)) for each in found.shown] == [("b", 36.31), ("c", 5.0)]


def test_labelled_neighbours_are_chosen_first() -> None:
    size = 100_001
    labels = {node: node % 3 for node in range(500, 520)}
    found = find(star(size), 0, labels, predictions=np.zeros(size, int))
    assert (found.total, len(found.shown), sum(each.count for each in found.counts)) == (100_000, 40, 100_000)
    assert set(positions(found)[:20]) == set(labels)


@given(st.integers(2, 30), st.integers(0, 10), st.data())
def test_invariants(size: int, limit: int, data: st.DataObject) -> None:
    ends = st.integers(0, size - 1)
    graph = graph_of(data.draw(st.lists(st.tuples(ends, ends), max_size=60)), size)
    labels = data.draw(st.dictionaries(ends, st.integers(0, 3)))
    predictions = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size)))
    centre = data.draw(ends)
    found = find(graph, centre, labels, predictions=predictions, limit=limit)
    around = set(graph.adjacency[[centre]].indices.tolist())
    assert found.total == len(around)
    assert len(set(positions(found))) == len(positions(found)) == min(limit, len(around))
    assert set(positions(found)) <= around
    counts = {each.name: (each.labelled, each.predicted) for each in found.counts}
    for code, name in enumerate(CLASSES):
        labelled = sum(labels.get(node) == code for node in around)
        predicted = sum(predictions[node] == code for node in around - labels.keys())
        assert counts.get(name, (0, 0)) == (labelled, predicted)
    dense = graph.adjacency.toarray()
    shown = positions(found)
    assert set(found.links) == {(a, b) for a in shown for b in shown if a < b and dense[a, b]}


def test_labels_differ_in_shape_colour_and_letter() -> None:
    found = find(star(4), 0, {1: 0}, predictions=np.array([-1, -1, 1, -1]))
    shapes = []
    for mark in marks(found):
        (shape,) = [part for part in mark if part.get("class") == "neighbour-shape"]
        shapes.append((shape.tag.removeprefix(SVG), mark.get("class"), mark.findtext(f"{SVG}text")))
    assert shapes == [
        ("rect", "class-0 neighbour-labelled", "g"),
        ("circle", "class-1 neighbour-predicted", "b"),
        ("circle", "class-none neighbour-unknown", ""),
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 8, 24, 25, 40])
def test_marks_are_links_inside_the_drawing_and_do_not_overlap(count: int) -> None:
    found = find(star(count + 1), 0)
    assert len(marks(found)) == count
    assert all(mark.get("tabindex") == "-1" and mark.findtext(f"{SVG}title") for mark in marks(found))
    shapes = [part for mark in marks(found) for part in mark if part.get("class") == "neighbour-shape"]
    places = np.array([[float(part.get(name) or 0) for name in ("cx", "cy", "r")] for part in shapes]).reshape(-1, 3)
    assert np.all((places[:, :2] - places[:, 2:] > 0) & (places[:, :2] + places[:, 2:] < SIZE))
    apart = np.hypot(*(places[:, None, :2] - places[None, :, :2]).transpose(2, 0, 1))
    assert np.all(apart[~np.eye(count, dtype=bool)] > 2 * places[:, 2].max(initial=0))


def test_heavier_edges_are_wider() -> None:
    lines = draw(find(graph_of([(0, 1), (0, 2)], 3, [0.5, 2.0]), 0)).iter(f"{SVG}line")
    assert [line.get("stroke-width") for line in lines] == ["2.0", "4.5"]


def test_few_edges_between_neighbours_are_drawn() -> None:
    for size, count in ((8, 21), (12, 0)):
        every = [(a, b) for a in range(size) for b in range(a + 1, size)]
        assert str(draw_neighbourhood(find(graph_of(every, size), 0))).count('class="neighbour-link"') == count


def test_markup_in_names_stays_text() -> None:
    graph = Graph.from_scipy(np.ones((3, 3)) - np.eye(3), np.eye(3), ids=[f"{NASTY}{place}" for place in range(3)])
    found = find(graph, 0, {1: 0}, classes=[NASTY], link=lambda _: 'x" onload="alert(1)')
    for element in draw(found).iter():
        assert element.tag.removeprefix(SVG) in {"svg", "a", "g", "title", "circle", "rect", "line", "path", "text"}
        assert not any(key.startswith("on") for key in element.attrib)
    assert {mark.get("href") for mark in marks(found)} == {'x" onload="alert(1)'}
    assert not re.search(r"\bstyle=|<style|#[0-9a-f]{3,6}\b", str(draw_neighbourhood(found)))


def test_pictures_are_drawn_in_the_marks() -> None:
    pixels = Picture(np.array([[0, 8], [4, 0]]))
    drawn = marks(find(star(4), 0), pictures=lambda node: None if node == 2 else pixels)
    assert [mark.find(f"{SVG}svg") is not None for mark in drawn] == [True, False, True]


def test_class_bar_is_as_long_as_all_neighbours() -> None:
    found = find(star(9), 0, {1: 0, 2: 1}, predictions=np.array([-1, 0, 0, 0, 0, 1, -1, -1, -1]))
    module = _environment().get_template("web/page/templates/parts.html.j2").module
    bar = str(module.class_bar(found))
    parts = [
        (style, float(width)) for style, width in re.findall(r'class="([\w -]+)" x="[\d.]+" width="([\d.]+)"', bar)
    ]
    assert parts == [
        ("class-0 neighbour-labelled", 12.5),
        ("class-0 neighbour-predicted", 25.0),
        ("class-1 neighbour-labelled", 12.5),
        ("class-1 neighbour-predicted", 12.5),
        ("class-none neighbour-predicted", 37.5),
    ]
