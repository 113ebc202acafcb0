"""A run in real processes, killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.experiments.results import read_results

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def words(graph: Path, out: Path) -> list[str]:
    names = ("random", "anrmab")
    strategies = [part for name in names for part in ("--strategy", name)]
    sizes = ["--budgets", "8,16,24", "--seeds", "2", "--epochs", "20", "--jobs", "1", "--out", str(out)]
    return ["experiments", "run", "--dataset", str(graph), *strategies, *sizes]


def begin(graph: Path, out: Path) -> subprocess.Popen[str]:
    """Start the run in a process group, as a terminal does."""
    command = [sys.executable, "-m", "featprop", *words(graph, out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def results(out: Path) -> dict[Any, Any]:
    return {
        line.cell: (line.nodes, line.macro_f1, line.micro_f1, line.accuracy, line.mean_distance, line.state)
        for line in read_results(out)
    }


def n_lines(out: Path) -> int:
    path = out / "blobs.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(lines: int, out: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while n_lines(out) < lines and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def children_of(process: int) -> list[int]:
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(child) for child in path.read_text(encoding="ascii").split()] if path.exists() else []


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"


def test_stopped_run_resumes_with_the_same_results(graph_folder: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    """Stop it with Ctrl-C, kill it, and leave half a line in the file."""
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    done = run(*words(graph_folder, straight))
    assert done.exit_code == 0, done.output
    assert "24 cells" in done.output

    for lines, sent, code in ((1, signal.SIGINT, 130), (5, signal.SIGKILL, -signal.SIGKILL)):
        process = begin(graph_folder, broken)
        wait_for(lines, broken, process)
        workers = children_of(process.pid)
        if sent == signal.SIGINT:
            os.killpg(process.pid, sent)
        else:
            process.send_signal(sent)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == code, errors
        assert "Traceback" not in errors
        assert lines <= n_lines(broken) < 24
        deadline = time.monotonic() + 300
        while any(alive(worker) for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(alive(worker) for worker in workers), "workers exit with their parent"
        assert len(read_results(broken)) == n_lines(broken)

    with (broken / "blobs.jsonl").open("ab") as file:
        file.write(b'{"dataset":"blobs","strat')
    done = run(*words(graph_folder, broken))
    assert done.exit_code == 0, done.output
    assert results(broken) == results(straight)
    whole = (broken / "blobs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(whole) == 24
    assert all(json.loads(line) for line in whole)
    assert "\n0 cells" in run(*words(graph_folder, broken)).output
