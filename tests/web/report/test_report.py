"""The whole report: written once, escaped everywhere, never over what is not one."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import featprop as fp
from featprop.errors import FileError, GraphError, LabelError, MissingExtraError, ParameterError
from featprop.graph import Graph
from featprop.web.report import composition


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


def test_the_page_has_every_part_and_loads_nothing(written: Path) -> None:
    page = written.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html><!-- featprop report -->\n")
    tags = tags_of(page)
    ids = {found["id"] for _, found in tags if "id" in found}
    assert {"map", "distrust", "good", "picks", "graph", "next", "panel", "data"} <= ids
    assert [tag for tag, found in tags if "src" in found or tag in ("link", "iframe", "img")] == []
    assert all(found["href"].startswith("#") for tag, found in tags if tag == "a")
    for said in ("Labels that look wrong", "Least sure", "What labels bring", "amount"):
        assert said in page
    assert page.count('<svg class="chart"') == 2
    assert "featprop audit &#39;my graph/&#39;" in page


def test_markup_in_names_is_text(written: Path) -> None:
    page = written.read_text(encoding="utf-8")
    assert [tag for tag, _ in tags_of(page)].count("script") == 2
    assert page.count("<script") == page.count("</script>") == 2
    assert "onerror=alert" not in re.sub(r"&lt;img.*?&gt;|\\u003cimg.*?\\u003e", "", page)
    assert "<!-- <script>" not in page
    assert "\u2028" not in page.split('id="data">')[1].split("</script>")[0]


def test_the_same_report_twice_is_the_same_file(written: Path, graph: Graph, labels: dict[str, str]) -> None:
    from featprop.web.report.commands import Files

    before = written.read_bytes()
    files = Files("my graph/", ("picks.csv",), ("audit.csv",), "report.html")
    title = "</script><script>document.title='stolen'</script>"
    composition.report(graph, labels, audit={"n3": "ok", "n5": "ok"}, out=written, files=files, title=title)
    assert written.read_bytes() == before


def test_without_estimates_the_page_says_so(
    graph: Graph, labels: dict[str, str], tmp_path: Path, monkeypatch: Any
) -> None:
    from featprop.web.report.findings import Findings

    monkeypatch.setattr(composition, "findings_of", lambda *_: Findings())
    made = fp.report(graph, labels, out=tmp_path / "r.html")
    page = made.path.read_text(encoding="utf-8")
    assert "no telling yet" in made.headline
    assert "no telling yet" in page
    assert 'id="distrust"' not in page
    assert "fp.select(graph, 4," in page
    assert str(made) == f"{made.headline}. The report is in {made.path}."
    assert "Report" in made._repr_html_()


@pytest.mark.parametrize("model", ["ridge", "sgc"])
def test_small_and_odd_graphs(model: str, tmp_path: Path) -> None:
    same = Graph.from_scipy(np.zeros((4, 4)), np.ones((4, 2)), ids=list("abcd"))
    fp.report(same, {"a": 1, "b": 2}, out=tmp_path / "a.html", model=model)
    fp.report(same, dict(zip("abcd", [1, 2, 1, 2], strict=True)), out=tmp_path / "b.html", model=model)
    alike = Graph.from_scipy(np.zeros((30, 30)), np.ones((30, 2)))
    fp.report(alike, {0: "x"}, out=tmp_path / "c.html", model=model)
    assert "All labels are x so far" in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_twelve_classes_have_a_legend_entry_each(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    graph = Graph.from_scipy(np.zeros((60, 60)), generator.normal(size=(60, 5)))
    fp.report(graph, {node: f"class {node % 12}" for node in range(24)}, out=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count('aria-pressed="false"') == 12
    assert 'class="dots c1 square"' in page


def test_a_large_graph_is_sampled_and_small_on_disk(tmp_path: Path, monkeypatch: Any) -> None:
    import featprop.web.report.page as page_module

    monkeypatch.setattr(page_module, "layout", lambda rows: np.asarray(rows)[:, :2])
    generator = np.random.default_rng(0)
    n = 6_000
    nodes = pa.table(
        {"id": range(n), "x": generator.normal(size=n), "text": [f"{node} " + "word " * 400 for node in range(n)]}
    )
    edges = pa.table({"source": range(n - 1), "target": range(1, n)})
    graph = Graph.from_tables(nodes, edges)
    fp.report(graph, {node: node % 3 for node in range(0, n, 150)}, out=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "4,000 of the 6,000 nodes" in page
    assert len(page.encode()) < 5_000_000


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"labels": {}}, LabelError, "labels must hold at least one label; found none: label a few nodes first."),
        ({"labels": {"n99": "ok"}}, GraphError, "must be ids of the graph"),
        ({"audit": {"n99": "ok"}}, GraphError, "audit nodes must be ids of the graph"),
        ({"audit": {"n0": "ok"}}, LabelError, "audit must hold nodes that are not among the labels; found 1"),
        ({"out": "report.txt"}, ParameterError, "out must end in .html; found 'report.txt': write to report.html."),
        ({"model": "rigde"}, ParameterError, "did you mean 'ridge'?"),
    ],
)
def test_bad_input(graph: Graph, labels: Any, change: Any, error: Any, message: str, tmp_path: Path) -> None:
    given = {"labels": labels, "out": tmp_path / "report.html", **change}
    with pytest.raises(error) as raised:
        fp.report(graph, **given)
    assert message in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_report_stays(graph: Graph, labels: Any, tmp_path: Path) -> None:
    mine = tmp_path / "report.html"
    mine.write_text("<!doctype html>\nmy own page", encoding="utf-8")
    with pytest.raises(FileError, match="a file that featprop report did not write"):
        fp.report(graph, labels, out=mine)
    assert mine.read_text(encoding="utf-8") == "<!doctype html>\nmy own page"
    fp.report(graph, labels, out=mine, force=True)
    fp.report(graph, labels, out=mine)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(FileError, match="must be a file"):
        fp.report(graph, labels, out=tmp_path / "folder.html", force=True)


def test_a_missing_extra_is_named(graph: Graph, labels: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(composition, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'featprop\[report\]'"):
        fp.report(graph, labels, out=tmp_path / "r.html")


def test_labels_may_be_a_series(graph: Graph, labels: Any, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    made = fp.report(graph, pd.Series(labels), out=tmp_path / "r.html")
    assert made.path.exists()


def test_nothing_that_people_wrote_turns_or_breaks_a_line(tmp_path: Path) -> None:
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
    made = composition.report(
        Graph.from_tables(nodes, edges), labels, audit={ids[12]: f"{bad}new"}, out=tmp_path / "r.html", files=files,
        title=f"Mine{bad}",
    )  # fmt: skip
    page = made.path.read_text(encoding="utf-8")
    assert "<title>Mine: " in page
    assert not set(bad) & set(page)


def test_an_audit_is_scored_where_there_is_one_class_to_learn(graph: Graph, tmp_path: Path) -> None:
    one = {"n0": "ok", "n1": "ok"}
    made = fp.report(graph, one, audit={"n3": "ok", "n4": "bad", "n5": "bad", "n6": "bad"}, out=tmp_path / "r.html")
    assert made.headline.startswith("About 25% (")
    assert made.findings.audit is not None
    page = made.path.read_text(encoding="utf-8")
    assert "All labels are ok so far: nothing can be learnt from one class." in page
    assert "By the audit of 4 nodes" in page
    with pytest.raises(LabelError, match="must have a class for every node"):
        fp.report(graph, one, audit={"n3": float("nan")}, out=tmp_path / "other.html")


def test_tile_and_chart_say_what_their_forecasts_are_of(written: Path) -> None:
    page = written.read_text(encoding="utf-8")
    assert "expected of the accuracy by the audit" in page
    assert "as labels and graph tell it without the audit; dashed" in page


def test_the_script_has_nothing_that_is_not_used() -> None:
    script = (Path(composition.__file__).parent / "report.js").read_text(encoding="utf-8")
    functions = re.findall(r"function (\w+)\(", script)
    assert [name for name in functions if len(re.findall(rf"\b{name}\b", script)) < 2] == []
    variables = [name for line in re.findall(r"^  let (.*);$", script, re.M) for name in re.findall(r"(\w+) = ", line)]
    assert [name for name in variables if not re.search(rf"\b{name}\b(?! = )", script)] == []


def test_how_far_labels_reach_is_measured_once(graph: Graph, labels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from featprop.evaluate import doubts
    from featprop.models import GraphRidge
    from featprop.web.report.subject import Subject

    model = GraphRidge().fit(graph, list(labels), list(labels.values()))
    subject, expected = Subject(graph, model, labels), doubts(graph, model)
    monkeypatch.setattr(sys.modules["featprop.evaluate.doubts"], "covered", None)
    found = composition.findings_of(subject).doubts
    assert found is not None
    assert str(found) == str(expected)
