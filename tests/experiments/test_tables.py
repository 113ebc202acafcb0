"""Tables and figures of a few results, checked by hand."""

import csv
import math
from collections.abc import Callable
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from featprop.errors import FileError
from featprop.experiments.figures import KINDS, error_against_loss, model_comparison, strategy_curves
from featprop.experiments.report import rank_strategies
from featprop.experiments.results import Result
from featprop.experiments.summary import Results, Runs, paired_test
from featprop.experiments.tables import (
    Table,
    calibration_table,
    correlation,
    datasets_table,
    default_table,
    matrix_table,
    score_table,
    time_table,
)
from tests.helpers import raises

Make = Callable[..., Result]


@pytest.fixture
def results(line: Make) -> Results:
    """FeatProp 70, 72, 74 by seed over the budgets 10 and 20; random 50, 50, 56; degree has no second budget."""
    lines = []
    for seed, (ours, theirs) in enumerate([(0.70, 0.50), (0.72, 0.50), (0.74, 0.56)]):
        lines += [line("featprop", 10, seed, ours - 0.1), line("featprop", 20, seed, ours + 0.1)]
        lines += [line("random", 10, seed, theirs), line("random", 20, seed, theirs)]
    return Results([*lines, line("degree", 10, 0, 0.9)])


def scores(results: Results, model: str = "gcn", protocol: str = "paper") -> Table:
    table = score_table(results, "macro_f1", model, protocol)
    assert table is not None
    return table


def rows(table: Table | None) -> list[list[str]]:
    assert table is not None
    return table.rows


def first_scores(results: Results, model: str = "gcn") -> dict[str, str]:
    """Return the Macro-F1 on the first data set, by the title of the row."""
    return {row[0]: row[1].strip("*") for row in scores(results, model).rows}


def test_score_is_the_mean_over_budgets_with_its_spread_over_seeds(results: Results) -> None:
    table = scores(results)
    assert table.columns == ["strategy", "ours", "p", "paper", "difference"]
    assert table.groups == [("", 1), ("Cora", 4)]
    random, degree, featprop = table.rows
    # gaps 20, 22, 18: mean 20, standard error 2/sqrt 3, t = 17.32 with 2 degrees of freedom, p = 0.0033
    assert random == ["Random", "52.00 ± 3.46", "0.003", "59.83 ± 5.77", "−7.83"]
    assert featprop == ["FeatProp", "**72.00 ± 2.00**", "", "74.89 ± 2.63", "−2.89"]
    assert degree == ["Degree", "–", "", "63.30 ± 0.55", "–"], "a seed without all budgets does not count"
    assert "10, 20" in table.note
    assert rank_strategies(results) == ["Cora, Macro-F1 of a GCN: FeatProp 72.0, Random 52.0."]


def test_table_formats(results: Results) -> None:
    table = scores(results)
    markdown = table.markdown()
    assert "| strategy | Cora: ours | p | paper | difference |" in markdown
    assert "| FeatProp | **72.00 ± 2.00** |  | 74.89 ± 2.63 | −2.89 |" in markdown
    latex = table.latex()
    assert r"FeatProp & \textbf{72.00 $\pm$ 2.00} &  & 74.89 $\pm$ 2.63 & $-$2.89 \\" in latex
    assert r" & \multicolumn{4}{c}{Cora} \\" in latex
    first, _, last = csv.DictReader(StringIO(table.csv()))
    assert (first["strategy"], first["Cora: ours"], first["p"]) == ("Random", "52.00 ± 3.46", "0.003")
    assert (last["strategy"], last["Cora: ours"], last["p"]) == ("FeatProp", "72.00 ± 2.00", "")
    assert "<b>72.00 ± 2.00</b>" in table.html()


def test_columns_of_the_paper_only_where_it_prints_numbers(line: Make) -> None:
    lines = [line("random", 10, seed, 0.5, protocol="unlabelled", dataset="coauthor-cs") for seed in (0, 1)]
    assert scores(Results(lines), protocol="unlabelled").groups[1] == ("coauthor-cs (in place of CoraFull)", 2)
    assert score_table(Results(lines), "macro_f1", "sgc", "unlabelled") is None
    both = Results([*lines, line("random", 10, 0, 0.5, protocol="unlabelled", dataset="corafull")])
    titles = [title for title, _ in scores(both, protocol="unlabelled").groups]
    assert titles == ["", "CoraFull", "coauthor-cs"], "it replaces nothing"


def runs(*values: float, first: int = 0) -> Runs:
    return Runs((10,), tuple(range(first, first + len(values))), np.array([values]))


