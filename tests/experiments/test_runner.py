"""The runner and the command, in this process where that is possible, and in processes that are stopped and killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from featprop.errors import FeatpropError, FileError, LabelError
from featprop.experiments import runner
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, locking, read_results
from featprop.experiments.runner import run_trials
from featprop.experiments.settings import Settings, Spec, Trial, plan_trials
from featprop.sources import read_graph
from tests.helpers import raises, run_trials_here

Run = Callable[..., Any]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run_trials_here(monkeypatch)


def settings_for(graph: Path, *strategies: str, **others: Any) -> Settings:
    given: dict[str, Any] = {"budgets": [8, 12], "seeds": 2, "models": ["ridge"], **others}
    return Settings([str(graph)], strategies, **given)


@pytest.mark.usefixtures("in_process")
def test_known_cells_are_skipped(graph_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    outcome = runner.run([settings_for(graph_folder, "random")], out)
    assert (outcome.done, outcome.skipped) == (8, 0)
    before = (out / "blobs.jsonl").read_bytes()
    outcome = runner.run([settings_for(graph_folder, "random", "featprop", seeds=3)], out)
    assert (outcome.done, outcome.skipped) == (4 + 12, 8)
    assert (out / "blobs.jsonl").read_bytes().startswith(before)
    assert len(read_results(out)) == 24
    again = runner.run([settings_for(graph_folder, "random")], tmp_path / "other", reuse=[out])
    assert (again.done, again.skipped) == (0, 8)
    (graph_folder / "edges.csv").write_text("source,target\n0,1\n")
    changed = runner.run([settings_for(graph_folder, "random")], out)
    assert (changed.done, changed.skipped) == (8, 0), "a changed graph has other cells"


@pytest.mark.usefixtures("in_process")
def test_overlapping_settings_are_recorded_once(graph_folder: Path, tmp_path: Path) -> None:
    wanted = [
        settings_for(graph_folder, "featprop"),
        settings_for(graph_folder, "featprop", models=["ridge", "sgc[epochs=5]"]),
        settings_for(graph_folder, "random", "featprop", seeds=3),
    ]
    outcome = runner.run(wanted, tmp_path)
    lines = read_results(tmp_path)
    assert outcome.done == len(lines) == len({line.cell for line in lines}) == 16 + 4 + 12


@pytest.mark.usefixtures("in_process")
def test_missing_data_set_is_skipped(graph_folder: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"strategies": ["random"], "models": ["ridge"], "budgets": [8], "seeds": 1}
    outcome = runner.run([Settings(["nowhere", str(graph_folder)], **given)], tmp_path / "results")
    assert outcome.done == 2
    with raises(FeatpropError):
        runner.run([Settings(["nowhere"], **given)], tmp_path / "results")


def leave(trial: Trial) -> None:
    os._exit(1)


def test_dead_worker_ends_the_run(graph_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_run_trial", leave)
    with raises(FeatpropError):
        list(run_trials([Trial(str(graph_folder), "", Spec("random"), (Spec("ridge"),), (8,), (0,))], jobs=1))


def words(graph: Path, out: Path) -> list[str]:
    strategies = ["--strategy", "random", "--strategy", "anrmab"]
    sizes = ["--model", "gcn[epochs=20]", "--budgets", "8,16,24", "--seeds", "2", "--jobs", "1", "--out", str(out)]
    return ["experiments", "run", "--dataset", str(graph), *strategies, *sizes]


def essence(lines: list[Result]) -> dict[Any, Any]:
    return {line.cell: (line.nodes, line.macro_f1, line.micro_f1, line.accuracy, line.mean_distance) for line in lines}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_stopped_run_resumes_with_the_same_results(graph_folder: Path, tmp_path: Path, run: Run) -> None:
    """Stop it with Ctrl-C, as a terminal does, and leave half a line in the file."""
    broken = tmp_path / "broken"
    command = [sys.executable, "-m", "featprop", *words(graph_folder, broken)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 300
    while not read_results(broken) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    workers = psutil.Process(process.pid).children()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "Run the same command to continue." in errors
    assert "Traceback" not in errors
    _, alive = psutil.wait_procs(workers, timeout=300)
    assert not alive, "workers exit with their parent"
    assert 1 <= len(read_results(broken)) < 24
    with (broken / "blobs.jsonl").open("ab") as file:
        file.write(b'{"dataset":"blobs","strat')

    done = run(*words(graph_folder, broken))
    assert done.exit_code == 0, done.output
    models = ["gcn[epochs=20]"]
    settings = settings_for(graph_folder, "random", "anrmab", budgets=[8, 16, 24], models=models)
    trials = plan_trials(settings, {str(graph_folder): read_graph(graph_folder).fingerprint})
    straight = [result for trial in trials for result in Protocol(read_graph(graph_folder)).run(trial)]
    assert essence(read_results(broken)) == essence(straight)
    assert (broken / "blobs.jsonl").read_bytes().count(b"\n") == 24
    assert "\n0 cells" in run(*words(graph_folder, broken)).output


@pytest.mark.usefixtures("in_process")
def test_command_runs_and_reports(graph_folder: Path, run: Run) -> None:
    words = ["--dataset", graph_folder, "--strategy", "random", "--model", "ridge", "--budgets", "8,12", "--seeds", "1"]
    result = run("experiments", "run", *words, "--out", "results")
    assert result.exit_code == 0, result.output
    assert "4 cells" in result.output
    result = run("experiments", "report", "results", "--out", "report")
    assert result.exit_code == 0, result.output
    assert Path("report/report.html").exists()
    settings = Path("settings.toml")
    settings.write_text(
        f'title = "Mine"\ndatasets = ["{graph_folder}"]\nstrategies = ["degree"]\nbudgets = [300]\nseeds = 1\n',
        encoding="utf-8",
    )
    result = run("experiments", "run", "--settings", settings, "--out", "results")
    assert result.exit_code == 1
    assert "\n0 cells" in result.output
    assert "below 240" in result.output


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (["run", "--strategy", "random"], "dataset"),
        (["run", "--dataset", "digits", "--strategy", "randon"], "'random'"),
        (["run", "--dataset", "digits", "--budgets", "ten"], "'ten'"),
        (["run", "--seeds", "3", "--settings", "a.toml"], "settings"),
        (["run", "--dataset", "corra", "--strategy", "random"], "cora"),
        (["report", "nowhere"], "nowhere"),
    ],
)
def test_bad_input(words: list[str], fact: str, run: Run) -> None:
    result = run("experiments", *words)
    assert result.exit_code == 2
    assert fact in " ".join(result.output.split())
    assert not list(Path().rglob("*.jsonl"))


def test_graph_without_labels_and_folder_in_use_are_refused(graph_folder: Path, tmp_path: Path) -> None:
    settings = settings_for(graph_folder, "random")
    with locking(tmp_path), raises(FileError, path=tmp_path):
        runner.run([settings], tmp_path)
    lines = (graph_folder / "nodes.csv").read_text().splitlines()
    (graph_folder / "nodes.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines))
    with raises(LabelError):
        runner.run([settings], tmp_path)
