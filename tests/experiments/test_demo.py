"""The demonstration: experiments on the digits and their page."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import featprop as fp
from featprop.active import select
from featprop.datasets import digits
from featprop.errors import FeatpropError
from featprop.experiments import runner
from featprop.experiments.demo import BUDGETS, METHODS, Demonstration, budget_table, run, summarize_worth
from featprop.experiments.results import read_results
from featprop.experiments.settings import Settings
from featprop.experiments.summary import Results, Runs
from featprop.matrix import dense
from featprop.propagation import coverage
from tests.helpers import check_self_contained, raises, rows_of, run_trials_here

GRAPH = digits()


@pytest.fixture(scope="module", autouse=True)
def trials_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        run_trials_here(patch)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run with one seed."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    run(folder, seeds=1)
    return folder


def test_page_is_well_formed_and_self_contained(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = check_self_contained(text)
    assert (page.tags.count("svg"), page.tags.count("h1")) == (45, 1)
    assert len(re.findall(r'<svg viewBox="[^"]*" role="img" aria-label="[^"]{40,}">', text)) == 5


def test_gallery_shows_the_picks_of_the_default_in_order(folder: Path) -> None:
    [line] = [
        line
        for line in read_results(folder / "results")
        if (line.strategy, line.budget, line.protocol) == ("featprop-diffused", 40, "unlabelled")
    ]
    positions = GRAPH.positions(line.nodes)
    names = np.array(GRAPH.class_names())[positions]
    counts = np.bincount(coverage(GRAPH, positions).nearest, minlength=40)
    text = (folder / "report.html").read_text(encoding="utf-8")
    tiles = re.findall(r'aria-label="Pick (\d+), [^"]*(\d)".*?class="count">(\d+) node', text)
    assert [tuple(map(int, tile)) for tile in tiles] == list(zip(range(1, 41), names, counts, strict=True))
    assert line.nodes[:10] == tuple(select(GRAPH, 10).nodes.tolist())


def test_graph_folder_holds_the_digits_without_their_labels(folder: Path) -> None:
    again = fp.read_graph(folder / "graph")
    assert (GRAPH.adjacency != again.adjacency).nnz == 0
    assert np.array_equal(dense(GRAPH.features), dense(again.features))
    assert again.labels is None
    rows = [(int(row["id"]), int(row["label"])) for row in rows_of(folder / "graph-labels.csv")]
    assert rows == list(zip(GRAPH.ids.tolist(), GRAPH.class_names(), strict=True))


def test_readme_shows_the_scores_of_the_default_and_of_random_selection(folder: Path, tmp_path: Path) -> None:
    """Without the network of the paper, which differs between processors; the default is the same for every seed."""
    random = METHODS["random"]
    runner.run([Settings(["digits"], [random.strategy], models=[random.model], budgets=BUDGETS)], tmp_path)
    lines = [*read_results(tmp_path), *read_results(folder / "results")]
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


def test_table_has_mean_and_standard_deviation_by_budget() -> None:
    several, alone = (
        Runs((10, 20), (0, 1), np.array([[90.0, 94.0], [70.0, 80.0]])),
        Runs((10, 20), (0,), np.array([[9.0], [8]])),
    )
    assert budget_table({"accuracy": {"default": several}, "macro_f1": {"default": alone}}).rows == [
        ["10", "92.0 ± 2.8", "9.0"],
        ["20", "75.0 ± 7.1", "8.0"],
    ]


def test_missing_results_are_an_error(folder: Path) -> None:
    lines = read_results(folder / "results")
    with raises(FeatpropError):
        Demonstration(GRAPH, Results(line for line in lines if line.strategy != "random"))


@pytest.mark.parametrize(
    ("ours", "headline"),
    [([80, 94, 96, 98], [20, 80]), ([60, 79, 87, 94], [10, 10]), ([50, 77, 87, 92], [40, 40]), ([50, 70, 80, 93], [])],
)
def test_worth_of_labels(ours: list[float], headline: list[int]) -> None:
    """Random labels reach 56, 78, 86 and 93 percent: 20 chosen labels of 94 are worth 80 random ones."""
    each = (np.repeat(np.array(values, float)[:, None], 2, axis=1) for values in (ours, [56, 78, 86, 93]))
    found, _ = summarize_worth(*(Runs((10, 20, 40, 80), (0, 1), percent) for percent in each))
    assert [int(number) for number in re.findall(r"\d+", found)] == headline
