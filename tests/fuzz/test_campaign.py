"""A short campaign over every kind of input; ``make fuzz`` runs a long one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import campaign

ROOT = Path(__file__).parents[2]
CASES = 48


def test_damaged_inputs_end_in_an_answer_or_one_sentence() -> None:
    command = [sys.executable, "-m", "fuzz", "--cases", str(CASES), "--seconds", "600", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^(.+?) +(\d+) +(\d+) +(\d+) +(\d+) +[\d.]+ s$", done.stdout, flags=re.MULTILINE)
    assert {name for name, *_ in rows} >= {"csv", "http", "native", "planetoid", "settings", "all"}
    http = next(row for row in rows if row[0] == "http")
    assert int(http[2]) > 0, "a server that was asked"
    name, cases, answers, sentences, findings = rows[-1]
    assert (name, int(cases), int(findings)) == ("all", CASES, 0)
    assert int(answers) > 5
    assert int(sentences) > 10


def test_cases_that_were_not_done_are_said_and_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert campaign.run([campaign.Number(7, "csv", 0)], tmp_path, tmp_path, jobs=1, seconds=-1) == 1
    assert "Stopped after -1 s: 0 of 1 cases." in capsys.readouterr().out
