"""The account of the reproduction: its tables are what the committed lines say."""

import json
from pathlib import Path

import matplotlib
import pytest

from featprop.experiments.pages import MARKED, refreshed, shown
from featprop.experiments.report import build_drawings, build_tables
from featprop.experiments.results import STATISTICS, read_results
from featprop.experiments.summary import Results

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "reproduction.md"


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(read_results(RESULTS))


def test_the_tables_of_the_docs_are_what_the_report_makes_of_the_committed_lines(results: Results) -> None:
    page = PAGE.read_text(encoding="utf-8")
    statistics = json.loads((RESULTS / STATISTICS).read_text(encoding="utf-8"))
    assert MARKED.search(page), "the page has no marked table"
    assert refreshed(page, build_tables(results, statistics)) == page


def test_the_figures_of_the_docs_are_what_the_report_makes_of_the_committed_lines(results: Results) -> None:
    if f"matplotlib=={matplotlib.__version__}\n" not in (ROOT / "requirements.txt").read_text(encoding="utf-8"):
        pytest.skip("another Matplotlib than the pinned one sets its text elsewhere")
    drawings = shown(PAGE.read_text(encoding="utf-8"), build_drawings(results))
    assert drawings, "the page shows no figure"
    for place, drawing in drawings.items():
        assert (PAGE.parent / place).read_text(encoding="utf-8") == drawing.file
