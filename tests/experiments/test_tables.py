"""Tables from lines made by hand, checked by hand."""

import csv
import math
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest

from featprop.errors import ParameterError
from featprop.experiments.cost_tables import datasets_table, time_table
from featprop.experiments.findings import findings, worth_of_labels
from featprop.experiments.pages import refreshed
from featprop.experiments.paper import printed, strategy_title, title_of
from featprop.experiments.results import Result
from featprop.experiments.score_tables import budget_table, score_table
from featprop.experiments.summary import Results, Runs, paired_test
from featprop.experiments.theory import correlation, correlation_table, error_against_loss
from featprop.experiments.typeset import Entry, Table

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


def test_a_cell_is_the_mean_over_budgets_and_the_spread_is_over_seeds(results: Results) -> None:
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    assert table.columns == ("strategy", "ours", "p", "paper", "difference")
    assert table.groups == (("", 1), ("Cora", 4))
    random, degree, featprop = texts(table)
    # gaps 20, 22, 18: mean 20, standard error 2/sqrt 3, t = 17.32 with 2 degrees of freedom, p = 0.0033
    assert random == ["Random", "52.00 ± 3.46", "0.003", "59.83 ± 5.77", "−7.83"]
    assert featprop == ["FeatProp", "72.00 ± 2.00", "", "74.89 ± 2.63", "−2.89"]
    assert degree == ["Degree", "–", "", "63.30 ± 0.55", "–"], "a seed without all budgets is not counted"
    assert [[cell.bold for cell in row] for row in table.rows][2] == [False, True, False, False, False]
    assert "Protocol paper" in table.note
    assert "10, 20" in table.note


def test_a_budget_that_few_strategies_have_changes_nothing(results: Results, line: Make) -> None:
    more = Results([*results.lines, *(line("featprop", 40, seed, 0.9) for seed in range(3))])
    assert texts(score_table(more, "macro_f1", "gcn", "paper")) == texts(
        score_table(results, "macro_f1", "gcn", "paper")
    )
    other = [line(name, 10, 0, 0.5, dataset="pubmed") for name in ("random", "featprop")]
    table = score_table(Results([*more.lines, *other]), "macro_f1", "gcn", "paper")
    assert table is not None
    assert "the budgets 10, 20 (Cora); 10 (PubMed)" in table.note


def test_other_budgets_than_the_papers_are_told(results: Results) -> None:
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    assert "The paper's numbers are over 10, 20, 40, 80, 160." in table.note


def test_the_papers_budgets_are_compared(line: Make) -> None:
    same = Results([line(name, budget, 0, 0.72) for name in ("featprop", "random") for budget in (10, 20, 40, 80, 160)])
    assert "prints 74.89 for FeatProp; here it is 72.00 (-2.89)" in findings(same)[1]
    table = score_table(same, "macro_f1", "gcn", "paper")
    assert table is not None
    assert "numbers are over" not in table.note


def test_a_headline_names_what_was_compared(line: Make) -> None:
    elsewhere = [line("featprop", 10, 0, 0.9, model="sgc")]
    alone = [line("featprop", 10, 0, 0.9, dataset="citeseer")]
    beside = [*alone, line("random", 10, 0, 0.5, dataset="citeseer")]
    assert findings(Results([*elsewhere, *beside]))[0].startswith("FeatProp comes first on Citeseer")
    assert "not beside another" in findings(Results(alone))[0]
    assert "not beside another" in findings(Results(beside[1:]))[0]


def test_signs_that_latex_reads_otherwise() -> None:
    table = Table("t", "a_b", "", (("", 1),), ("c",), ((Entry("<0.001 {x} ~$^"),),))
    assert r"$<$0.001 \{x\} \textasciitilde{}\$\textasciicircum{} \\" in table.latex()


