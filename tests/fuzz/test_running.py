"""The campaign sees what it is there to see: each way a command may fail is one of its findings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.case import targets

ROOT = Path(__file__).parents[2]

RUN = """
import json, os, sys, time
from pathlib import Path
from fuzz import running
from fuzz.case import Case

running.PROCESSOR, running.PATIENCE = 2, float(sys.argv[3])
running.command = lambda: lambda words, prog_name: exec(words[0])
folder = Path(sys.argv[1])
(folder / "in").mkdir()
(folder / "in" / "typed.csv").write_text("mine")
outcome = running.run_case(Case([sys.argv[2]], ("out.csv",)), folder)
print(json.dumps([outcome.is_answer, outcome.problems]))
"""
PAUSED = """import signal; campaign = os.getppid(); os.kill(campaign, signal.SIGSTOP); time.sleep(3)
os.kill(campaign, signal.SIGCONT); time.sleep(0.5); open('out.csv', 'w')"""
REFUSED = "print('Error: a must be b; found c: d.', file=sys.stderr); sys.exit(2)"


def done(*script: str) -> str:
    """Return what a script prints, in a process that can be forked."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    command, environment = [sys.executable, "-c", *script], os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.mark.parametrize(
    ("does", "is_answer", "problem"),
    [
        ("open('out.csv', 'w').write('a')", True, None),
        (REFUSED, False, None),
        ("1 / 0", False, "a traceback: ZeroDivisionError"),
        ("sys.exit(3)", False, "ended with 3"),
        ("import signal; signal.raise_signal(signal.SIGINT)", False, "ended with 130"),
        ("os.abort()", False, "ended with signal SIGABRT"),
        ("[0] * 10**10", False, "a traceback: MemoryError"),
        ("while True: pass", False, "ended with signal SIGXCPU"),
        ("time.sleep(60)", False, "ended with time-out"),
        (PAUSED, True, None),
        ("", True, "wrote no out.csv"),
        ("sys.exit(2)", False, "not one sentence at the end, but 0"),
        (f"print('Error: one', file=sys.stderr); {REFUSED}", False, "not one sentence at the end, but 2"),
        ("import warnings; warnings.warn('odd'); open('out.csv', 'w')", True, "a warning: "),
        ("open('out.csv', 'w'); open('more.csv', 'w')", True, "left more.csv"),
        (f"open('out.csv', 'w'); {REFUSED}", False, "left out.csv"),
        (f"open(os.environ['TMPDIR'] + '/x', 'w'); {REFUSED}", False, "left tmp/x"),
        (f"open('typed.csv', 'w').write('yours'); {REFUSED}", False, "changed typed.csv"),
        (f"os.remove('typed.csv'); {REFUSED}", False, "removed typed.csv"),
    ],
)
def test_what_is_wrong_with_a_case(does: str, is_answer: bool, problem: str | None, tmp_path: Path) -> None:
    patience = "2" if "sleep" in does else "100"
    command = [RUN, str(tmp_path), f"import os, sys, time; {does}", patience]
    if does.startswith("while"):
        command[2] = f"import os, sys, time\n{does}"
    found, problems = json.loads(done(*command))
    assert found == is_answer
    assert problems == [] if problem is None else any(each.startswith(problem) for each in problems), problems


def test_a_server_that_does_not_start_is_no_sentence(tmp_path: Path) -> None:
    """`label` is given what is right, so that a refusal is wrong, and nothing was asked of the page."""
    (tmp_path / "seeds" / "csv").mkdir(parents=True)
    run = f"""
import json, random, sys
from pathlib import Path
from fuzz import running
from fuzz.case import targets

running.command = lambda: lambda words, prog_name: exec({REFUSED!r})
folder = Path(sys.argv[1])
(folder / "in").mkdir()
make, _ = targets()["http"]
print(json.dumps(running.run_case(make(random.Random(1), folder / "seeds", folder / "in"), folder).problems))
"""
    assert json.loads(done(run, str(tmp_path))) == ["the server did not start", "ended with 2"]


def test_there_is_a_target_for_everything_that_comes_from_outside() -> None:
    kinds = {"csv", "parquet", "workbook", "npz", "native", "planetoid", "model", "rounds", "label log", "sheet"}
    assert set(targets()) >= kinds | {"other tools", "settings", "results", "command line", "http", "typed into"}
