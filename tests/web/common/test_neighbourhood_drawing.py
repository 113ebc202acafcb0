"""Neighbourhood drawings, their table rows and legends."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from featprop.web.common.neighbourhood_drawing import (
    SIZE,
    LegendLine,
    Row,
    class_legend,
    draw_neighbourhood,
    neighbour_rows,
)
from hypothesis import given
from hypothesis import strategies as st

from featprop.web.common.features import Picture
from featprop.web.common.neighbourhood import Count, Neighbour, Neighbourhood

SVG = "{http://www.w3.org/2000/svg}"
CLASSES = ["good", "bad"]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
NASTY = "</script><script>alert('1')</script> \" ' & ]]> \x00\x1b\ud800\uffff"


def link(position: int) -> str:
    return f"/nodes/{position}"


def name(position: int) -> str:
    return f"node {position}"


def made(first: int, each: int = 0, label: int | None = None) -> Neighbourhood:
    """A neighbourhood of which every third is labelled and every fifth is unknown."""
    near = tuple(
        Neighbour(place, 1.0, label=0)
        if place % 3 == 0
        else Neighbour(place, 1.0, prediction=None if place % 5 == 0 else 1)
        for place in range(1, first + 1)
    )
    far = tuple(
        Neighbour(1000 * parent.position + place, 1.0, prediction=0, parent=parent.position)
        for parent in near
        for place in range(each)
    )
    return Neighbourhood(0, label, near, far, (), first, {0: Count(first, 0)})


def marks(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}a"))


def titles(svg: str) -> list[str | None]:
    return [mark.findtext(f"{SVG}title") for mark in marks(svg)]


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_text_is_valid_xml_and_stays_text(called: str, class_name: str, href: str) -> None:
    svg = draw_neighbourhood(made(3, 1, 0), lambda _: called, [class_name, called], lambda _: href)
    svg.encode("utf-8")
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "a", "title", "circle", "rect", "line", "path", "text"}


def test_markup_in_names_stays_text() -> None:
    svg = draw_neighbourhood(made(3, 1), lambda _: NASTY, [NASTY, "<b>"], lambda _: 'x" onload="alert(1)')
    assert "<script" not in svg
    assert "</script" not in svg
    assert all(not key.startswith("on") for element in ElementTree.fromstring(svg).iter() for key in element.attrib)
    assert (titles(svg)[0] or "").startswith("</script><script>alert('1')</script> \" ' & ]]> ")
    assert {mark.get("href") for mark in marks(svg)} == {'x" onload="alert(1)'}


@pytest.mark.parametrize(
    ("first", "each"), [(0, 0), (1, 0), (2, 3), (8, 3), (9, 0), (24, 3), (25, 3), (33, 2), (40, 3)]
)
def test_marks_are_links_with_titles_inside_the_drawing(first: int, each: int) -> None:
    svg = draw_neighbourhood(made(first, each), name, CLASSES, link)
    found = marks(svg)
    assert len(found) == 1 + first + first * each
    assert all(mark.findtext(f"{SVG}title") and (mark.get("href") or "").startswith("/nodes/") for mark in found)
    left, top, width, height = map(float, (ElementTree.fromstring(svg).get("viewBox") or "").split())
    assert (left, width) == (0, SIZE)
    for x, y in places(svg):
        assert 0 < x < SIZE
        assert top < y < top + height


@pytest.mark.parametrize("first", [2, 8, 24, 25, 33, 40])
def test_marks_do_not_overlap(first: int) -> None:
    for each in (0, 3):
        found = np.array(places(draw_neighbourhood(made(first, each), name, CLASSES, link)))
        distances = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1))
        assert distances[~np.eye(len(found), dtype=bool)].min() > 7.2


def places(svg: str) -> list[tuple[float, float]]:
    """Coordinates of the neighbours."""
    return [(float(x), float(y)) for x, y in re.findall(r'class="neighbour-hit" cx="([\d.]+)" cy="([\d.]+)"', svg)]


def test_labels_differ_in_shape_colour_and_letter() -> None:
    around = Neighbourhood(
        0, None, (Neighbour(1, 1, label=0), Neighbour(2, 1, prediction=1), Neighbour(3, 1)), (), (), 3, {}
    )
    labelled, predicted, unknown, centre = marks(draw_neighbourhood(around, name, CLASSES, link))
    assert shape(labelled) == ("rect", "class-0 neighbour-labelled", "g")
    assert shape(predicted) == ("circle", "class-1 neighbour-predicted", "b")
    assert shape(unknown) == ("circle", "class-none neighbour-unknown", None)
    assert shape(centre) == ("circle", "neighbour-centre class-none neighbour-unknown", "?")
    shown = [(title or "").split("; ")[0] for title in titles(draw_neighbourhood(around, name, CLASSES, link))]
    assert shown == ["node 1", "node 2", "node 3", "node 0"]


def shape(mark: ElementTree.Element) -> tuple[str, str | None, str | None]:
    (found,) = [part for part in mark if part.get("class") == "neighbour-shape"]
    return found.tag.removeprefix(SVG), mark.get("class"), mark.findtext(f"{SVG}text")


def test_ring_starts_at_the_top_and_children_are_next_to_their_parent() -> None:
    found = places(draw_neighbourhood(made(4, 3), name, CLASSES, link))
    second, first = np.array(found[:12]) - SIZE / 2, np.array(found[12:]) - SIZE / 2
    assert first[0] == pytest.approx([0, -np.hypot(*first[0])], abs=0.1)
    assert first[1][0] > 50
    for place, child in enumerate(second):
        parent = first[place // 3]
        assert np.hypot(*child) > np.hypot(*parent)
        assert child @ parent / np.hypot(*child) / np.hypot(*parent) > np.cos(np.pi / 4)


def test_heavier_edges_are_wider() -> None:
    around = Neighbourhood(0, None, (Neighbour(1, 0.5), Neighbour(2, 2.0)), (), (), 2, {})
    svg = draw_neighbourhood(around, name, CLASSES, link)
    widths = [float(line.get("stroke-width") or 0) for line in ElementTree.fromstring(svg).iter(f"{SVG}line")]
    assert widths[0] < widths[1]
    assert [(title or "").split()[-1] for title in titles(svg)[:2]] == ["0.5", "2"]


def test_few_edges_between_neighbours_are_drawn() -> None:
    near = tuple(Neighbour(place, 1.0) for place in range(1, 11))
    pairs = tuple((a, b) for a in range(1, 11) for b in range(a + 1, 11))
    for links, count in ((pairs[:30], 30), (pairs[:31], 0)):
        svg = draw_neighbourhood(Neighbourhood(0, None, near, (), links, 10, {}), name, CLASSES, link)
        assert svg.count('class="neighbour-link"') == count


def test_names_of_up_to_eight_neighbours_are_drawn() -> None:
    assert draw_neighbourhood(made(8), name, CLASSES, link).count('class="neighbour-name"') == 8
    assert draw_neighbourhood(made(9), name, CLASSES, link).count('class="neighbour-name"') == 0
    assert draw_neighbourhood(made(0), name, CLASSES, link).count("<line") == 0


def test_drawing_is_deterministic_without_style_or_script() -> None:
    svg = draw_neighbourhood(made(30, 3), name, CLASSES, link)
    assert draw_neighbourhood(made(30, 3), name, CLASSES, link) == svg
    assert not re.search(r"\bstyle=|<style|<script|\bon\w+=|#[0-9a-f]{3,6}\b", svg)


def test_pictures_are_drawn_in_the_marks() -> None:
    pixels = Picture(np.array([[0, 8], [4, 0]]))
    svg = draw_neighbourhood(made(4), name, CLASSES, link, lambda position: None if position == 2 else pixels)
    inside = [mark.find(f"{SVG}svg") is not None for mark in marks(svg)]
    assert inside == [True, False, True, True, True]
    assert 'class="neighbour-name"' not in svg
    assert "class-0 neighbour-labelled neighbour-pictured" in svg


def test_those_the_node_represented_are_marked() -> None:
    around = Neighbourhood(0, 1, (Neighbour(1, 1.0, represented=True), Neighbour(2, 1.0)), (), (), 2, {})
    svg = draw_neighbourhood(around, name, CLASSES, link)
    assert svg.count('class="neighbour-represented"') == 1
    assert "bad" in (titles(svg)[-1] or "")


def test_rows_and_legend_match_the_drawing() -> None:
    around = Neighbourhood(
        0,
        None,
        (Neighbour(1, 0.25, label=1, represented=True), Neighbour(2, 1.0)),
        (Neighbour(7, 1.0, prediction=0, parent=1),),
        (),
        2,
        {1: Count(1, 0), None: Count(0, 1)},
    )
    assert neighbour_rows(around, name, CLASSES, link) == [
        Row("node 1", "/nodes/1", 1, "", "bad", "labelled", "0.25", True),
        Row("node 2", "/nodes/2", 1, "", "", "", "1", False),
        Row("node 7", "/nodes/7", 2, "node 1", "good", "predicted", "1", False),
    ]
    assert len(marks(draw_neighbourhood(around, name, CLASSES, link))) == 1 + len(
        neighbour_rows(around, name, CLASSES, link)
    )
    assert class_legend(around, CLASSES) == [
        LegendLine("b", "class-1", "bad", 1, 0),
        LegendLine("", "class-none", "unlabelled", 0, 0, 1),
    ]
