"""Tables from a few results, checked by hand."""

import csv
import math
import re
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest

from featprop.errors import FileError
from featprop.experiments.demo import summarize_worth
from featprop.experiments.report import replace_tables, summarize_findings
from featprop.experiments.results import Result
from featprop.experiments.summary import Results, Runs, paired_test
from featprop.experiments.tables import (
    Table,
    correlation,
    correlation_table,
    datasets_table,
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


def texts(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[cell.text for cell in row] for row in table.rows]


def test_score_is_the_mean_over_budgets_with_its_spread_over_seeds(results: Results) -> None:
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    assert table.columns == ["strategy", "ours", "p", "paper", "difference"]
    assert table.groups == [("", 1), ("Cora", 4)]
    random, degree, featprop = texts(table)
    # gaps 20, 22, 18: mean 20, standard error 2/sqrt 3, t = 17.32 with 2 degrees of freedom, p = 0.0033
    assert random == ["Random", "52.00 ± 3.46", "0.003", "59.83 ± 5.77", "−7.83"]
    assert featprop == ["FeatProp", "72.00 ± 2.00", "", "74.89 ± 2.63", "−2.89"]
    assert degree == ["Degree", "–", "", "63.30 ± 0.55", "–"], "a seed without all budgets does not count"
    assert [[cell.bold for cell in row] for row in table.rows][2] == [False, True, False, False, False]
    assert "10, 20" in table.note


def test_table_formats(results: Results) -> None:
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    markdown = table.markdown()
    assert "| strategy | Cora: ours | p | paper | difference |" in markdown
    assert "| FeatProp | **72.00 ± 2.00** |  | 74.89 ± 2.63 | −2.89 |" in markdown
    latex = table.latex()
    assert r"FeatProp & \textbf{72.00 $\pm$ 2.00} &  & 74.89 $\pm$ 2.63 & $-$2.89 \\" in latex
    assert r" & \multicolumn{4}{c}{Cora} \\" in latex
    rows = list(csv.DictReader(StringIO(table.csv())))
    assert [row["strategy"] for row in rows] == ["Random", "Degree", "FeatProp"]
    assert (rows[0]["Cora: ours"], rows[0]["p"]) == ("52.00 ± 3.46", "0.003")
    assert "<b>72.00 ± 2.00</b>" in table.html()


def test_columns_of_the_paper_only_where_it_prints_numbers(line: Make) -> None:
    lines = [line("random", 10, seed, 0.5, protocol="unlabelled", dataset="coauthor-cs") for seed in (0, 1)]
    table = score_table(Results(lines), "macro_f1", "gcn", "unlabelled")
    assert table is not None
    assert table.groups[1] == ("coauthor-cs (in place of CoraFull)", 2)
    assert score_table(Results(lines), "macro_f1", "sgc", "unlabelled") is None
    both = Results([*lines, line("random", 10, 0, 0.5, protocol="unlabelled", dataset="corafull")])
    table = score_table(both, "macro_f1", "gcn", "unlabelled")
    assert table is not None
    assert [title for title, _ in table.groups] == ["", "CoraFull", "coauthor-cs"], "it replaces nothing"


def runs(*values: float) -> Runs:
    return Runs((10,), tuple(range(len(values))), np.array([values]))


def test_paired_test() -> None:
    assert paired_test(runs(1, 2), runs(1, 2)) == 1.0
    assert paired_test(runs(2, 3), runs(1, 2)) == 0.0
    assert paired_test(runs(1), runs(2)) is None
    assert paired_test(runs(1, math.nan, 4), runs(0, 5, 2)) == pytest.approx(0.2048, abs=1e-3)


def test_running_times_are_summed(results: Results) -> None:
    table = time_table(results, "gcn")
    rows = {row[0]: row for row in texts(table)}
    assert rows["FeatProp"] == ["FeatProp", "6.0 s", "3.0 s", "1 MB", "239 s"]
    assert rows["Degree"][1:] == ["1.0 s", "0.5 s", "1 MB", "–"]
    assert table is not None
    assert "3 runs" in table.note


def test_data_sets_next_to_the_paper() -> None:
    figures = {"nodes": 2708, "edges": 5278, "classes": 7, "features": 1433, "labelled": 2708, "homophily": 0.81}
    assert texts(datasets_table({"cora": figures, "other": figures}, ["cora"])) == [
        ["Cora", "here", "2,708", "5,278", "7", "1,433", "2,708", "0.81"],
        ["", "paper", "2,708", "5,429", "7", "3,703", "", ""],
    ]
    assert datasets_table({}, ["cora"]) is None
    names = ["corafull", "coauthor-cs"]
    assert [row[0] for row in texts(datasets_table(dict.fromkeys(names, figures), names))] == ["CoraFull", "", names[1]]


def test_correlation_of_five_selections(line: Make) -> None:
    errors, distances = [0.1, 0.2, 0.3, 0.5, 0.4], [1.0, 2.0, 3.0, 4.0, 5.0]
    pairs = zip(errors, distances, strict=True)
    lines = [
        line("random", 10, seed, 0.5, accuracy=1 - error, mean_distance=distance, max_distance=6 - distance / 10)
        for seed, (error, distance) in enumerate(pairs)
    ]
    found = correlation(Results(lines).table)
    assert found is not None
    assert found.selections == 5
    assert found.mean_rho == pytest.approx(0.9)
    assert found.within == pytest.approx(0.9)
    assert found.max_rho == pytest.approx(-0.9)
    assert found.mean_r == pytest.approx(np.corrcoef(errors, distances)[0, 1])
    assert correlation(Results(lines[:4]).table) is None
    assert texts(correlation_table(Results(lines), "gcn", "paper"))[0][:4] == ["Cora", "5", "0.90", "0.90"]


def test_correlation_within_budgets_skips_constant_and_small_ones(line: Make) -> None:
    """At 10 errors rise with the distance, at 20 they fall; at 40 there are four, at 80 none or all are the same."""
    plans = {
        10: [(0.1, 1), (0.2, 2), (0.3, 3), (0.4, 4), (0.5, 5)],
        20: [(0.5, 1), (0.4, 2), (0.3, 3), (0.2, 4), (0.0, 5), (0.1, 6)],
        40: [(0.1, 1), (0.2, 2), (0.3, 3), (0.4, 4)],
        80: [(0.2, 1), (0.2, 2), (0.2, 3), (0.2, 4), (0.2, 5)],
        160: [(0.1, 3), (0.2, 3), (0.3, 3), (0.4, 3), (0.5, 3)],
    }
    lines = [
        line("random", budget, seed, 0.5, accuracy=1 - error, mean_distance=float(distance), max_distance=7.0)
        for budget, pairs in plans.items()
        for seed, (error, distance) in enumerate(pairs)
    ]
    found = correlation(Results(lines).table)
    assert found is not None
    falls = 1 - 6 * (25 + 9 + 1 + 1 + 16 + 16) / (6 * 35)
    assert found.within == pytest.approx((1 + falls) / 2)
    assert math.isnan(found.max_rho), "the largest distance is constant"
    few = [each for each in lines if each.budget == 40] + [lines[0]]
    found = correlation(Results(few).table)
    assert found is not None
    assert math.isnan(found.within)
    for budget in (80, 160):
        assert correlation(Results([each for each in lines if each.budget == budget]).table) is None


def test_findings_follow_the_numbers(results: Results, line: Make) -> None:
    headline, sentence = summarize_findings(results)
    assert "every data set" in headline
    assert "FeatProp 72.0, Random 52.0" in sentence
    assert "74.89" in sentence
    assert "2.89" not in sentence.replace("74.89", ""), "other budgets than the paper"
    worse = Results([line("featprop", 10, 0, 0.4), line("random", 10, 0, 0.5)])
    assert "0 of 1" in summarize_findings(worse)[0]
    assert len(summarize_findings(Results([line("featprop", 10, 0, 0.4, model="sgc")]))) == 2


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


def test_spread_of_a_budget() -> None:
    several = Runs((10, 20), (0, 1, 2, 3), np.array([[10.0, 20, 30, 40], [50.0, 50, 50, 50]]))
    curve = several.curve()
    assert curve.mean == pytest.approx([25, 50])
    assert curve.deviation == pytest.approx([math.sqrt(500 / 3), 0])
    assert curve.error == pytest.approx([math.sqrt(500 / 3) / 2, 0])
    assert (several.text(0), several.text(1)) == ("25.0 ± 12.9", "50.0 ± 0.0")
    assert runs(10).curve().deviation.tolist() == [0]
    assert runs(10).text(0) == "10.0"


def test_marked_tables_of_a_page_are_replaced(results: Results) -> None:
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    page = "Before.\n\n<!-- table macro-f1-gcn-paper -->\nold\n<!-- end -->\n\nAfter.\n"
    fresh = replace_tables(page, [table])
    assert fresh == f"Before.\n\n<!-- table macro-f1-gcn-paper -->\n{table.markdown()}<!-- end -->\n\nAfter.\n"
    assert replace_tables(fresh, [table]) == fresh
    with raises(FileError, value="nothing"):
        replace_tables("<!-- table nothing -->\n<!-- end -->", [table])


def test_matrix_of_strategies_and_budgets(line: Make) -> None:
    lines = [line("random", budget, seed, 0.5 + seed / 10) for budget in (10, 20) for seed in (0, 1)]
    lines += [line("featprop", 10, 0, 0.9), line("featprop", 20, 0, 0.4)]
    table = matrix_table(Results(lines), "macro_f1", "gcn", "paper")
    assert table is not None
    assert (list(table.groups), list(table.columns)) == ([("", 1), ("Cora", 2)], ["strategy", "10", "20"])
    cells = {row[0].text: [(cell.text, cell.bold) for cell in row[1:]] for row in table.rows}
    assert cells == {
        "Random": [("55.0 ± 5.0", False), ("55.0 ± 5.0", True)],
        "FeatProp": [("90.0", True), ("40.0", False)],
    }
    assert matrix_table(Results(lines), "macro_f1", "sgc", "paper") is None
