"""Progress on a terminal: one bar for the current stage; messages stay, bars disappear."""

import io
import logging
import re
import sys

import pytest

from featprop.cli.console import showing_progress
from featprop.progress import tracked


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
