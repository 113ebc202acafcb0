"""The tables and figures of docs/reproduction.md match the committed results."""

import json
from pathlib import Path

import matplotlib
import pytest

from featprop.experiments.report import TABLE_MARK, build_drawings, build_tables, find_drawings, replace_tables
from featprop.experiments.results import STATISTICS, read_results
from featprop.experiments.summary import Results

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "reproduction.md"


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(read_results(RESULTS))


def test_tables_match_committed_results(results: Results) -> None:
    page = PAGE.read_text(encoding="utf-8")
    statistics = json.loads((RESULTS / STATISTICS).read_text(encoding="utf-8"))
    assert TABLE_MARK.search(page), "the page has no marked table"
    assert replace_tables(page, build_tables(results, statistics)) == page


def test_figures_match_committed_results(results: Results) -> None:
    if f"matplotlib=={matplotlib.__version__}\n" not in (ROOT / "requirements.txt").read_text(encoding="utf-8"):
        pytest.skip("only the pinned Matplotlib places text exactly as in the committed figures")
    drawings = find_drawings(PAGE.read_text(encoding="utf-8"), build_drawings(results))
    assert drawings, "the page shows no figure"
    for place, drawing in drawings.items():
        assert (PAGE.parent / place).read_text(encoding="utf-8") == drawing.file
