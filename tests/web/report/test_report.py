"""The whole report."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featprop.errors import FileError, GraphError, LabelError, MissingExtraError, ParameterError
from featprop.graph import Graph
from featprop.web.report import build, report
from tests.helpers import raises


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append((tag, dict(attributes)))


def tags_of(page: str) -> list[tuple[str, dict[str, Any]]]:
    parser = Tags()
    parser.feed(page)
    return parser.tags


def test_page_has_every_part_and_loads_nothing(written: Path) -> None:
    page = written.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html><!-- featprop report -->\n")
    tags = tags_of(page)
    ids = {found["id"] for _, found in tags if "id" in found}
    assert {"map", "review", "accuracy", "labels", "graph", "next", "panel", "data"} <= ids
    assert [tag for tag, found in tags if "src" in found or tag in ("link", "iframe", "img")] == []
    assert all(found["href"].startswith("#") for tag, found in tags if tag == "a")
    assert "amount" in page
    assert page.count('<svg class="chart"') == 2
    assert "featprop audit &#39;my graph/&#39;" in page


def test_markup_in_names_is_escaped(written: Path) -> None:
    page = written.read_text(encoding="utf-8")
    assert [tag for tag, _ in tags_of(page)].count("script") == 2
    assert page.count("<script") == page.count("</script>") == 2
    assert "onerror=alert" not in re.sub(r"&lt;img.*?&gt;|\\u003cimg.*?\\u003e", "", page)
    assert "<!-- <script>" not in page
    assert "\u2028" not in page.split('id="data">')[1].split("</script>")[0]


def test_report_is_deterministic(written: Path, graph: Graph, labels: dict[str, str]) -> None:
    from featprop.web.report.commands import Files

    before = written.read_bytes()
    files = Files("my graph/", ("picks.csv",), ("audit.csv",), "report.html")
    title = "</script><script>document.title='stolen'</script>"
    build.report(graph, labels, audit={"n3": "ok", "n5": "ok"}, out=written, files=files, title=title, force=True)
    assert written.read_bytes() == before


def test_report_without_findings(graph: Graph, labels: dict[str, str], tmp_path: Path, monkeypatch: Any) -> None:
    from featprop.web.report.findings import Findings

    monkeypatch.setattr(build, "evaluate", lambda *_: Findings())
    made = report(graph, labels, out=tmp_path / "r.html")
    page = made.path.read_text(encoding="utf-8")
    assert made.headline in page
    assert 'id="review"' not in page
    assert "fp.select(graph, 4," in page
    assert made.headline in str(made)
    assert str(made.path) in str(made)
    assert made.headline in made._repr_html_()


@pytest.mark.parametrize("model", ["ridge", "sgc"])
def test_small_and_odd_graphs(model: str, tmp_path: Path) -> None:
    same = Graph.from_scipy(np.zeros((4, 4)), np.ones((4, 2)), ids=list("abcd"))
    report(same, {"a": 1, "b": 2}, out=tmp_path / "a.html", model=model)
    report(same, dict(zip("abcd", [1, 2, 1, 2], strict=True)), out=tmp_path / "b.html", model=model)
    alike = Graph.from_scipy(np.zeros((30, 30)), np.ones((30, 2)))
    report(alike, {0: "x"}, out=tmp_path / "c.html", model=model)
    assert (tmp_path / "c.html").exists()


def test_twelve_classes_have_legend_entries(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    graph = Graph.from_scipy(np.zeros((60, 60)), generator.normal(size=(60, 5)))
    report(graph, {node: f"class {node % 12}" for node in range(24)}, out=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count('aria-pressed="false"') == 12
    assert 'class="dots c1 square"' in page


def test_large_graph_is_sampled(tmp_path: Path, monkeypatch: Any) -> None:
    import featprop.web.report.page as page_module

    monkeypatch.setattr(page_module, "tsne_layout", lambda rows: np.asarray(rows)[:, :2])
    generator = np.random.default_rng(0)
    n = 6_000
    nodes = pa.table(
        {"id": range(n), "x": generator.normal(size=n), "text": [f"{node} " + "word " * 400 for node in range(n)]}
    )
    edges = pa.table({"source": range(n - 1), "target": range(1, n)})
    graph = Graph.from_tables(nodes, edges)
    report(graph, {node: node % 3 for node in range(0, n, 150)}, out=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "4,000 of the 6,000 nodes" in page
    assert len(page.encode()) < 5_000_000


@pytest.mark.parametrize(
    ("change", "error", "fields"),
    [
        ({"labels": {}}, LabelError, {"parameter": "labels"}),
        ({"labels": {"n99": "ok"}}, GraphError, {}),
        ({"audit": {"n99": "ok"}}, GraphError, {}),
        ({"audit": {"n0": "ok"}}, LabelError, {"parameter": "audit", "node": "n0"}),
        ({"out": "report.txt"}, ParameterError, {"parameter": "out", "value": "report.txt"}),
        ({"model": "rigde"}, ParameterError, {"value": "rigde"}),
    ],
)
def test_bad_input(graph: Graph, labels: Any, change: Any, error: Any, fields: Any, tmp_path: Path) -> None:
    given = {"labels": labels, "out": tmp_path / "report.html", **change}
    with raises(error, **fields):
        report(graph, **given)
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_not_overwritten(graph: Graph, labels: Any, tmp_path: Path) -> None:
    mine = tmp_path / "report.html"
    mine.write_text("<!doctype html>\nmy own page", encoding="utf-8")
    with raises(FileError, path=mine):
        report(graph, labels, out=mine)
    assert mine.read_text(encoding="utf-8") == "<!doctype html>\nmy own page"
    report(graph, labels, out=mine, force=True)
    with raises(FileError, path=mine):
        report(graph, labels, out=mine)
    (tmp_path / "folder.html").mkdir()
    with raises(FileError, path=tmp_path / "folder.html"):
        report(graph, labels, out=tmp_path / "folder.html", force=True)


def test_missing_extra_is_named(graph: Graph, labels: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "find_spec", lambda _: None)
    with raises(MissingExtraError, extra="report"):
        report(graph, labels, out=tmp_path / "r.html")


def test_labels_may_be_a_series(graph: Graph, labels: Any, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    made = report(graph, pd.Series(labels), out=tmp_path / "r.html")
    assert made.path.exists()


def test_bidi_controls_and_line_separators_are_removed(tmp_path: Path) -> None:
    bad = "\u202e\u2066\u2028\u2029"
    generator = np.random.default_rng(0)
    nodes = pa.table(
        {
            "id": [f"{bad}{node}" for node in range(40)],
            f"size{bad}": generator.normal(size=40),
            f"kind{bad}": [f"{bad}{'xy'[node % 2]}" for node in range(40)],
        }
    )
    edges = pa.table({"source": nodes["id"][:20], "target": nodes["id"][20:]})
    ids = nodes["id"].to_pylist()
    labels = {node: f"{bad}{'ab'[place % 2]}" for place, node in enumerate(ids[:9])} | {ids[9]: f"{bad}c"}
    from featprop.web.report.commands import Files

    files = Files(f"g{bad}", (f"{bad}.csv",), title=("--title", bad))
    made = build.report(
        Graph.from_tables(nodes, edges), labels, audit={ids[12]: f"{bad}new"}, out=tmp_path / "r.html", files=files,
        title=f"Mine{bad}",
    )  # fmt: skip
    page = made.path.read_text(encoding="utf-8")
    assert "<title>Mine: " in page
    assert not set(bad) & set(page)


def test_audit_is_scored_for_labels_of_one_class(graph: Graph, tmp_path: Path) -> None:
    one = {"n0": "ok", "n1": "ok"}
    made = report(graph, one, audit={"n3": "ok", "n4": "bad", "n5": "bad", "n6": "bad"}, out=tmp_path / "r.html")
    assert made.findings.audit is not None
    assert (made.findings.audit.size, made.findings.audit.accuracy.value) == (4, 0.25)
    assert str(made.findings.audit.accuracy) in made.headline
    with raises(LabelError, parameter="audit", node="n3"):
        report(graph, one, audit={"n3": float("nan")}, out=tmp_path / "other.html")


def test_first_screen_has_the_accuracy_once_and_navigation_follows(written: Path, findings: Any) -> None:
    hero, rest = written.read_text(encoding="utf-8").split('<nav class="contents"')
    assert len(re.findall(r"\b90.{0,6}%", hero.split("<body>")[1])) == 2, "the headline, and the level of the interval"
    assert 'href="#review"' in rest


def test_script_has_no_unused_names() -> None:
    script = (Path(build.__file__).parent / "report.js").read_text(encoding="utf-8")
    functions = re.findall(r"function (\w+)\(", script)
    assert [name for name in functions if len(re.findall(rf"\b{name}\b", script)) < 2] == []
    variables = [name for line in re.findall(r"^  let (.*);$", script, re.M) for name in re.findall(r"(\w+) = ", line)]
    assert [name for name in variables if not re.search(rf"\b{name}\b(?! = )", script)] == []


def test_coverage_is_computed_once(graph: Graph, labels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from featprop.evaluate import diagnose
    from featprop.models import GraphRidge
    from featprop.web.report.context import ReportContext

    model = GraphRidge().fit(graph, list(labels), list(labels.values()))
    context, expected = ReportContext(graph, model, labels), diagnose(graph, model)
    monkeypatch.setattr(sys.modules["featprop.evaluate.diagnostics"], "measure_coverage", None)
    found = build.evaluate(context).diagnostics
    assert found is not None
    assert str(found) == str(expected)