def test_paired_test() -> None:
    assert paired_test(runs(1, 2), runs(1, 2)) == 1.0
    assert paired_test(runs(2, 3), runs(1, 2)) == 0.0
    assert paired_test(runs(1), runs(2)) is None
    # gaps 1 and 2: mean 1.5, standard error 0.5, t = 3 with 1 degree of freedom
    assert paired_test(runs(9, 1, 4), runs(0, 2, first=1)) == pytest.approx(0.2048, abs=1e-3)


def test_running_times_are_summed(results: Results) -> None:
    table = time_table(results, "gcn")
    assert table is not None
    by_strategy = {row[0]: row for row in table.rows}
    assert by_strategy["FeatProp"] == ["FeatProp", "6.0 s", "3.0 s", "1 MB", "239 s"]
    assert by_strategy["Degree"][1:] == ["1.0 s", "0.5 s", "1 MB", "–"]
    assert "3 runs" in table.note


def test_data_sets_next_to_the_paper() -> None:
    counts = {"nodes": 2708, "edges": 5278, "classes": 7, "features": 1433, "labelled": 2708, "homophily": 0.81}
    assert rows(datasets_table({"cora": counts, "other": counts}, ["cora"])) == [
        ["Cora", "here", "2,708", "5,278", "7", "1,433", "2,708", "0.81"],
        ["", "paper", "2,708", "5,429", "7", "3,703", "", ""],
    ]
    assert datasets_table({}, ["cora"]) is None
    names = ["corafull", "coauthor-cs"]
    table = datasets_table(dict.fromkeys(names, counts), names)
    assert [row[0] for row in rows(table)] == ["CoraFull", "", names[1]]


def test_correlation_within_budgets_skips_constant_and_small_ones(line: Make) -> None:
    """At 10 errors rise with the distance, at 20 they fall; at 40 there are four, at 80 all are the same."""
    plans = {
        10: [(0.1, 1), (0.2, 2), (0.3, 3), (0.4, 4), (0.5, 5)],
        20: [(0.5, 1), (0.4, 2), (0.3, 3), (0.2, 4), (0.0, 5), (0.1, 6)],
        40: [(0.1, 1), (0.2, 2), (0.3, 3), (0.4, 4)],
        80: [(0.2, 1), (0.2, 2), (0.2, 3), (0.2, 4), (0.2, 5)],
    }
    rows = pd.DataFrame(
        {"budget": budget, "accuracy": 1 - error, "mean_distance": distance, "max_distance": 7.0}
        for budget, pairs in plans.items()
        for error, distance in pairs
    )
    found = correlation(rows)
    assert found is not None
    falls = 1 - 6 * (25 + 9 + 1 + 1 + 16 + 16) / (6 * 35)
    assert found["Spearman within a budget"] == pytest.approx((1 + falls) / 2)
    assert math.isnan(found["Spearman, max distance"]), "the largest distance is constant"
    assert correlation(rows[rows.budget == 40]) is None
    assert correlation(rows[rows.budget == 80]) is None


def test_matrix_of_strategies_and_budgets(line: Make) -> None:
    lines = [line("random", budget, seed, 0.5 + seed / 10) for budget in (10, 20) for seed in (0, 1)]
    lines += [line("featprop", 10, 0, 0.9), line("featprop", 20, 0, 0.4)]
    table = matrix_table(Results(lines), "macro_f1", "gcn", "paper")
    assert table is not None
    assert (table.groups, table.columns) == ([("", 1), ("Cora", 2)], ["strategy", "10", "20"])
    assert table.rows == [["Random", "55.0 ± 5.0", "**55.0 ± 5.0**"], ["FeatProp", "**90.0**", "40.0"]]
    assert matrix_table(Results(lines), "macro_f1", "sgc", "paper") is None


@pytest.fixture
def default_lines(line: Make) -> list[Result]:
    """On two data sets the default has 80, 81, 82; herding with a ridge 80, 81, 83 and with a GCN 60, 60, 60."""
    made = []
    for dataset in ("cora", "pubmed"):
        for seed, score in enumerate((0.80, 0.81, 0.82)):
            ours = {"model": "ridge", "dataset": dataset, "schedule": (10,), "calibration_error": 0.05 + score / 100}
            made.append(line("featprop-diffused", 10, seed, score, **ours))
            made.append(line("featprop-diffused", 10, seed, score, **ours | {"protocol": "unlabelled"}))
        for seed, score in enumerate((0.80, 0.81, 0.83)):
            made.append(line("herding", 10, seed, score, model="ridge", dataset=dataset))
            made.append(line("herding", 10, seed, 0.60, model="gcn", dataset=dataset))
    return [*made, line("random", 10, 0, 0.9, model="gcn", dataset="cora")]