def test_the_same_in_markdown_latex_and_csv(results: Results) -> None:
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    markdown = table.markdown()
    assert "| strategy | Cora: ours | p | paper | difference |" in markdown
    assert "| FeatProp | **72.00 ± 2.00** |  | 74.89 ± 2.63 | −2.89 |" in markdown
    assert "Protocol paper" in markdown
    latex = table.latex()
    assert r"FeatProp & \textbf{72.00 $\pm$ 2.00} &  & 74.89 $\pm$ 2.63 & $-$2.89 \\" in latex
    assert r" & \multicolumn{4}{c}{Cora} \\" in latex
    assert "Protocol paper" in latex
    rows = list(csv.DictReader(StringIO(table.csv())))
    assert [row["strategy"] for row in rows] == ["random", "featprop"]
    assert float(rows[1]["mean"]) == pytest.approx(72)
    assert float(rows[0]["p"]) == pytest.approx(0.003316, abs=1e-5)
    assert float(rows[0]["difference"]) == pytest.approx(52 - 59.83)
    assert "<b>72.00 ± 2.00</b>" in table.html()


def test_without_numbers_of_the_paper_their_columns_are_left_out(line: Make) -> None:
    lines = [line("random", 10, seed, 0.5, protocol="unlabelled", dataset="coauthor-cs") for seed in (0, 1)]
    table = score_table(Results(lines), "macro_f1", "gcn", "unlabelled")
    assert table is not None
    assert table.groups[1] == ("coauthor-cs (in place of CoraFull)", 2)
    assert "Protocol unlabelled" in table.note
    assert score_table(Results(lines), "macro_f1", "sgc", "unlabelled") is None
    table = score_table(Results([line("random", 10, 0, 0.5, dataset="digits")]), "macro_f1", "gcn", "paper")
    assert table is not None
    assert "The paper's numbers" not in table.note
    both = Results([*lines, line("random", 10, 0, 0.5, protocol="unlabelled", dataset="corafull")])
    table = score_table(both, "macro_f1", "gcn", "unlabelled")
    assert table is not None
    assert [title for title, _ in table.groups] == ["", "CoraFull", "coauthor-cs"], "it stands in for nothing"


def test_options_such_as_a_time_limit_are_on_the_table(line: Make) -> None:
    table = score_table(
        Results([line("coreset-mip", 10, 0, 0.5, options={"time_limit": 20})]), "macro_f1", "gcn", "paper"
    )
    assert table is not None
    assert "CoresetMIP with time_limit = 20." in table.note


def runs(*values: float) -> Runs:
    return Runs((10,), tuple(range(len(values))), np.array([values]))


def test_the_paired_test() -> None:
    assert paired_test(runs(1, 2), runs(1, 2)) == 1.0
    assert paired_test(runs(2, 3), runs(1, 2)) == 0.0
    assert paired_test(runs(1), runs(2)) is None
    assert paired_test(runs(1, math.nan, 4), runs(0, 5, 2)) == pytest.approx(0.2048, abs=1e-3)


def test_seconds_add_up(results: Results) -> None:
    table = time_table(results, "gcn")
    rows = {row[0]: row for row in texts(table)}
    assert rows["FeatProp"] == ["FeatProp", "6.0 s", "3.0 s", "1 MB", "239 s"]
    assert rows["Degree"][1:] == ["1.0 s", "0.5 s", "1 MB", "–"]
    assert table is not None
    assert "3 runs over the budgets 10, 20" in table.note


def test_the_data_sets_beside_the_paper() -> None:
    figures = {"nodes": 2708, "edges": 5278, "classes": 7, "features": 1433, "labelled": 2708, "homophily": 0.81}
    assert texts(datasets_table({"cora": figures, "other": figures}, ["cora"])) == [
        ["Cora", "here", "2,708", "5,278", "7", "1,433", "2,708", "0.81"],
        ["", "paper", "2,708", "5,429", "7", "3,703", "", ""],
    ]
    assert datasets_table({}, ["cora"]) is None
    names = ["corafull", "coauthor-cs"]
    assert [row[0] for row in texts(datasets_table(dict.fromkeys(names, figures), names))] == ["CoraFull", "", names[1]]


