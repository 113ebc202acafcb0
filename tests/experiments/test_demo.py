"""The demonstration: experiments on the digits and their page."""

import csv
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
from featprop.experiments.demo import BUDGETS, METHODS, Demonstration, demo_settings, run
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, read_results
from featprop.experiments.summary import Results
from featprop.matrix import dense
from featprop.propagation import coverage
from tests.helpers import HtmlPage, raises

Make = Callable[..., Result]
GRAPH = digits()


@pytest.fixture(scope="module", autouse=True)
def trials_here() -> Iterator[None]:
    """Run trials in this process."""

    def run_here(work: Any, jobs: int, threads: int) -> Iterator[list[Result]]:
        protocol = Protocol(GRAPH)
        for trial, known in work:
            yield from protocol.run(trial, known)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runner, "run_trials", run_here)
        yield


@dataclass(frozen=True)
class Demo:
    folder: Path
    summary: str

    @property
    def page(self) -> str:
        return (self.folder / "report.html").read_text(encoding="utf-8")

    @property
    def table(self) -> list[list[str]]:
        """Return the rows of the table in the summary."""
        return [line.split() for line in self.summary.splitlines() if re.match(r" +\d", line)]


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A run with one seed and two budgets."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    return Demo(folder, run(folder, seeds=1, budgets=(10, 40)))


def test_page_is_well_formed_and_self_contained(demonstration: Demo) -> None:
    page = HtmlPage(demonstration.page)
    assert page.open == []
    assert (page.tags.count("svg"), page.tags.count("h1"), page.tags.count("img")) == (5, 1, 40)
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert "http" not in re.sub(r"data:[^\"]*", "", demonstration.page)
    assert "@import" not in demonstration.page
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)
    assert len(re.findall(r'<svg viewBox="[^"]*" role="img" aria-label="[^"]{40,}">', demonstration.page)) == 5
    assert len(re.findall(r'<img [^>]*alt="[^"]+"', demonstration.page)) == 40


def test_page_has_the_table_of_the_summary(demonstration: Demo) -> None:
    for budget, *cells in demonstration.table:
        start = demonstration.page.index(f'<tr><th scope="row">{budget}</th>')
        row = demonstration.page[start : demonstration.page.index("</tr>", start)]
        assert re.findall(r"<td[^>]*>([^<]*)</td>", row) == cells
    tiles = re.findall(r'<li><span class="labels">.*?</li>', demonstration.page)
    for (budget, ours, random, paper, *_), tile in zip(demonstration.table, tiles, strict=True):
        shown = re.findall(r"[-+]?\d[\d.]*", re.sub(r"<[^>]*>", " ", tile))
        assert shown[:3] + shown[4:5] == [budget, ours, random, paper]


def test_gallery_shows_the_picks_of_the_default_in_order(demonstration: Demo) -> None:
    graph, lines = GRAPH, read_results(demonstration.folder / "results")
    [line] = [
        line for line in lines if (line.strategy, line.budget, line.protocol) == ("featprop-diffused", 40, "unlabelled")
    ]
    positions = graph.positions(line.nodes)
    names = np.array(graph.class_names())[positions]
    counts = np.bincount(coverage(graph, positions).nearest, minlength=40)
    shown = re.findall(r'alt="Pick (\d+), [^"]*(\d)".*?class="count">(\d+) node', demonstration.page)
    assert [tuple(map(int, tile)) for tile in shown] == list(zip(range(1, 41), names, counts, strict=True))
    assert line.nodes[:10] == tuple(select(graph, 10).nodes.tolist())


def test_outputs_are_the_page_the_graph_its_labels_and_the_results(demonstration: Demo) -> None:
    written = {str(path.relative_to(demonstration.folder)) for path in demonstration.folder.rglob("*")}
    graph_files = {"graph", "graph/nodes.csv", "graph/edges.csv", "graph-labels.csv"}
    assert written - {"results/.lock", "results", "report.html"} == {
        *graph_files,
        "results/digits.jsonl",
        "results/datasets.json",
    }
    graph, again = GRAPH, fp.read_graph(demonstration.folder / "graph")
    assert (graph.adjacency != again.adjacency).nnz == 0
    assert np.array_equal(dense(graph.features), dense(again.features))
    assert again.labels is None
    with (demonstration.folder / "graph-labels.csv").open(encoding="utf-8", newline="") as file:
        rows = {int(row["id"]): int(row["label"]) for row in csv.DictReader(file)}
    assert rows == dict(zip(graph.ids.tolist(), graph.class_names(), strict=True))


