"""Tables on diagnostics in docs/how-good-measured.md match the stored results."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "how-good-measured.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_doubts", ROOT / "benchmarks" / "doubts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lines(benchmark: ModuleType) -> list[dict[str, object]]:
    return [json.loads(line) for line in benchmark.LINES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["wrong-labels", "lists", "unseen", "unseen-by-strategy"])
def test_tables_match_the_results(benchmark: ModuleType, lines: list[dict[str, object]], name: str) -> None:
    assert set(benchmark.TABLES) == {"wrong-labels", "lists", "unseen", "unseen-by-strategy"}
    shown = PAGE.split(f"<!-- doubts {name} -->\n")[1].split(f"\n<!-- /doubts {name} -->")[0]
    assert shown == benchmark.TABLES[name](lines)


def test_every_graph_has_results(benchmark: ModuleType, lines: list[dict[str, object]]) -> None:
    for part in benchmark.PARTS:
        assert {line["graph"] for line in lines if line["part"] == part} == set(benchmark.GRAPHS)


def test_first_tenth_of_cora_holds_half_of_the_wrong_labels(
    benchmark: ModuleType, lines: list[dict[str, object]]
) -> None:
    ours = benchmark.of(lines, part="wrong", graph="cora", strategy=benchmark.DEFAULT)
    assert len({(line["seed"], line["planting"]) for line in ours}) >= 10
    assert np.mean(benchmark.share_found(ours)) >= 0.5


def test_how_good_page_quotes_the_tables() -> None:
    task = (ROOT / "docs" / "how-good.md").read_text(encoding="utf-8")

    def cells(name: str, places: slice) -> list[int]:
        rows = PAGE.split(f"<!-- doubts {name} -->\n")[1].split("\n<!-- /doubts")[0].splitlines()[2:]
        return [int(cell) for row in rows for cell in row.split("|")[places]]

    found, wrong = cells("wrong-labels", slice(3, 9)), cells("lists", slice(4, 5))
    ranges = (f"held {min(found)} to {max(found)} % of the", f"{min(wrong)} to {max(wrong)} % of the first 20")
    text = " ".join(task.split())
    assert all(each in text for each in ranges)
