"""``featprop report``."""

import re
import shlex
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def sheet_of(path: Path, nodes: range, weight: float | None = None, label: str | None = None) -> Path:
    """Write a sheet as a person filled it."""
    mark = "" if weight is None else f",{weight}"
    rows = [f"{node}{mark},{'abc'[node % 3] if label is None else label}" for node in nodes]
    path.write_text("\n".join(["id,label" if weight is None else "id,audit,label", *rows]) + "\n")
    return path


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    return sheet_of(tmp_path / "picks.csv", range(20))


def test_a_page_is_written_with_the_commands_that_made_it(
    run: Run, graph_folder: Path, sheet: Path, tmp_path: Path
) -> None:
    result = run("report", graph_folder, "--labels", sheet, "--title", "Mine", "--out", "r.html")
    assert result.exit_code == 0, result.output
    assert "Wrote the report to r.html" in result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Mine" in page
    assert f"featprop select {graph_folder} --labels {sheet} --budget 10 --out more-2.csv" in page
    assert run("report", graph_folder, "--labels", sheet, "--out", "r.html").exit_code == 2


def test_refusals_come_before_any_work(run: Run, graph_folder: Path, sheet: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    result = run("report", graph_folder, "--labels", sheet, "--out", "page.html")
    assert result.exit_code == 2
    assert "page.html" in result.output
    assert "Read " not in result.output
    assert run("report", graph_folder, "--labels", sheet, "--out", "page.html", "--force").exit_code == 0


def commands_of(page: Path) -> list[list[str]]:
    """Return the commands that a page names."""
    found = re.findall(r"<pre><code>featprop (.*?)</code></pre>", page.read_text(encoding="utf-8"))
    return [shlex.split(unescape(line)) for line in found]


def test_the_commands_of_a_page_run(run: Run, graph_folder: Path, sheet: Path, tmp_path: Path) -> None:
    """Of 240 nodes 20 have a label and 200 are checked: 20 are left, of which 3 could not be labelled."""
    with sheet.open("a") as file:
        file.write("237,?\n238,skip\n239,\n")
    audit = sheet_of(tmp_path / "audit.csv", range(30, 230), 1.1)
    page = tmp_path / "r.html"
    options = ("--classes", "a,b,c", "--set", "features=own", "--title", "It's")
    made = run("report", graph_folder, "--labels", sheet, "--labels", audit, "--out", "r.html", "--seed", 3, *options)
    assert made.exit_code == 0, made.output
    commands = commands_of(page)
    assert {command[0] for command in commands} == {"report", "audit", "select", "train", "predict"}
    for command in commands:
        result = run(*command)
        assert result.exit_code == 0, (command, result.output)
        if command[0] in ("audit", "select"):
            name = command[command.index("--out") + 1]
            path = tmp_path / name
            path.write_text(path.read_text().replace(",,", ",a,"))


def test_two_draws_of_an_audit_are_one(run: Run, graph_folder: Path, tmp_path: Path) -> None:
    """Draws of 10 of 220 nodes and of 30 of the other 210 are one of 40."""
    picks = sheet_of(tmp_path / "picks.csv", range(20))
    first = sheet_of(tmp_path / "audit.csv", range(30, 40), 22, label="a")
    second = sheet_of(tmp_path / "audit-2.csv", range(40, 70), 7)
    result = run("report", graph_folder, "--labels", picks, "--labels", first, "--labels", second, "--out", "r.html")
    assert result.exit_code == 0, result.output
    assert "Measured on 40 random nodes" in (tmp_path / "r.html").read_text(encoding="utf-8")
