"""The tables and figures of docs/reproduction.md and docs/default.md match the committed results."""

import re
from pathlib import Path

import matplotlib
import pytest

from featprop.experiments.report import build_drawings, build_tables
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
    shown = dict(re.findall(r"<!-- table (\S+) -->\n(.*?)<!-- /table \1 -->", page, re.DOTALL))
    made = {table.name: table.markdown() for table in build_tables(results, statistics)}
    assert shown, "the page has no marked table"
    assert shown == {mark: made[mark] for mark in shown}
    figures = re.findall(r"\]\((figures/\S+)\.svg\)", page)
    is_pinned = f"matplotlib=={matplotlib.__version__}\n" in (ROOT / "requirements.txt").read_text(encoding="utf-8")
    if is_pinned and figures:  # other versions place text differently
        drawn = {f"figures/{drawing.name}": drawing.file for drawing in build_drawings(results)}
        assert {
            figure: (path.parent / f"{figure}.svg").read_text("utf-8") for figure in figures
        }.items() <= drawn.items()
