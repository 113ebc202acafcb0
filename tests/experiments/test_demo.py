"""The demonstration: experiments on the digits and their page."""

import csv
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import featprop as fp
from featprop.active import select
from featprop.datasets import digits
from featprop.errors import FeatpropError, FileError, MissingExtraError, ParameterError
from featprop.experiments import runner
from featprop.experiments.demo import BUDGETS, METHODS, Demonstration, demo_settings, find_misplaced, run
from featprop.experiments.results import Result, read_results
from featprop.experiments.summary import Results
from featprop.matrix import dense
from featprop.propagation import coverage
from tests.helpers import raises

VOID = {"br", "img", "link", "meta"}
Make = Callable[..., Result]


@dataclass(frozen=True)
class Demo:
    folder: Path
    summary: str

    @property
    def page(self) -> str:
        return (self.folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A run with one seed and two budgets."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    return Demo(folder, run(folder, seeds=1, budgets=(10, 40)))


class Page(HTMLParser):
    """Check that tags match and collect what the page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.loads: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.note(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def note(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "xlink:href", "src"):
                (self.references if value.startswith("#") else self.loads).append(value.lstrip("#"))
            self.references += re.findall(r"url\(#([^)]*)\)", value or "")


@pytest.fixture(scope="module")
def page(demonstration: Demo) -> Page:
    return Page(demonstration.page)


def test_page_is_well_formed(page: Page) -> None:
    assert page.open == []
    assert page.tags.count("svg") == 5
    assert page.tags.count("h1") == 1


def test_page_is_self_contained(page: Page, demonstration: Demo) -> None:
    assert len(page.loads) == page.tags.count("img") == 40
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert "http" not in re.sub(r"data:[^\"]*", "", demonstration.page)
    assert "@import" not in demonstration.page


def test_drawings_do_not_share_ids(page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)


def test_pictures_are_described(demonstration: Demo) -> None:
    described = r'<svg viewBox="[^"]*" role="img" aria-label="[^"]{40,}">'
    assert len(re.findall(described, demonstration.page)) == 5
    for name in METHODS:
        assert len(re.findall(rf'aria-label="[^"]*digits, {name}: [\d.]+ with 10, ', demonstration.page)) == 2
    assert len(re.findall(r'<img [^>]*alt="Pick \d+, a handwritten \d"', demonstration.page)) == 40


def test_page_has_headline_table_and_commands(demonstration: Demo) -> None:
    headline = demonstration.summary.splitlines()[0].rstrip(".")
    assert f"<h1>{headline}</h1>" in demonstration.page
    for line in demonstration.summary.splitlines():
        if re.match(r" +\d", line):
            budget, *cells = line.split()
            start = demonstration.page.index(f'<tr><th scope="row">{budget}</th>')
            row = demonstration.page[start : demonstration.page.index("</tr>", start)]
            assert re.findall(r"<td[^>]*>([^<]*)</td>", row) == cells
    for command in (
        "featprop select my-graph/ --budget 40 --out picks.csv",
        "featprop train my-graph/ --labels picks.csv --out model.safetensors",
        "featprop predict my-graph/ --model model.safetensors --out predictions.csv",
        "featprop select my-graph/ --budget 20 --labels picks.csv --out more.csv",
    ):
        assert f"<code>{command}</code>" in demonstration.page


def test_tiles_show_the_lead_of_the_default(demonstration: Demo) -> None:
    table = [line.split() for line in demonstration.summary.splitlines() if re.match(r" +\d", line)]
    tiles = re.findall(r'<li><span class="labels">.*?</li>', demonstration.page)
    for (budget, ours, random, paper, *_), tile in zip(table, tiles, strict=True):
        shown = re.findall(r"[-+]?\d[\d.]*", re.sub(r"<[^>]*>", " ", tile))
        assert shown[:3] + shown[4:5] == [budget, ours, random, paper]
        assert float(shown[3]) == pytest.approx(float(ours) - float(random), abs=0.11)
        assert float(shown[5]) == pytest.approx(float(ours) - float(paper), abs=0.11)


def test_gallery_shows_the_picks_of_the_default_in_order(demonstration: Demo) -> None:
    graph = digits()
    lines = read_results(demonstration.folder / "results")
    [line] = [
        line for line in lines if (line.strategy, line.budget, line.protocol) == ("featprop-diffused", 40, "unlabelled")
    ]
    positions = graph.positions(line.nodes)
    names = np.array(graph.class_names())[positions]
    counts = np.bincount(coverage(graph, positions).nearest, minlength=40)
    shown = re.findall(r'alt="Pick (\d+), a handwritten (\d)".*?class="count">(\d+) node', demonstration.page)
    assert [tuple(map(int, tile)) for tile in shown] == list(zip(range(1, 41), names, counts, strict=True))
    rounds = ", ".join(map(str, line.schedule[:-1]))
    assert line.nodes[:10] == tuple(select(graph, 10).nodes.tolist())
    assert demonstration.page.count(f"in rounds, up to {rounds} and 40 labels") == 1
    assert demonstration.page.count(f"in rounds up to {rounds} and 40 labels") == 1


def test_maps_show_the_three_methods(demonstration: Demo) -> None:
    graph = digits()
    for name, title in (("random", "Random selection"), ("featprop", "The paper&#39;s FeatProp")):
        picks = select(graph, 40, strategy=name)
        wrong = np.count_nonzero(find_misplaced(graph, picks))
        start = demonstration.page.index(f">{title}</h3>")
        figure = demonstration.page[start : demonstration.page.index("</figure>", start)]
        assert f"<b>{wrong} nodes</b>" in figure
        assert f"is {picks.mean_distance:.2f} on average, {picks.max_distance:.2f} at most" in figure
    assert ">Our default</h3>" in demonstration.page


def test_misplaced_nodes_have_a_nearest_pick_of_another_digit() -> None:
    graph = digits()
    assert graph.labels is not None
    picks = select(graph, 10)
    wrong = find_misplaced(graph, picks)
    assert not wrong[picks.positions].any()
    node = int(np.flatnonzero(wrong)[0])
    assert graph.labels[node] != graph.labels[picks.positions[picks.nearest[node]]]


def test_graph_reads_back_unchanged(demonstration: Demo) -> None:
    graph, again = digits(), fp.read_graph(demonstration.folder / "graph")
    assert (graph.adjacency != again.adjacency).nnz == 0
    assert np.array_equal(dense(graph.features), dense(again.features))
    assert again.ids.tolist() == graph.ids.tolist()
    assert again.feature_names == tuple(f"p{pixel}" for pixel in range(64))
    assert again.labels is None


def test_true_labels_are_in_a_separate_file(demonstration: Demo) -> None:
    with (demonstration.folder / "graph-labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    graph = digits()
    assert [int(row["id"]) for row in rows] == graph.ids.tolist()
    assert [int(row["label"]) for row in rows] == graph.class_names()


def test_summary_has_the_scores_and_the_path(demonstration: Demo) -> None:
    lines = demonstration.summary.splitlines()
    budgets = [line.split() for line in lines if re.match(r" +\d", line)]
    assert [cells[0] for cells in budgets] == ["10", "40"]
    found = Results(read_results(demonstration.folder / "results"))
    for place, (_, *cells) in enumerate(budgets):
        runs = [
            found.runs(metric, "digits", *way, "unlabelled")
            for metric in ("accuracy", "macro_f1")
            for way in (("featprop-diffused", "ridge"), ("random", "ridge"), ("featprop", "gcn"))
        ]
        assert cells == [each.text(place) for each in runs if each]
    assert f"Report: {demonstration.folder / 'report.html'}" in lines


def test_only_outputs_are_written(demonstration: Demo) -> None:
    written = {str(path.relative_to(demonstration.folder)) for path in demonstration.folder.rglob("*")}
    graph = {"graph", "graph/nodes.csv", "graph/edges.csv", "graph-labels.csv"}
    results = {"results", "results/digits.jsonl", "results/datasets.json"}
    assert written - {"results/.lock"} == {"report.html", *graph, *results}


def test_forced_run_writes_the_same_files(demonstration: Demo) -> None:
    files = [path for path in demonstration.folder.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    assert run(demonstration.folder, seeds=1, budgets=(10, 40), force=True) == demonstration.summary
    assert {path: path.read_bytes() for path in files} == before


@pytest.mark.parametrize("name", ["report.html", "graph", "graph-labels.csv"])
def test_existing_files_are_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with raises(FileError, path=tmp_path / name):
        run(tmp_path, seeds=1)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_at_least_one_seed(tmp_path: Path) -> None:
    with raises(ParameterError, parameter="seeds", value=0):
        run(tmp_path, seeds=0)


@pytest.mark.parametrize("name", ["jinja2", "matplotlib", "pandas", "torch"])
def test_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with raises(MissingExtraError, extra="demo", package=name):
        run(tmp_path, seeds=1)


def test_import_is_light() -> None:
    heavy = "{'jinja2', 'matplotlib', 'pandas', 'sklearn', 'torch'}"
    code = f"import sys; from featprop.experiments.demo import run; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_no_page_after_a_failed_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = SimpleNamespace(failures=[SimpleNamespace(reason="out of luck")])
    monkeypatch.setattr(runner, "run", lambda *_: outcome)
    with pytest.raises(FeatpropError, match="out of luck"):
        run(tmp_path, seeds=1)
    assert not (tmp_path / "report.html").exists()


GRAPH = digits().fingerprint
SCHEDULES = {10: (10,), 20: (10, 15, 20)}
"""Numbers of labels at which the default is asked."""


@pytest.fixture
def made(line: Make) -> Callable[..., Result]:
    """Make a result of the demonstration."""

    def make(name: str, budget: int, seed: int, score: float, **others: Any) -> Result:
        method = METHODS[name]
        schedule = SCHEDULES.get(budget, ()) if name == "default" else ()
        given = {
            "dataset": "digits",
            "graph": GRAPH,
            "protocol": "unlabelled",
            "model": method.model,
            "schedule": schedule,
        }
        return line(**{"strategy": method.strategy, **given, **others}, budget=budget, seed=seed, macro=score)

    return make


@pytest.fixture
def lines(made: Make) -> list[Result]:
    """Default 90 and 94, random 70 and 80, paper 91 and 95 percent by seed; 10 more with 20 labels for random."""
    found = []
    for seed, (ours, random, paper) in enumerate([(0.90, 0.70, 0.91), (0.94, 0.80, 0.95)]):
        for budget, more in ((10, 0.0), (20, 0.1)):
            found += [
                made("default", budget, seed, ours),
                made("random", budget, seed, random + more),
                made("paper", budget, seed, paper),
            ]
    return found


def shown(lines: list[Result], **others: Any) -> list[str]:
    settings = demo_settings(**{"budgets": [10, 20], "seeds": 2, **others})
    return Demonstration(digits(), lines, settings).text().splitlines()


def test_text(lines: list[Result]) -> None:
    text = shown(lines)
    assert text[0] == "10 labels chosen by featprop do the work of 20 chosen at random."
    assert text[-4:] == [
        "         Accuracy                               Macro-F1",
        "labels      default       random        paper      default       random        paper",
        "    10   92.0 ± 2.8   75.0 ± 7.1   93.0 ± 2.8   92.0 ± 2.8   75.0 ± 7.1   93.0 ± 2.8",
        "    20   92.0 ± 2.8   85.0 ± 7.1   93.0 ± 2.8   92.0 ± 2.8   85.0 ± 7.1   93.0 ± 2.8",
    ]


def test_other_results_are_ignored(lines: list[Result], made: Make) -> None:
    """The folder may hold results of other runs and experiments."""
    more = [
        made("paper", 10, 0, 0.1, options={"layers": 1}),
        made("paper", 10, 0, 0.1, settings={"epochs": 5}),
        made("paper", 10, 0, 0.1, model="sgc"),
        made("random", 10, 0, 0.1, model="gcn"),
        made("default", 20, 0, 0.1, schedule=(10, 20)),
        made("random", 10, 0, 0.1, strategy="degree"),
        made("random", 10, 0, 0.1, dataset="cora", graph="cafe"),
        made("random", 10, 0, 0.1, graph="f00d"),
        made("paper", 40, 0, 0.1),
        made("paper", 10, 7, 0.1),
    ]
    assert shown([*more, *lines]) == shown(lines)
    alone = shown(lines, seeds=1, budgets=[10])
    assert alone[-1].split() == ["10", *["90.0", "70.0", "91.0"] * 2]


@pytest.mark.parametrize("name", METHODS)
def test_missing_results_are_an_error(lines: list[Result], name: str) -> None:
    missing = METHODS[name].strategy
    with pytest.raises(FeatpropError, match=missing):
        shown([entry for entry in lines if entry.strategy != missing])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """The experiments of ``make demo``."""
    folder = tmp_path_factory.mktemp("whole")
    settings = demo_settings(seeds=5)
    runner.run(settings, folder)
    return Demonstration(digits(), read_results(folder), settings)


def test_readme_shows_the_output(whole: Demonstration) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = readme.partition("writes `demo/report.html` and prints:\n\n```\n")[2].partition("```")[0]
    shown, printed = ([line.split() for line in text.splitlines()] for text in (block, whole.text()))
    printed = [*printed[:2], *printed[printed.index(["Accuracy", "Macro-F1"]) :]]
    assert shown[:4] == printed[:4]
    for row, made in zip(shown[4:], printed[4:], strict=True):
        numbers = [[float(word) for word in words if word != "±"] for words in (row, made)]
        assert row[0] == made[0]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.5), "percent; networks differ between processors"


def test_default_is_ahead_of_random_selection(whole: Demonstration) -> None:
    for metric in ("accuracy", "macro_f1"):
        ours, theirs = (
            whole.results.runs(metric, "digits", name, "ridge", "unlabelled")
            for name in ("featprop-diffused", "random")
        )
        assert ours is not None
        assert theirs is not None
        assert (ours.curve().mean > theirs.curve().mean).all()
        assert (theirs.curve().deviation > 0).all()
        for runs in (ours, theirs):
            assert runs.percent.shape == (len(BUDGETS), 5)
            assert (np.diff(runs.curve().mean) > 0).all()
