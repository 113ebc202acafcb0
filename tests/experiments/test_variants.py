"""Variants of strategies, models and graphs have separate rows, tables and panels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from featprop.experiments.figures import (
    ablation,
    error_against_loss,
    later_curves,
    learning_curves,
    style_of,
)
from featprop.experiments.report import build_drawings, build_tables, summarize_findings
from featprop.experiments.results import Result
from featprop.experiments.summary import Results
from featprop.experiments.tables import correlation_table, score_table, time_table

Make = Callable[..., Result]


def rows(results: Results, model: str = "gcn", protocol: str = "paper") -> dict[str, str]:
    """Return the Macro-F1 on the first data set, by the title of the row."""
    table = score_table(results, "macro_f1", model, protocol)
    assert table is not None
    return {row[0].text: row[1].text for row in table.rows}


def test_options_of_a_strategy_are_rows(line: Make) -> None:
    results = Results(
        [
            line("featprop", 10, 0, 0.7),
            line("featprop", 10, 0, 0.6, options={"layers": 1}),
            line("featprop", 10, 0, 0.5, options={"layers": 3, "distance": "l1"}),
            line("featprop-kcenter", 10, 0, 0.3),
            line("featprop-kcenter", 10, 0, 0.4, options={"layers": 1}),
        ]
    )
    assert list(results.strategies) == [
        "featprop",
        "featprop[distance=l1,layers=3]",
        "featprop[layers=1]",
        "featprop-kcenter",
        "featprop-kcenter[layers=1]",
    ]
    assert rows(results) == {
        "FeatProp": "70.00",
        "FeatProp (distance = l1, layers = 3)": "50.00",
        "FeatProp (layers = 1)": "60.00",
        "FeatProp (K-Center)": "30.00",
        "FeatProp (K-Center, layers = 1)": "40.00",
    }
    table = score_table(results, "macro_f1", "gcn", "paper")
    assert table is not None
    paper = {row[0].text: row[3].text for row in table.rows}
    assert paper["FeatProp"] == "74.89 ± 2.63"
    assert paper["FeatProp (layers = 1)"] == "–", "the paper prints the default options"


def test_settings_of_a_model_are_separate_tables(line: Make) -> None:
    results = Results([line("random", 10, 0, 0.5), line("random", 10, 0, 0.6, settings={"hidden": 32})])
    assert list(results.models) == ["gcn", "gcn[hidden=32]"]
    assert rows(results) == {"Random": "50.00"}
    table = score_table(results, "macro_f1", "gcn[hidden=32]", "paper")
    assert table is not None
    assert (table.name, table.title) == ("macro-f1-gcn[hidden=32]-paper", "Macro-F1 of a GCN (hidden = 32)")
    assert table.columns == ["strategy", "ours", "p"], "the paper prints the default settings"
    alone = score_table(Results(results.lines[1:]), "macro_f1", "gcn", "paper")
    assert alone is not None
    assert alone.title == "Macro-F1 of a GCN"
    assert "hidden = 32" in alone.note


def test_table_names_are_valid_file_names(line: Make, tmp_path: Path) -> None:
    settings = [{}, {"act": "a/b c"}, {"act": "a-b c"}]
    results = Results([line("random", 10, 0, 0.5, settings=given) for given in settings])
    names = [table.name for table in build_tables(results, {})]
    assert "macro-f1-gcn[act=a%2Fb%20c]-paper" in names
    assert len(set(names)) == len(names) >= 9
    for name in names:
        (tmp_path / name).write_text("", encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == len(names)


def test_graphs_of_one_name_are_separate_panels(line: Make) -> None:
    one = [line("random", 10, 0, 0.5, graph="abcdef123"), line("random", 20, 0, 0.5)]
    assert [variant.title for variant in Results(one).datasets.values()] == ["Cora"]
    assert rows(Results(one)) == {"Random": "50.00"}, "a result without a fingerprint belongs to the only graph"
    two = Results([*one, line("random", 10, 0, 0.7, graph="123456fff")])
    assert {key: variant.title for key, variant in two.datasets.items()} == {
        "cora": "Cora",
        "cora[123456]": "Cora (123456)",
        "cora[abcdef]": "Cora (abcdef)",
    }
    table = score_table(two, "macro_f1", "gcn", "paper")
    assert table is not None
    assert [title for title, _ in table.groups] == ["", "Cora", "Cora (123456)", "Cora (abcdef)"]
    assert [cell.text for cell in table.rows[0]][5] == "70.00"
    drawing = learning_curves(two, "macro_f1", "gcn", "paper")
    assert drawing is not None
    assert "Cora (123456), Random: 70.0 with 10" in drawing.description


def test_schedules_are_rows(line: Make) -> None:
    """10, 20, 40 is the paper's schedule; 10, 40 is another, and both begin with the same 10."""
    results = Results(
        [
            line("age", 10, 0, 0.3, schedule=(10,)),
            line("age", 20, 0, 0.5, schedule=(10, 20)),
            line("age", 40, 0, 0.7, schedule=(10, 20, 40)),
            line("age", 40, 0, 0.9, schedule=[10, 40]),
            *(line("random", budget, 0, 0.1) for budget in (10, 40)),
        ]
    )
    assert rows(results) == {"AGE": "50.00", "AGE (budgets = 10-40)": "60.00", "Random": "10.00"}
    assert sum(line.strategy == "age" for line in results.lines) == 4