def test_pairs_that_ran_on_every_data_set_are_ranked(default_lines: list[Result]) -> None:
    table = default_table(Results(default_lines), "macro_f1", "paper")
    assert table is not None
    assert table.columns == ["strategy", "model", "Cora", "PubMed", "mean"]
    # gaps to the default 0, 0, 1: t = 1 with 2 degrees of freedom, p = 0.42
    assert [row[1:] for row in table.rows] == [
        ["ridge", "**81.3 ± 1.5 ≈**", "**81.3 ± 1.5 ≈**", "**81.3**"],
        ["ridge", "81.0 ± 1.0", "81.0 ± 1.0", "81.0"],
        ["gcn", "60.0 ± 0.0", "60.0 ± 0.0", "60.0"],
    ], "random selection ran on one data set only"
    assert r"81.3 $\pm$ 1.5 $\approx$" in table.latex()


def test_calibration_error_is_averaged_over_seeds(default_lines: list[Result], line: Make) -> None:
    table = calibration_table(Results(default_lines))
    assert rows(table) == [["Cora", "ridge", "0.058"], ["PubMed", "ridge", "0.058"]]
    without = Results([line("herding", 10, 0, 0.8, model="ridge")])
    assert calibration_table(without) is None
    assert default_table(without, "macro_f1", "paper") is None


def test_options_of_a_strategy_are_rows(line: Make) -> None:
    layers = {"layers": 1}
    pairs = [("featprop", {}), ("featprop", layers), ("featprop", {"layers": 3, "distance": "l1"})]
    pairs += [("featprop-kcenter", layers), ("featprop-kcenter", {})]
    results = Results(line(name, 10, 0, (7 - place) / 10, options=each) for place, (name, each) in enumerate(pairs))
    assert {row[0]: [row[1].strip("*"), row[3]] for row in scores(results).rows} == {
        "FeatProp": ["70.00", "74.89 ± 2.63"],
        "FeatProp (distance = l1, layers = 3)": ["50.00", "–"],
        "FeatProp (layers = 1)": ["60.00", "–"],
        "FeatProp (K-Center)": ["30.00", "–"],
        "FeatProp (K-Center, layers = 1)": ["40.00", "–"],
    }, "the paper prints the default options"
    assert list(results.strategies)[:2] == ["featprop", "featprop[distance=l1,layers=3]"]


def test_settings_of_a_model_are_separate_tables(line: Make) -> None:
    results = Results([line("random", 10, 0, 0.5), line("random", 10, 0, 0.6, settings={"hidden": 32})])
    assert first_scores(results) == {"Random": "50.00"}
    table = scores(results, "gcn[hidden=32]")
    assert (table.name, table.title) == ("macro-f1-gcn[hidden=32]-paper", "Macro-F1 of a GCN (hidden = 32)")
    alone = scores(Results(results.lines[1:]))
    assert alone.title == "Macro-F1 of a GCN"
    assert "hidden = 32" in alone.note


def test_graphs_of_one_name_are_separate_data_sets(line: Make) -> None:
    one = [line("random", 10, 0, 0.5, graph="abcdef123"), line("random", 20, 0, 0.5)]
    assert first_scores(Results(one)) == {"Random": "50.00"}, "a result without a fingerprint is of the only graph"
    two = Results([*one, line("random", 10, 0, 0.7, graph="123456fff")])
    titles = [title for title, _ in scores(two).groups]
    assert titles == ["", "Cora", "Cora (123456)", "Cora (abcdef)"]
    assert "20 (Cora); 10 (Cora (123456), Cora (abcdef))" in scores(two).note
    drawing = strategy_curves(two, "curves", "macro_f1", "gcn", "paper")
    assert drawing is not None
    assert "Cora (123456), Random: 70.0 with 10" in drawing.description


def test_mixed_lists_of_budgets_are_refused(line: Make) -> None:
    paper = [line("age", 10, 0, 0.3, schedule=(10,)), line("age", 20, 0, 0.5, schedule=(10, 20))]
    assert first_scores(Results([*paper, line("random", 10, 0, 0.1), line("random", 20, 0, 0.1)]))["AGE"] == "40.00"
    with raises(FileError, value="age"):
        Results([*paper, line("age", 40, 0, 0.9, schedule=(10, 40))])


def test_figures_need_results(line: Make) -> None:
    few = Results([line("featprop", 10, 0, 0.5), line("random", 10, 0, 0.4)])
    drawn = [strategy_curves(few, kind, "macro_f1", "gcn", "paper") for kind in KINDS]
    assert [drawing is not None for drawing in drawn] == [True, False, False]
    assert strategy_curves(few, "curves", "macro_f1", "sgc", "paper") is None
    assert model_comparison(few, "macro_f1", "paper") is None
    assert error_against_loss(few, "gcn", "paper") is not None
    assert error_against_loss(few, "gcn", "unlabelled") is None
