import base64
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.image import imread

from featprop.datasets import digits
from featprop.demo.maps import astray
from featprop.drawing.palette import DIGITS, css_variables, themed
from featprop.drawing.svg import png_uri
from featprop.selection import select

VOID = {"br", "img", "link", "meta"}


class Page(HTMLParser):
    """Checks that every element is closed in its turn and collects what the page refers to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.references, self.loads = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.note(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def note(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "xlink:href", "src"):
                (self.references if value.startswith("#") else self.loads).append(value.lstrip("#"))
            self.references += re.findall(r"url\(#([^)]*)\)", value or "")


@pytest.fixture(scope="module")
def page(demonstration):
    return Page(demonstration.page)


def test_the_page_is_well_formed(page):
    assert page.open == []
    assert page.tags.count("svg") == 4
    assert page.tags.count("h1") == 1


def test_the_page_is_self_contained(page, demonstration):
    assert len(page.loads) == page.tags.count("img") == 40
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert "http" not in re.sub(r"data:[^\"]*", "", demonstration.page)
    assert "@import" not in demonstration.page


def test_the_drawings_do_not_share_ids(page):
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)


def test_pictures_are_described(demonstration):
    described = r'<svg viewBox="[^"]*" role="img" aria-label="[^"]{40,}">'
    assert len(re.findall(described, demonstration.page)) == 4
    assert len(re.findall(r'<img [^>]*alt="Pick \d+, a handwritten \d"', demonstration.page)) == 40


def test_headline_table_and_commands_are_in_the_page(demonstration):
    headline = demonstration.summary.splitlines()[0].rstrip(".")
    assert f"<h1>{headline}</h1>" in demonstration.page
    for line in demonstration.summary.splitlines():
        if re.match(r" +\d", line):
            budget, *cells = line.split()
            row = f'<th scope="row">{budget}</th>' + "".join(f"<td>{cell}</td>" for cell in cells)
            assert row in demonstration.page
    for command in (
        "featprop select my-graph/ --budget 40 --out picks.csv",
        "featprop train my-graph/ --labels picks.csv --out model/",
        "featprop predict my-graph/ --model model/ --out predictions.csv",
    ):
        assert f"<code>{command}</code>" in demonstration.page


def test_the_gallery_shows_the_picks_in_order(demonstration):
    graph = digits()
    picks = select(graph, 40)
    shown = re.findall(r'alt="Pick (\d+), a handwritten (\d)".*?class="count">(\d+) node', demonstration.page)
    names = np.array(graph.class_names())[picks.positions]
    expected = zip(range(1, 41), names.tolist(), picks.represents.tolist(), strict=True)
    assert [tuple(map(int, tile)) for tile in shown] == list(expected)


def test_nodes_astray_are_those_whose_nearest_pick_shows_another_digit():
    graph = digits()
    picks = select(graph, 10)
    wrong = astray(graph, picks)
    assert not wrong[picks.positions].any()
    node = int(np.flatnonzero(wrong)[0])
    assert graph.labels[node] != graph.labels[picks.positions[picks.nearest[node]]]


def test_an_image_reads_back_from_its_uri(tmp_path):
    pixels = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
    png = tmp_path / "image.png"
    png.write_bytes(base64.b64decode(png_uri(pixels).partition(",")[2]))
    assert imread(png)[:, :, 0] == pytest.approx(1 - pixels, abs=1 / 255)


def test_every_colour_is_defined_for_light_and_dark():
    assert css_variables().count("--digit-7:") == 2
    assert themed(f"fill: {DIGITS[7].light}") == "fill: var(--digit-7)"
    assert len({colour.light for colour in DIGITS}) == len({colour.dark for colour in DIGITS}) == 10
