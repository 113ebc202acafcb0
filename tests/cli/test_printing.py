"""Tables on standard output keep every word at any width."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from featprop.cli import app
from featprop.cli.printing import print_table, print_text
from featprop.strategies import available_strategies

TITLES = ["name", "nodes", "what it is"]
ROWS = [["cora", "2,708", "[bold]papers[/bold] that cite one another :smile: " + "again " * 20], ["a-b", "?"]]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def print_at(columns: int, is_terminal: bool) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
        print_table(TITLES, ROWS, left={"name", "what it is"})
        return capsys.readouterr().out.splitlines()

    return print_at


def test_pipe_gets_one_line_per_row(printed) -> None:
    head, cora, other = printed(40, is_terminal=False)
    assert head == "name  nodes  what it is"
    assert cora == f"cora  2,708  {ROWS[0][2]}".rstrip()
    assert other == "a-b       ?"


def test_terminal_gets_wrapped_rows(printed) -> None:
    head, *lines = printed(40, is_terminal=True)
    assert "\x1b[1m" in head
    lines = [re.sub(r"\x1b\[\d+m", "", line) for line in lines]
    assert max(map(len, lines)) <= 40
    assert " ".join(line[13:] for line in lines).split() == ROWS[0][2].split()


def test_narrow_terminal_gets_stacked_rows(printed) -> None:
    lines = printed(34, is_terminal=True)
    assert lines[:3] == ["cora", "  nodes 2,708", "  what it is  [bold]papers[/bold]"]
    assert max(map(len, lines)) <= 34
    assert lines[-4:] == ["", "a-b", "  nodes ?", ""]
    rest = [line.strip().removeprefix("what it is  ") for line in lines[2:-4]]
    assert " ".join(rest).split() == ROWS[0][2].split()


def test_long_word_is_not_broken(printed) -> None:
    assert "  what it is  [bold]papers[/bold]" in printed(12, is_terminal=True)


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
    lines = re.sub(r"\x1b\[\d+m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.startswith(words[-1] if len(words) > 1 else "ridge") or line == "random" for line in lines)


def test_pipe_gets_one_line_per_strategy(run: Callable[..., Any]) -> None:
    head, *lines = run("strategies").stdout.partition("\n\n")[0].splitlines()
    assert head.split() == ["name", "what", "it", "does", "needs", "reference", "cost"]
    assert [line.split()[0] for line in lines] == available_strategies()


def test_rich_tables_are_imported_lazily() -> None:
    program = "import sys, featprop.cli; assert 'rich.table' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