def test_the_correlation_by_hand(line: Make) -> None:
    errors, distances = [0.1, 0.2, 0.3, 0.5, 0.4], [1.0, 2.0, 3.0, 4.0, 5.0]
    pairs = zip(errors, distances, strict=True)
    lines = [
        line("random", 10, seed, 0.5, accuracy=1 - error, mean_distance=distance, max_distance=6 - distance / 10)
        for seed, (error, distance) in enumerate(pairs)
    ]
    found = correlation(lines)
    assert found is not None
    assert found.selections == 5
    assert found.mean_rho == pytest.approx(0.9)
    assert found.within == pytest.approx(0.9)
    assert found.max_rho == pytest.approx(-0.9)
    assert found.mean_r == pytest.approx(np.corrcoef(errors, distances)[0, 1])
    assert correlation(lines[:4]) is None
    assert texts(correlation_table(Results(lines), "gcn", "paper"))[0][:4] == ["Cora", "5", "0.90", "0.90"]


def test_the_correlation_within_budgets_leaves_out_those_that_say_nothing(line: Make) -> None:
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
    found = correlation(lines)
    assert found is not None
    falls = 1 - 6 * (25 + 9 + 1 + 1 + 16 + 16) / (6 * 35)
    assert found.within == pytest.approx((1 + falls) / 2)
    assert math.isnan(found.max_rho), "the largest distance never changes"
    few = [each for each in lines if each.budget == 40] + [lines[0]]
    found = correlation(few)
    assert found is not None
    assert math.isnan(found.within)
    assert correlation([each for each in lines if each.budget == 80]) is None
    assert correlation([each for each in lines if each.budget == 160]) is None


def test_every_selection_is_drawn_by_its_distance_and_its_error_in_percent(line: Make) -> None:
    pairs = [(0.1, 1.0), (0.2, 3.0), (0.4, 2.0)]
    lines = [
        line("random", 10, seed, 0.5, accuracy=1 - error, mean_distance=distance, max_distance=4.0)
        for seed, (error, distance) in enumerate(pairs)
    ]
    drawn = error_against_loss(Results(lines), "gcn", "paper")
    assert drawn is not None
    (dots,) = drawn.figure.axes[0].collections
    np.testing.assert_allclose(dots.get_offsets(), [(distance, 100 * error) for error, distance in pairs])


def test_the_words_follow_the_numbers(results: Results, line: Make) -> None:
    headline, sentence = findings(results)
    assert headline.startswith("FeatProp comes first on Cora")
    assert "FeatProp 72.0, Random 52.0" in sentence
    assert "prints 74.89 for FeatProp over 10, 20, 40, 80, 160; here it is 72.00 over 10, 20." in sentence
    worse = Results([line("featprop", 10, 0, 0.4), line("random", 10, 0, 0.5)])
    assert "does not come first" in findings(worse)[0]
    assert len(findings(Results([line("featprop", 10, 0, 0.4, model="sgc")]))) == 2


@pytest.mark.parametrize(
    ("ours", "random", "paper", "headline", "standing"),
    [
        (
            [80, 94, 96, 98],
            [56, 78, 86, 93],
            [79, 95, 95, 98],
            "20 labels chosen by featprop do the work of 80 chosen at random",
            ("at every budget", "at 2 of 4 budgets (10, 40 labels)"),
        ),
        (
            [60, 79, 87, 94],
            [56, 78, 86, 93],
            [50, 60, 70, 80],
            "10 labels chosen by featprop teach more than 10 chosen at random",
            ("at every budget", "at every budget"),
        ),
        (
            [50, 77, 87, 92],
            [56, 78, 86, 93],
            [60, 80, 90, 95],
            "40 labels chosen by featprop teach more than 40 chosen at random",
            ("at 1 of 4 budgets (40 labels)", "at no budget"),
        ),
        (
            [50, 70, 80, 93],
            [56, 78, 86, 93],
            [50, 70, 80, 92],
            "featprop is not ahead of random choice in this run",
            ("at no budget", "at 1 of 4 budgets (80 labels)"),
        ),
        (
            [50],
            [40],
            [45],
            "10 labels chosen by featprop teach more than 10 chosen at random",
            ("at every budget", "at every budget"),
        ),
    ],
)
def test_what_labels_are_worth(
    ours: list[float], random: list[float], paper: list[float], headline: str, standing: tuple[str, str]
) -> None:
    budgets = (10, 20, 40, 80)[: len(ours)]
    each = (np.repeat(np.array(values, float)[:, None], 2, axis=1) for values in (ours, random, paper))
    found = worth_of_labels(*(Runs(budgets, (0, 1), percent) for percent in each))
    assert found[0] == headline
    assert found[-1] == (
        f"At equal budgets our default is ahead of random choice {standing[0]}, "
        f"and of the paper's FeatProp and GCN {standing[1]}."
    )


