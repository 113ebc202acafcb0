"""Tables in docs/how-good-measured.md match the stored results of the benchmarks."""

import importlib
import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-good-measured.md").read_text(encoding="utf-8")
TABLES = {
    "estimates": ("by-graph", "by-strategy", "advice", "forecast"),
    "doubts": ("wrong-labels", "lists", "unseen", "unseen-by-strategy"),
}


@pytest.fixture(scope="module", autouse=True)
def benchmarks_on_the_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
        yield


def benchmark(name: str) -> tuple[ModuleType, list[dict[str, Any]]]:
    """Return a benchmark and its stored results."""
    module = importlib.import_module(name)
    return module, [json.loads(line) for line in module.LINES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("name", "table"), [(name, table) for name, tables in TABLES.items() for table in tables])
def test_tables_match_the_results(name: str, table: str) -> None:
    module, lines = benchmark(name)
    assert set(module.TABLES) == set(TABLES[name])
    shown = PAGE.split(f"<!-- {name} {table} -->\n")[1].split(f"\n<!-- /{name} {table} -->")[0]
    assert shown == module.TABLES[table](lines)


def test_every_graph_has_results_for_every_budget() -> None:
    estimates, lines = benchmark("estimates")
    for graph in estimates.GRAPHS:
        ours = estimates.of(lines, part="estimate", graph=graph)
        assert {line["budget"] for line in ours} == set(estimates.BUDGETS)
        assert {line["strategy"] for line in ours} == set(estimates.STRATEGIES)
    doubts, lines = benchmark("doubts")
    for part in doubts.PARTS:
        assert {line["graph"] for line in lines if line["part"] == part} == set(doubts.GRAPHS)


def test_intervals_cover_the_truth_on_every_graph() -> None:
    estimates, lines = benchmark("estimates")
    enough = estimates.enough(lines)
    for name in estimates.GRAPHS:
        intervals = [(line["estimate"], line["accuracy"]) for line in enough if line["graph"] == name]
        assert np.mean([low <= truth <= high for (_, low, high), truth in intervals]) >= 0.85


def test_first_tenth_of_cora_holds_half_of_the_wrong_labels() -> None:
    doubts, lines = benchmark("doubts")
    ours = doubts.of(lines, part="wrong", graph="cora", strategy=doubts.DEFAULT)
    assert len({(line["seed"], line["planting"]) for line in ours}) >= 10
    assert np.mean(doubts.share_found(ours)) >= 0.5


def test_text_names_the_graphs_with_large_errors() -> None:
    estimates, lines = benchmark("estimates")
    missed = PAGE.split("**Where the targets are missed**")[1].split("<!--")[0]
    enough = estimates.enough(lines)
    off = {name: np.mean(estimates.errors(estimates.of(enough, graph=name))) for name in estimates.GRAPHS}
    assert all(f"({error:.1f})" in missed for error in off.values() if error > 4)


def test_audit_table_matches_the_results_and_its_intervals_cover() -> None:
    written = (ROOT / "experiments" / "estimates" / "audit.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    assert "\n".join(runpy.run_path(str(ROOT / "benchmarks" / "audit.py"))["table"](lines)) in PAGE
    for line in lines:
        assert line["accuracy"][0] >= 0.8, line
        assert line["macro_f1"][0] >= 0.8 or line["of"].startswith("15"), line
