"""Progress on standard error; tables and text on standard output, which keep every word at any width."""

import io
import logging
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from featprop.cli import app
from featprop.cli.console import print_table, print_text, showing_progress
from featprop.progress import tracked
from featprop.strategies import available_strategies

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


def test_narrow_terminal_gets_lists(printed) -> None:
    lines = printed(34, is_terminal=True)
    assert lines[:3] == ["cora", "  nodes       2,708", "  what it is  [bold]papers[/bold]"]
    assert lines[-4:] == ["", "a-b", "  nodes       ?", ""]
    rest = [line.strip().removeprefix("what it is  ") for line in lines[2:-4]]
    assert " ".join(rest).split() == ROWS[0][2].split()


def test_text_is_wrapped_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "one two three four\nfive six\n\n    kept as it is: a formula\n\nshort"
    monkeypatch.setenv("COLUMNS", "12")
    print_text(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_text(text, hang=2)
    assert capsys.readouterr().out == ("one two\n  three four\n  five six\n\n    kept as it is: a formula\n\nshort\n")


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("words", [["strategies"], ["models"], ["strategies", "featprop"], ["models", "ridge"]])
def test_lists_fit_a_terminal(
    words: list[str], columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    app(words, standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.startswith(words[-1] if len(words) > 1 else "ridge") or line == "random" for line in lines)


def test_pipe_gets_one_line_per_strategy(run: Callable[..., Any]) -> None:
    head, *lines = run("strategies").stdout.partition("\n\n")[0].splitlines()
    assert head.split() == ["name", "what", "it", "does", "needs", "reference", "cost"]
    assert [line.split()[0] for line in lines] == available_strategies()