@pytest.mark.parametrize(("model", "title"), [("gcn", "a GCN"), ("sgc", "an SGC"), ("ridge", "ridge")])
def test_tables_and_figures_of_any_model(line: Make, model: str, title: str) -> None:
    generator = np.random.default_rng(0)
    lines = [
        line(name, budget, seed, float(generator.random()), model=model, mean_distance=1 + float(generator.random()))
        for name in ("random", "featprop", "unknown", "featprop-hidden")
        for budget in (10, 20)
        for seed in (0, 1)
    ]
    results = Results(lines)
    made = [
        score_table(results, "macro_f1", model, "paper"),
        time_table(results, model),
        correlation_table(results, model, "paper"),
        learning_curves(results, "macro_f1", model, "paper"),
        later_curves(results, "macro_f1", model, "paper"),
        ablation(results, "macro_f1", model, "paper"),
        error_against_loss(results, model, "paper"),
    ]
    assert all(each is not None and title in each.title for each in made)
    assert any(f"Macro-F1 of {title}: " in sentence for sentence in summarize_findings(results))


def test_variants_and_unknown_strategies_have_distinct_styles(line: Make) -> None:
    options: list[dict[str, Any]] = [{}, {"layers": 1}, {"layers": 3}]
    lines = [line("featprop", 10, 0, 0.5, options=given) for given in options]
    results = Results(
        [
            *lines,
            *(line(name, 10, 0, 0.5) for name in ("random", "degree", "mine", "yours", "herding", "featprop-diffused")),
        ]
    )
    looks = [style_of(results, name) for name in results.strategies]
    assert len(looks) == 9
    assert len({(look.colour, look.marker, str(look.dashes)) for look in looks}) == 9
    assert {"FeatProp (layers = 1)", "mine", "herding"} <= {look.label for look in looks}


def test_all_tables_and_figures_of_variants(line: Make) -> None:
    generator = np.random.default_rng(0)
    results = Results(
        [
            line(
                name,
                budget,
                seed,
                float(generator.random()),
                mean_distance=1 + float(generator.random()),
                options=options,
                settings=settings,
                graph=graph,
                model=model,
            )
            for name in ("featprop", "mine")
            for budget in (10, 20)
            for seed in (0, 1)
            for options in ({}, {"layers": 1})
            for settings in ({}, {"hidden": 32})
            for graph in ("abcdef1", "123456f")
            for model in ("gcn", "ridge")
        ]
    )
    drawings, tables = list(build_drawings(results)), build_tables(results, {})
    for made in (drawings, tables):
        names = [each.name for each in made]
        assert len(set(names)) == len(names)
    assert len(tables) == 2 * 4 + 4 + 4
    assert {"curves-macro-f1-gcn[hidden=32]-paper", "error-against-loss-ridge-paper"} <= {
        each.name for each in drawings
    }
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert len(summarize_findings(results)) == 1 + len(results.datasets) == 3
