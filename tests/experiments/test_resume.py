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


def words(graph: Path, out: Path, jobs: int) -> list[str]:
    names = ("random", "featprop-diffused", "anrmab")
    strategies = [part for name in names for part in ("--strategy", name)]
    sizes = ["--budgets", "8,16,24", "--seeds", "2", "--epochs", "60", "--jobs", str(jobs), "--out", str(out)]
    return ["experiments", "run", "--dataset", str(graph), *strategies, *sizes]


def command(graph: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "featprop", *words(graph, out, jobs=2)]


def begin(graph: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(command(graph, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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


def test_killed_run_resumes_with_the_same_results(graph_folder: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    done = run(*words(graph_folder, straight, jobs=1))
    assert done.exit_code == 0, done.output
    assert "36 cells" in done.output

    for lines in (1, 13):
        process = begin(graph_folder, broken)
        wait_for(lines, broken, process)
        workers = children_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert lines <= n_lines(broken) < 36
        deadline = time.monotonic() + 300
        while any(alive(worker) for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(alive(worker) for worker in workers), "workers exit with their parent"

    with (broken / "blobs.jsonl").open("ab") as file:
        file.write(b'{"dataset":"blobs","strat')
    process = begin(graph_folder, broken)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert results(broken) == results(straight)
    whole = (broken / "blobs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(whole) == 36
    assert all(json.loads(line) for line in whole)

    again = run(*words(graph_folder, broken, jobs=2))
    assert "\n0 cells in" in again.output
    assert "36 had a result" in again.output


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"


def test_interrupted_run_leaves_valid_results(graph_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    process = subprocess.Popen(
        command(graph_folder, out),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(3, out, process)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert str(out) in errors
    assert "Traceback" not in errors
    assert len(read_results(out)) == n_lines(out) >= 3
