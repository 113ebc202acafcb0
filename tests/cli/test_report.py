"""``featprop report``."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.cli.table_options import arguments_of
from featprop.tables import TableOptions

Run = Callable[..., Any]


@pytest.fixture
def sheet(graph_folder: Path, tmp_path: Path) -> Path:
    with (graph_folder / "nodes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    out = tmp_path / "picks.csv"
    out.write_text("id,label\n" + "".join(f"{row['id']},{row['label']}\n" for row in rows[:20]))
    return out


def test_a_page_is_written_with_the_commands_that_made_it(
    run: Run, graph_folder: Path, sheet: Path, tmp_path: Path
) -> None:
    result = run("report", graph_folder, "--labels", sheet, "--title", "Mine", "--weights", "raw", "--out", "r.html")
    assert result.exit_code == 0, result.output
    assert "Wrote the report to r.html" in result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Mine" in page
    assert f"featprop select {graph_folder} --weights raw --labels {sheet} --budget 10 --out more.csv" in page
    again = run("report", graph_folder, "--labels", sheet, "--out", "r.html")
    assert again.exit_code == 0


def test_refusals_come_before_any_work(run: Run, graph_folder: Path, sheet: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    result = run("report", graph_folder, "--labels", sheet, "--out", "page.html")
    assert result.exit_code == 2
    assert "must be new or an earlier report" in result.output
    assert "Read " not in result.output
    assert run("report", graph_folder, "--labels", sheet, "--out", "page.html", "--force").exit_code == 0


def test_options_are_written_as_they_were_said() -> None:
    options = TableOptions(id="key", columns={"age": "number"}, features=("a", "b"), weights="none")
    words = ["--features", "a", "--features", "b", "--column", "age=number", "--id", "key", "--weights", "none"]
    assert arguments_of(options) == words
    assert arguments_of(TableOptions(raw=True)) == ["--raw"]
    assert arguments_of(TableOptions()) == []
