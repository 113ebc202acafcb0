"""Progress on standard error; tables and text on standard output, which keep every word at any width."""

import io
import logging
import re
import sys
import time

import pytest

from featprop.cli.console import print_table, print_text, showing_progress
from featprop.progress import tracked

TITLES = ["name", "nodes", "what it is"]
ROWS = [["cora", "2,708", "[bold]papers[/bold] that cite one another :smile: " + "again " * 20], ["a-b", "?"]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_stages_and_messages_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setenv("TERM", "xterm")
    log = logging.getLogger("featprop.somewhere")
    before = log.getEffectiveLevel()
    with showing_progress():
        for stage, total in (("reading rows", 4), ("measuring distances", 2)):
            for step in tracked(range(total), stage, total):
                time.sleep(0.11)
                log.info("%s: step %d of [bold]%d[/bold]", stage, step + 1, total)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.getvalue())
    bars = re.findall(r"(reading rows|measuring distances) [^\w:]+ +(\d+)%", shown)
    stages = [stage for stage, _ in bars]
    assert stages == sorted(stages, reverse=True), "one bar at a time"
    assert bars[-1] == ("measuring distances", "100")
    assert "reading rows" in stages
    for message in ("reading rows: step 4 of [bold]4[/bold]", "measuring distances: step 1 of [bold]2[/bold]"):
        assert shown.count(message) == 1, "printed once, without markup"
    assert log.getEffectiveLevel() == before
    length = len(seen.getvalue())
    log.warning("afterwards")
    assert len(seen.getvalue()) == length, "the handler is removed"


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def print_at(columns: int, is_terminal: bool) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
        print_table(TITLES, ROWS, left={"name", "what it is"})
        return capsys.readouterr().out.splitlines()

    return print_at


@pytest.mark.parametrize(("columns", "is_terminal"), [(40, False), (200, True)])
def test_one_line_per_row_in_a_pipe_and_on_a_wide_terminal(printed, columns: int, is_terminal: bool) -> None:
    head, cora, other = printed(columns, is_terminal)
    assert head == "name  nodes  what it is"
    assert cora == f"cora  2,708  {ROWS[0][2]}".rstrip()
    assert other == "a-b       ?"


def test_cells_are_wrapped_on_a_narrow_terminal(printed) -> None:
    head, *lines = printed(34, is_terminal=True)
    assert head == "name  nodes  what it is"
    assert max(map(len, lines)) <= 34
    assert " ".join(" ".join(line[13:] for line in lines[:-1]).split()) == ROWS[0][2].strip()
    assert lines[-1] == "a-b       ?"


def test_text_is_wrapped_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "one two three four\nfive six\n\n    kept:\n    a formula"
    monkeypatch.setenv("COLUMNS", "15")
    print_text(text)
    assert capsys.readouterr().out == text.replace("four\nfive", "four five") + "\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_text(text)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["one two three", "four five six", "", "    kept:", "    a formula"]
