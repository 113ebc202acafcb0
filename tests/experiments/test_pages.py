"""The tables and figures of docs/reproduction.md and docs/default.md match the committed results."""

from pathlib import Path

import matplotlib
import pytest

from featprop.experiments.report import (
    FIGURE_LINK,
    TABLE_MARK,
    build_drawings,
    build_tables,
    find_drawings,
    replace_tables,
)
from featprop.experiments.results import read_results, read_statistics
from featprop.experiments.summary import Results

pytestmark = pytest.mark.no_cover
ROOT = Path(__file__).parent.parent.parent
PAGES = {
    "reproduction.md": ["results"],
    "default.md": ["default/results", "default/made", "results"],
}


@pytest.mark.parametrize(("name", "folders"), PAGES.items())
def test_page_matches_committed_results(name: str, folders: list[str]) -> None:
    path = ROOT / "docs" / name
    page = path.read_text(encoding="utf-8")
    places = [ROOT / "experiments" / folder for folder in folders]
    results = Results(line for place in places for line in read_results(place))
    statistics = {name: counts for place in places for name, counts in read_statistics(place).items()}
    assert TABLE_MARK.search(page), "the page has no marked table"
    assert replace_tables(page, build_tables(results, statistics)) == page
    is_pinned = f"matplotlib=={matplotlib.__version__}\n" in (ROOT / "requirements.txt").read_text(encoding="utf-8")
    if is_pinned and FIGURE_LINK.search(page):  # other versions place text differently
        for place, drawing in find_drawings(page, build_drawings(results)).items():
            assert (path.parent / place).read_text(encoding="utf-8") == drawing.file
