"""The demonstration: experiments on the digits and their page."""

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featprop as fp
from featprop.active import select
from featprop.datasets import digits
from featprop.errors import FeatpropError
from featprop.experiments import runner
from featprop.experiments.demo import BUDGETS, METHODS, Demonstration, run, summarize_worth
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, read_results
from featprop.experiments.settings import Settings
from featprop.experiments.summary import Results, Runs
from featprop.matrix import dense
from featprop.propagation import coverage
from tests.helpers import HtmlPage, raises

Make = Callable[..., Result]
GRAPH = digits()


@pytest.fixture(scope="module", autouse=True)
def trials_here() -> Iterator[None]:
    """Run trials in this process."""

    def run_here(trials: Any, jobs: int, threads: int) -> Iterator[Any]:
        protocol = Protocol(GRAPH)
        for trial in trials:
            yield list(protocol.run(trial))

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
    """A run with one seed."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    return Demo(folder, run(folder, seeds=1))


def test_page_is_well_formed_and_self_contained(demonstration: Demo) -> None:
    page = HtmlPage(demonstration.page)
    assert page.open == []
    assert (page.tags.count("svg"), page.tags.count("h1")) == (45, 1)
    assert page.loads == []
    assert not {"script", "link", "iframe", "img"} & set(page.tags)
    assert "@import" not in demonstration.page
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)
    assert len(re.findall(r'<svg viewBox="[^"]*" role="img" aria-label="[^"]{40,}">', demonstration.page)) == 5


def test_page_has_the_table_of_the_summary(demonstration: Demo) -> None:
    for budget, *cells in demonstration.table:
        start = demonstration.page.index(f'<tr><th scope="row">{budget}</th>')
        row = demonstration.page[start : demonstration.page.index("</tr>", start)]
        assert re.findall(r"<td[^>]*>([^<]*)</td>", row) == cells


def test_gallery_shows_the_picks_of_the_default_in_order(demonstration: Demo) -> None:
    [line] = [
        line
        for line in read_results(demonstration.folder / "results")
        if (line.strategy, line.budget, line.protocol) == ("featprop-diffused", 40, "unlabelled")
    ]
    positions = GRAPH.positions(line.nodes)
    names = np.array(GRAPH.class_names())[positions]
    counts = np.bincount(coverage(GRAPH, positions).nearest, minlength=40)
    tiles = re.findall(r'aria-label="Pick (\d+), [^"]*(\d)".*?class="count">(\d+) node', demonstration.page)
    assert [tuple(map(int, tile)) for tile in tiles] == list(zip(range(1, 41), names, counts, strict=True))
    assert line.nodes[:10] == tuple(select(GRAPH, 10).nodes.tolist())


def test_outputs_are_the_page_the_graph_its_labels_and_the_results(demonstration: Demo) -> None:
    written = {str(path.relative_to(demonstration.folder)) for path in demonstration.folder.rglob("*")}
    graph_files = {"graph", "graph/nodes.csv", "graph/edges.csv", "graph-labels.csv"}
    assert written - {"results/.lock", "results", "report.html"} == {
        *graph_files,
        "results/digits.jsonl",
        "results/datasets.json",
    }
    again = fp.read_graph(demonstration.folder / "graph")
    assert (GRAPH.adjacency != again.adjacency).nnz == 0
    assert np.array_equal(dense(GRAPH.features), dense(again.features))
    assert again.labels is None
    with (demonstration.folder / "graph-labels.csv").open(encoding="utf-8", newline="") as file:
        rows = {int(row["id"]): int(row["label"]) for row in csv.DictReader(file)}
    assert rows == dict(zip(GRAPH.ids.tolist(), GRAPH.class_names(), strict=True))


def test_readme_shows_the_scores_of_the_default_and_of_random_selection(demonstration: Demo, tmp_path: Path) -> None:
    """Without the network of the paper, which differs between processors; the default is the same for every seed."""
    random = METHODS["random"]
    runner.run([Settings(["digits"], [random.strategy], models=[random.model], budgets=BUDGETS)], tmp_path)
    lines = [*read_results(tmp_path), *read_results(demonstration.folder / "results")]
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = readme.partition("writes `demo/report.html` and prints:\n\n```\n")[2].partition("```")[0]
    table = [re.findall(r"(\d+\.\d)(?: ± (\d+\.\d))?", row) for row in block.splitlines() if re.match(r" +\d", row)]
    for place, metric in enumerate(("accuracy", "macro_f1")):
        ours, random = (
            Results(lines).runs(metric, "digits", METHODS[name].strategy, METHODS[name].model, "unlabelled")
            for name in ("default", "random")
        )
        assert ours is not None
        assert random is not None
        assert (ours.means > random.means).all()
        cells = np.array(table, dtype=float)[:, 3 * place : 3 * place + 2]
        np.testing.assert_allclose(cells[:, 0, 0], ours.means, atol=0.5)
        np.testing.assert_allclose(cells[:, 1].T, [random.means, random.deviations], atol=0.5)
        assert random.budgets == BUDGETS


@pytest.fixture
def made(line: Make) -> Callable[..., Result]:
    """Make a result of the demonstration."""

    def make(name: str, budget: int, seed: int, score: float, **others: Any) -> Result:
        method = METHODS[name]
        schedule = {10: (10,), 20: (10, 15, 20)}.get(budget, ()) if name == "default" else ()
        given = {"dataset": "digits", "graph": GRAPH.fingerprint, "protocol": "unlabelled", "schedule": schedule}
        return line(method.strategy, budget, seed, score, model=method.model, **given | others)

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


def shown(lines: list[Result]) -> list[str]:
    return Demonstration(GRAPH, Results(lines)).text().splitlines()


def test_text_by_hand(lines: list[Result]) -> None:
    text = shown(lines)
    assert re.findall(r"\d+", text[0]) == ["10", "20"], "10 labels do the work of 20"
    assert text[-2:] == [
        "    10   92.0 ± 2.8   75.0 ± 7.1   93.0 ± 2.8   92.0 ± 2.8   75.0 ± 7.1   93.0 ± 2.8",
        "    20   92.0 ± 2.8   85.0 ± 7.1   93.0 ± 2.8   92.0 ± 2.8   85.0 ± 7.1   93.0 ± 2.8",
    ]
    first = [line for line in lines if line.seed == 0]
    assert shown(first)[-1].split() == ["20", "90.0", "80.0", "91.0", "90.0", "80.0", "91.0"]


def test_missing_results_are_an_error(lines: list[Result]) -> None:
    with raises(FeatpropError):
        shown([entry for entry in lines if entry.strategy != "random"])


@pytest.mark.parametrize(
    ("ours", "paper", "headline", "ahead"),
    [
        ([80, 94, 96, 98], [79, 95, 95, 98], [20, 80], [2, 4, 10, 40]),
        ([60, 79, 87, 94], [50, 60, 70, 80], [10, 10], []),
        ([50, 77, 87, 92], [60, 80, 90, 95], [40, 40], [1, 4, 40]),
        ([50, 70, 80, 93], [50, 70, 80, 92], [], [1, 4, 80]),
    ],
)
def test_worth_of_labels(ours: list[float], paper: list[float], headline: list[int], ahead: list[int]) -> None:
    """Random labels reach 56, 78, 86 and 93 percent: 20 chosen labels of 94 are worth 80 random ones."""
    each = (np.repeat(np.array(values, float)[:, None], 2, axis=1) for values in (ours, [56, 78, 86, 93], paper))
    found = summarize_worth(*(Runs((10, 20, 40, 80), (0, 1), percent) for percent in each))
    assert [int(number) for number in re.findall(r"\d+", found[0])] == headline
    assert [int(number) for number in re.findall(r"\d+", found[-1])] == ahead, "budgets at which the default leads"
