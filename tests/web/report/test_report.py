"""The whole report."""

import base64
import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featprop.errors import FileError, GraphError, LabelError, MissingExtraError, ParameterError
from featprop.graph import Graph
from featprop.web.report import build, report
from tests.helpers import HtmlPage, raises
from tests.web.report.conftest import CLASSES, EVIL, FILES


def test_page_has_every_part_and_loads_nothing(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    page = HtmlPage(text)
    assert text.startswith("<!doctype html><!-- featprop report -->\n")
    assert {"map", "review", "accuracy", "labels", "graph", "next", "panel", "data"} <= set(page.ids)
    assert page.loads == []
    assert all(link.startswith(("#", "data:text/csv;")) for link in page.links)
    assert text.count('<svg class="chart"') == 2
    assert "featprop audit &#39;my graph/&#39;" in text


def test_accuracy_is_stated_once_and_navigation_follows(written: Path) -> None:
    body = written.read_text(encoding="utf-8").split("<body>")[1].split('<script type="application/json"')[0]
    hero, rest = body.split('<nav class="contents"')
    accuracy = re.search(r"Accuracy (\d+ % \(.*?\))", hero)
    assert accuracy is not None
    assert body.count(accuracy[1]) == 1
    assert 'href="#review"' in rest


def test_lists_name_nodes_by_their_columns_and_are_sheets(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert '<span class="id">n59</span> · about: Pays rent since 59 · amount: ' in text
    link = re.search(r'href="data:text/csv;charset=utf-8;base64,([^"]+)" download="unlabelled_components.csv"', text)
    assert link is not None
    rows = list(csv.DictReader(base64.b64decode(link[1]).decode("utf-8").splitlines()))
    assert list(rows[0]) == ["id", "label", "rank", "prediction", "reason"]
    assert {(row["id"], row["label"]) for row in rows} == {("n58", ""), ("n59", "")}


def test_markup_in_names_is_escaped(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    assert "onerror=alert" not in re.sub(r"&lt;img.*?&gt;|\\u003cimg.*?\\u003e", "", text)
    assert "<!-- <script>" not in text
    assert "\u202e" not in text, "nothing changes the direction of the text"


def test_report_is_deterministic(written: Path, graph: Graph, labels: dict[str, str], tmp_path: Path) -> None:
    audit = {"n3": CLASSES[1], "n5": CLASSES[1]}
    again = report(graph, labels, audit=audit, out=tmp_path / "r.html", files=FILES, title=EVIL[0])
    assert again.path.read_bytes() == written.read_bytes()


@pytest.mark.parametrize("model", ["ridge", "sgc"])
def test_small_and_odd_graphs(model: str, tmp_path: Path) -> None:
    same = Graph.from_scipy(np.zeros((4, 4)), np.ones((4, 2)), ids=list("abcd"))
    report(same, {"a": 1, "b": 2}, out=tmp_path / "a.html", model=model)
    report(same, dict(zip("abcd", [1, 2, 1, 2], strict=True)), out=tmp_path / "b.html", model=model)
    alike = Graph.from_scipy(np.zeros((30, 30)), np.ones((30, 2)))
    report(alike, {0: "x"}, out=tmp_path / "c.html", model=model)
    assert len(list(tmp_path.iterdir())) == 3


def test_classes_after_the_tenth_are_squares(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    graph = Graph.from_scipy(np.zeros((60, 60)), generator.normal(size=(60, 5)))
    report(graph, {node: f"class {node % 12}" for node in range(24)}, out=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count('aria-pressed="false"') == 12
    assert '<i class="swatch class-1 class-repeated"' in page


def test_large_graph_is_sampled(tmp_path: Path, monkeypatch: Any) -> None:
    import featprop.web.report.map as map_module

    monkeypatch.setattr(map_module, "MAX_NODES", 400)
    generator = np.random.default_rng(0)
    n = 420
    nodes = pa.table(
        {"id": range(n), "x": generator.normal(size=n), "text": [f"{node} " + "word " * 400 for node in range(n)]}
    )
    edges = pa.table({"source": range(n - 1), "target": range(1, n)})
    graph = Graph.from_tables(nodes, edges)
    report(graph, {node: node % 3 for node in range(0, n, 15)}, out=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "400 of the 420 nodes" in page
    assert len(page.encode()) < 600_000, "long text is cut"


@pytest.mark.parametrize(
    ("change", "error", "fields"),
    [
        ({"labels": {}}, LabelError, {"parameter": "labels"}),
        ({"labels": {"n99": "ok"}}, GraphError, {}),
        ({"audit": {"n99": "ok"}}, GraphError, {}),
        ({"audit": {"n0": "ok"}}, LabelError, {"parameter": "audit", "node": "n0"}),
        ({"audit": {"n3": float("nan")}}, LabelError, {"parameter": "audit", "node": "n3"}),
        ({"out": "report.txt"}, ParameterError, {"parameter": "out", "value": "report.txt"}),
        ({"model": "rigde"}, ParameterError, {"value": "rigde"}),
    ],
)
def test_bad_input(graph: Graph, labels: Any, change: Any, error: Any, fields: Any, tmp_path: Path) -> None:
    given = {"labels": labels, "out": tmp_path / "report.html", **change}
    with raises(error, **fields):
        report(graph, **given)
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_overwritten_only_by_force(graph: Graph, tmp_path: Path) -> None:
    one = {"n0": "ok"}
    mine = tmp_path / "report.html"
    mine.write_text("my own page", encoding="utf-8")
    with raises(FileError, path=mine):
        report(graph, one, out=mine)
    assert mine.read_text(encoding="utf-8") == "my own page"
    assert report(graph, one, out=mine, force=True).headline in mine.read_text(encoding="utf-8")


def test_missing_extra_is_named(graph: Graph, labels: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "find_spec", lambda _: None)
    with raises(MissingExtraError, extra="report"):
        report(graph, labels, out=tmp_path / "r.html")


def test_audit_is_scored_for_labels_of_one_class(graph: Graph, tmp_path: Path) -> None:
    one = {"n0": "ok", "n1": "ok"}
    made = report(graph, one, audit={"n3": "ok", "n4": "bad", "n5": "bad", "n6": "bad"}, out=tmp_path / "r.html")
    assert made.findings.audit is not None
    assert (made.findings.audit.size, made.findings.audit.accuracy.value) == (4, 0.25)
    assert str(made.findings.audit.accuracy) in made.headline
