"""A few kills of some tasks; `make crash` does many. The campaign forks, so it runs in a process without threads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")

CARELESS = """
import json, sys
from pathlib import Path
from crash.harness import Task, kill_task

def prepare(inputs, state):
    (state / "kept.txt").write_text("before")

def run(inputs, state):
    (state / "half").mkdir(exist_ok=True)
    (state / "kept.txt").unlink()
    (state / "kept.txt").write_text("after")
    with (state / "log.txt").open("a") as log:
        log.write("line\\n")
    (state / "other").mkdir(exist_ok=True)

def look(inputs, state):
    return {path.name: path.read_text() for path in state.glob("*.txt")}

folder = Path(sys.argv[1])
faults = kill_task(Task("careless", run, look, prepare), folder, folder / "state", kills=40, seed=0)
print(json.dumps(faults))
"""


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_is_lost_doubled_or_left() -> None:
    tasks = ["convert --force", "import", "label servers"]
    printed = run("-m", "crash", "--kills", "1", *(word for task in tasks for word in ("--only", task)))
    assert [line.split("|")[1].strip() for line in printed.splitlines() if "| 1 | 0 |" in line] == tasks


def test_a_task_that_writes_in_place_is_found(tmp_path: Path) -> None:
    faults = json.loads(run("-c", CARELESS, str(tmp_path)))
    assert any(fault.startswith("lost: kept.txt") for fault in faults), "the file is gone or empty between two changes"
    assert any(fault.startswith("different: ['log.txt']") for fault in faults), "a line is appended twice"
