"""Tables in docs/how-good-measured.md match the stored results of the benchmarks."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

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


def test_intervals_of_estimates_cover_the_accuracy() -> None:
    estimates, lines = benchmark("estimates")
    enough = estimates.enough(lines)
    for name in estimates.GRAPHS:
        of_graph = [line for line in enough if line["graph"] == name]
        held = [line["estimate"][1] <= line["accuracy"] <= line["estimate"][2] for line in of_graph]
        assert sum(held) >= 0.85 * len(held), name


def test_audit_table_matches_the_results_and_its_intervals_cover() -> None:
    audit, lines = benchmark("audit")
    assert audit.audit_table(lines) in PAGE
    for line in lines:
        assert line["accuracy"][0] >= 0.8, line
        assert line["macro_f1"][0] >= 0.8 or line["of"].startswith("15"), line