def test_summary_has_the_scores_and_the_path(demonstration: Demo) -> None:
    assert [cells[0] for cells in demonstration.table] == ["10", "40"]
    found = Results(read_results(demonstration.folder / "results"))
    for place, (_, *cells) in enumerate(demonstration.table):
        runs = [
            found.runs(metric, "digits", *way, "unlabelled")
            for metric in ("accuracy", "macro_f1")
            for way in (("featprop-diffused", "ridge"), ("random", "ridge"), ("featprop", "gcn"))
        ]
        assert cells == [each.text(place) for each in runs if each]
    assert str(demonstration.folder / "report.html") in demonstration.summary


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


def test_no_page_after_a_failed_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = SimpleNamespace(failures=[SimpleNamespace(reason="out of luck")])
    monkeypatch.setattr(runner, "run", lambda *_: outcome)
    with raises(FeatpropError) as caught:
        run(tmp_path, seeds=1)
    assert "out of luck" in str(caught.value)
    assert not (tmp_path / "report.html").exists()


@pytest.fixture
def made(line: Make) -> Callable[..., Result]:
    """Make a result of the demonstration."""

    def make(name: str, budget: int, seed: int, score: float, **others: Any) -> Result:
        method = METHODS[name]
        schedule = {10: (10,), 20: (10, 15, 20)}.get(budget, ()) if name == "default" else ()
        given = {"dataset": "digits", "graph": GRAPH.fingerprint, "protocol": "unlabelled", "schedule": schedule}
        return line(
            **{"strategy": method.strategy, "model": method.model, **given, **others},
            budget=budget,
            seed=seed,
            macro=score,
        )

    return make


@pytest.fixture
def lines(made: Make) -> list[Result]:
    """Default 90 and 94, random 70 and 80, paper 91 and 95 percent by seed; 10 more with 20 labels for random."""
    return [
        made(name, budget, seed, score + (more if name == "random" else 0))
        for seed, scores in enumerate([(0.90, 0.70, 0.91), (0.94, 0.80, 0.95)])
        for budget, more in ((10, 0.0), (20, 0.1))
        for name, score in zip(("default", "random", "paper"), scores, strict=True)
    ]


def shown(lines: list[Result], **others: Any) -> list[str]:
    settings = demo_settings(**{"budgets": [10, 20], "seeds": 2, **others})
    return Demonstration(GRAPH, lines, settings).text().splitlines()


def test_text_by_hand(lines: list[Result]) -> None:
    text = shown(lines)
    assert re.findall(r"\d+", text[0]) == ["10", "20"], "10 labels do the work of 20"
    assert text[-2:] == [
        "    10   92.0 ± 2.8   75.0 ± 7.1   93.0 ± 2.8   92.0 ± 2.8   75.0 ± 7.1   93.0 ± 2.8",
        "    20   92.0 ± 2.8   85.0 ± 7.1   93.0 ± 2.8   92.0 ± 2.8   85.0 ± 7.1   93.0 ± 2.8",
    ]


def test_other_results_are_ignored(lines: list[Result], made: Make) -> None:
    """The folder may hold results of other runs and experiments."""
    more = [
        made("paper", 10, 0, 0.1, options={"layers": 1}),
        made("paper", 10, 0, 0.1, settings={"epochs": 5}),
        made("paper", 10, 0, 0.1, model="sgc"),
        made("default", 20, 0, 0.1, schedule=(10, 20)),
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
    with raises(FeatpropError) as caught:
        shown([entry for entry in lines if entry.strategy != missing])
    assert missing in str(caught.value)


def test_readme_shows_the_scores_of_the_default_and_of_random_selection(tmp_path: Path) -> None:
    """Without the network of the paper, which takes longest and differs between processors."""
    runner.run(demo_settings(seeds=5)[:2], tmp_path)
    found = Results(read_results(tmp_path))
    ours, random = (
        [found.runs(metric, "digits", name, "ridge", "unlabelled") for metric in ("accuracy", "macro_f1")]
        for name in ("featprop-diffused", "random")
    )
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = readme.partition("writes `demo/report.html` and prints:\n\n```\n")[2].partition("```")[0]
    rows = [re.findall(r"\d+\.\d(?: ± \d+\.\d)?", line) for line in block.splitlines() if re.match(r" +\d", line)]
    assert len(rows) == len(BUDGETS)
    for place, row in enumerate(rows):
        for shown_cell, runs in zip((row[0], row[3], row[1], row[4]), [*ours, *random], strict=True):
            assert runs is not None
            numbers = [[float(part) for part in text.split(" ± ")] for text in (shown_cell, runs.text(place))]
            assert numbers[0] == pytest.approx(numbers[1], abs=0.5)
    for default, other in zip(ours, random, strict=True):
        assert default is not None
        assert other is not None
        assert (default.curve().mean > other.curve().mean).all()
