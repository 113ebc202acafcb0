"""The account of the reproduction: its tables are what the committed lines say."""

import json
from pathlib import Path

import pytest

from featprop.experiments.lines import read_lines
from featprop.experiments.pages import MARKED, refreshed
from featprop.experiments.report import build_tables
from featprop.experiments.runner import STATISTICS
from featprop.experiments.summary import Results

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "reproduction.md"


def test_the_tables_of_the_docs_are_what_the_report_makes_of_the_committed_lines() -> None:
    if not PAGE.exists() or not list(RESULTS.glob("*.jsonl")):
        pytest.skip("no results of a full run are committed yet: make paper, then write docs/reproduction.md")
    page = PAGE.read_text(encoding="utf-8")
    statistics = json.loads((RESULTS / STATISTICS).read_text(encoding="utf-8"))
    assert MARKED.search(page), "the page has no marked table"
    assert refreshed(page, build_tables(Results(read_lines(RESULTS)), statistics)) == page