def test_the_spread_of_a_budget_by_hand() -> None:
    several = Runs((10, 20), (0, 1, 2, 3), np.array([[10.0, 20, 30, 40], [50.0, 50, 50, 50]]))
    curve = several.curve()
    assert curve.mean == pytest.approx([25, 50])
    assert curve.deviation == pytest.approx([math.sqrt(500 / 3), 0])
    assert curve.error == pytest.approx([math.sqrt(500 / 3) / 2, 0])
    assert (several.at(0), several.at(1)) == ("25.0 ± 12.9", "50.0 ± 0.0")
    assert runs(10).curve().deviation.tolist() == [0]
    assert runs(10).at(0) == "10.0"


def test_the_table_by_budget() -> None:
    scores = {"accuracy": {"mine": runs(90, 94), "yours": runs(70, 80)}, "macro_f1": {"mine": runs(50, 50)}}
    table = budget_table(scores, "Beside each other", "unlabelled")
    assert table.groups == (("", 1), ("Accuracy", 2), ("Macro-F1", 1))
    assert table.columns == ("labels", "mine", "yours", "mine")
    assert texts(table) == [["10", "92.0 ± 2.8", "75.0 ± 7.1", "50.0 ± 0.0"]]
    assert "Protocol unlabelled" in table.note


def test_the_numbers_of_the_paper() -> None:
    assert printed("macro_f1", "gcn", "paper", "featprop", "cora") == (74.89, 2.63)
    assert printed("micro_f1", "gcn", "paper", "anrmab", "corafull") == (23.14, 1.79)
    assert printed("macro_f1", "gcn", "paper", "coreset-mip", "pubmed") is None
    assert printed("macro_f1", "sgc", "paper", "featprop", "cora") is None
    assert printed("macro_f1", "gcn", "unlabelled", "featprop", "cora") is None
    assert printed("accuracy", "gcn", "paper", "featprop", "cora") is None
    assert printed("macro_f1", "gcn", "paper", "featprop", "coauthor-cs") is None
    assert (strategy_title("featprop-cosine"), strategy_title("herding")) == ("FeatProp (cosine)", "herding")
    assert strategy_title("featprop-diffused") == "featprop-diffused (ours)", "not the paper's"
    assert (title_of("pubmed"), title_of("dblp")) == ("PubMed", "dblp")
    assert title_of("coauthor-cs", ["cora", "coauthor-cs"]) == "coauthor-cs (in place of CoraFull)"
    assert title_of("coauthor-cs", ["corafull", "coauthor-cs"]) == "coauthor-cs"


def test_marked_tables_of_a_page_are_brought_up_to_date(results: Results) -> None:
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    page = "Before.\n\n<!-- table macro-f1-gcn-paper -->\nold\n<!-- end -->\n\nAfter.\n"
    fresh = refreshed(page, [table])
    assert fresh == f"Before.\n\n<!-- table macro-f1-gcn-paper -->\n{table.markdown()}<!-- end -->\n\nAfter.\n"
    assert refreshed(fresh, [table]) == fresh
    with pytest.raises(ParameterError, match="must be one of macro-f1-gcn-paper"):
        refreshed("<!-- table nothing -->\n<!-- end -->", [table])
