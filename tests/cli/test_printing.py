"""Tables on standard output: every word in every place, whatever the width."""

import re
import subprocess
import sys

import pytest

from featprop.cli.printing import print_table

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


def test_a_pipe_gets_one_plain_line_a_row(printed) -> None:
    head, cora, other = printed(40, is_terminal=False)
    assert head == "name  nodes  what it is"
    assert cora == f"cora  2,708  {ROWS[0][2]}".rstrip()
    assert other == "a-b       ?"


def test_a_terminal_gets_lines_that_fit_and_every_word(printed) -> None:
    head, *lines = printed(40, is_terminal=True)
    assert "\x1b[1m" in head
    lines = [re.sub(r"\x1b\[\d+m", "", line) for line in lines]
    assert max(map(len, lines)) <= 40
    assert " ".join(line[13:] for line in lines).split() == ROWS[0][2].split()


def test_a_terminal_too_narrow_for_the_words_gets_the_lines_of_a_pipe(printed) -> None:
    assert printed(20, is_terminal=True)[1:] == printed(20, is_terminal=False)[1:]


def test_rich_waits_for_a_table() -> None:
    program = "import sys, featprop.cli; assert 'rich.table' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
