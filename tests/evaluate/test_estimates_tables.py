"""Tables on estimates and advice in docs/how-good-measured.md match the stored results."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "how-good-measured.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("estimates")
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def lines(benchmark: ModuleType) -> list[dict[str, Any]]:
    return [json.loads(line) for line in benchmark.LINES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["by-graph", "by-strategy", "advice", "forecast"])
def test_tables_match_the_results(benchmark: ModuleType, lines: list[dict[str, Any]], name: str) -> None:
    assert set(benchmark.TABLES) == {"by-graph", "by-strategy", "advice", "forecast"}
    shown = PAGE.split(f"<!-- estimates {name} -->\n")[1].split(f"\n<!-- /estimates {name} -->")[0]
    assert shown == benchmark.TABLES[name](lines)


def test_every_graph_has_results_for_every_budget(benchmark: ModuleType, lines: list[dict[str, Any]]) -> None:
    for graph in benchmark.GRAPHS:
        ours = benchmark.of(lines, part="estimate", graph=graph)
        assert {line["budget"] for line in ours} == set(benchmark.BUDGETS)
        assert {line["strategy"] for line in ours} == set(benchmark.STRATEGIES)


def test_interval_coverage_on_every_graph(benchmark: ModuleType, lines: list[dict[str, Any]]) -> None:
    enough = benchmark.enough(lines)
    for name in benchmark.GRAPHS:
        intervals = [(line["estimate"], line["accuracy"]) for line in enough if line["graph"] == name]
        assert np.mean([low <= truth <= high for (_, low, high), truth in intervals]) >= 0.85


def test_text_names_the_graphs_with_large_errors(benchmark: ModuleType, lines: list[dict[str, Any]]) -> None:
    missed = PAGE.split("**Where the targets are missed**")[1].split("<!--")[0]
    enough = benchmark.enough(lines)
    off = {name: np.mean(benchmark.errors(benchmark.of(enough, graph=name))) for name in benchmark.GRAPHS}
    assert {name for name, error in off.items() if error > 4} == {"citeseer", "acm"}
    assert all(f"({off[name]:.1f})" in missed for name in ("citeseer", "acm"))
    at_40 = {name: np.mean(benchmark.errors(benchmark.of(enough, graph=name, budget=40))) for name in benchmark.GRAPHS}
    assert {name for name, error in at_40.items() if error <= 4} == {"citeseer", "pubmed"}


def test_text_states_the_cost_of_the_advice(benchmark: ModuleType, lines: list[dict[str, Any]]) -> None:
    followed = [
        benchmark.followed(one)
        for strategy in (benchmark.DEFAULT, "random")
        for name in benchmark.GRAPHS
        for one in benchmark.series(lines, strategy=strategy, graph=name)
    ]
    assert f"costs at most {max(cost for _, cost in followed):.1f} points" in PAGE
    assert min(stop for stop, _ in followed) == 80
