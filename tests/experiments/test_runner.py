"""The runner and the command, in this process where that is possible, and in processes that are stopped and killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from featprop.errors import FileError
from featprop.experiments import runner
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, locking, read_results
from featprop.experiments.runner import Failure, run_trials
from featprop.experiments.settings import Settings, Spec, Trial
from featprop.sources import read_graph
from tests.helpers import raises

Run = Callable[..., Any]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run trials in this process; those of the strategy degree fail."""

    def run_here(work: Any, jobs: int, threads: int) -> Iterator[list[Result] | Failure]:
        for trial, known in work:
            if trial.strategy.name == "degree":
                yield Failure(str(trial), "out of luck")
            else:
                yield from Protocol(read_graph(trial.dataset)).run(trial, known)

    monkeypatch.setattr(runner, "run_trials", run_here)


def settings_for(graph: Path, *strategies: str, **others: Any) -> Settings:
    given: dict[str, Any] = {"budgets": [8, 12], "seeds": 2, "epochs": 20, **others}
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


@pytest.mark.usefixtures("in_process")
def test_options_settings_and_graph_are_part_of_the_cell(graph_folder: Path, tmp_path: Path) -> None:
    given = [
        settings_for(graph_folder, "featprop"),
        settings_for(graph_folder, "featprop", epochs=21),
        settings_for(graph_folder, "featprop[layers=1]"),
        settings_for(graph_folder, "featprop", settings={"gcn": {"hidden": 3}}),
    ]
    for settings in given:
        outcome = runner.run([settings], tmp_path / "results")
        assert (outcome.done, outcome.skipped) == (8, 0)
    assert [runner.run([settings], tmp_path / "results").done for settings in given] == [0, 0, 0, 0]
    (graph_folder / "edges.csv").write_text("source,target\n0,1\n")
    outcome = runner.run(given[:1], tmp_path / "results")
    assert (outcome.done, outcome.skipped) == (8, 0), "a changed graph has other cells"
    assert len({result.graph for result in read_results(tmp_path / "results")}) == 2


@pytest.mark.usefixtures("in_process")
def test_overlapping_settings_run_once(graph_folder: Path, tmp_path: Path) -> None:
    wanted = [
        settings_for(graph_folder, "featprop"),
        settings_for(graph_folder, "featprop", models=["gcn", "sgc"]),
        settings_for(graph_folder, "random", "featprop", seeds=3),
    ]
    outcome = runner.run(wanted, tmp_path)
    lines = read_results(tmp_path)
    assert outcome.done == len(lines) == len({line.cell for line in lines}) == 16 + 4 + 12


@pytest.mark.usefixtures("in_process")
def test_stand_in_replaces_a_missing_data_set(
    graph_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(name: str) -> Any:
        if name == "corafull":
            raise FileError("There is no cora_full.npz.", path="cora_full.npz")
        return read_graph(name)

    monkeypatch.setattr(runner, "resolve", resolve)
    given: dict[str, Any] = {"budgets": [8], "seeds": 1, "epochs": 5}
    settings = Settings(["corafull"], ["random"], stand_ins={"corafull": str(graph_folder)}, **given)
    outcome = runner.run([settings], tmp_path / "results")
    assert outcome.missing == {"corafull": str(graph_folder)}
    assert {line.dataset for line in read_results(tmp_path / "results")} == {str(graph_folder)}
    outcome = runner.run([Settings(["corafull", str(graph_folder)], ["random"], **given)], tmp_path / "results")
    assert (outcome.missing, outcome.skipped) == ({"corafull": None}, 2)
    with raises(FileError, path="cora_full.npz"):
        runner.run([Settings(["corafull"], ["random"])], tmp_path / "results")


@pytest.mark.usefixtures("in_process")
def test_results_of_another_folder_are_reused(graph_folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    runner.run([settings_for(graph_folder, "random")], first)
    again = runner.run([settings_for(graph_folder, "random")], second, reuse=[first])
    assert (again.done, again.skipped) == (0, 8)
    runner.run([settings_for(graph_folder, "random", models=["sgc"])], second, reuse=[first])
    pools = [{result.nodes for result in read_results(folder)} for folder in (first, second)]
    assert pools[0] == pools[1], "selections are reused"


def trial_on(graph: Path, budgets: tuple[int, ...] = (8,), epochs: int = 5) -> Trial:
    fingerprint = read_graph(graph).fingerprint if graph.exists() else ""
    return Trial(str(graph), fingerprint, Spec("random"), (Spec("gcn", {"epochs": epochs}),), budgets, (0,))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_other_trials_continue_after_a_worker_is_killed(graph_folder: Path) -> None:
    short, endless = trial_on(graph_folder), trial_on(graph_folder, epochs=100_000_000)
    work = [(short, []), (endless, []), (trial_on(graph_folder, (9,)), [])]
    answers: list[Any] = []
    consumer = threading.Thread(target=lambda: answers.extend(run_trials(work, jobs=1)))
    consumer.start()
    deadline = time.monotonic() + 300
    while not answers or not (busy := [child for child in psutil.Process().children() if is_busy(child)]):
        assert time.monotonic() < deadline
    busy[0].kill()
    consumer.join(300)
    first, failure, results = answers
    assert isinstance(first, list)
    assert isinstance(failure, Failure)
    assert failure.trial == str(endless)
    assert [result.budget for result in results] == [9, 9]


def is_busy(child: psutil.Process) -> bool:
    before = child.cpu_times().user
    time.sleep(0.3)
    return bool(child.cpu_times().user > before)


def words(graph: Path, out: Path) -> list[str]:
    strategies = ["--strategy", "random", "--strategy", "anrmab"]
    sizes = ["--budgets", "8,16,24", "--seeds", "2", "--epochs", "20", "--jobs", "1", "--out", str(out)]
    return ["experiments", "run", "--dataset", str(graph), *strategies, *sizes]


def essence(out: Path) -> dict[Any, Any]:
    return {
        line.cell: (line.nodes, line.macro_f1, line.micro_f1, line.accuracy, line.mean_distance, line.state)
        for line in read_results(out)
    }


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_stopped_run_resumes_with_the_same_results(graph_folder: Path, tmp_path: Path, run: Run) -> None:
    """Stop it with Ctrl-C, as a terminal does, and leave half a line in the file."""
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    done = run(*words(graph_folder, straight))
    assert done.exit_code == 0, done.output
    assert "24 cells" in done.output

    command = [sys.executable, "-m", "featprop", *words(graph_folder, broken)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 300
    while not essence(broken) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    workers = psutil.Process(process.pid).children()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "Run the same command to continue." in errors
    assert "Traceback" not in errors
    _, alive = psutil.wait_procs(workers, timeout=300)
    assert not alive, "workers exit with their parent"
    assert 1 <= len(essence(broken)) < 24
    with (broken / "blobs.jsonl").open("ab") as file:
        file.write(b'{"dataset":"blobs","strat')

    done = run(*words(graph_folder, broken))
    assert done.exit_code == 0, done.output
    assert essence(broken) == essence(straight)
    assert (broken / "blobs.jsonl").read_bytes().count(b"\n") == 24
    assert "\n0 cells" in run(*words(graph_folder, broken)).output


@pytest.mark.usefixtures("in_process")
def test_command_runs_and_reports(graph_folder: Path, run: Run) -> None:
    words = ["--dataset", graph_folder, "--strategy", "random", "--budgets", "8,12", "--seeds", "1", "--epochs", "10"]
    result = run("experiments", "run", *words, "--out", "results")
    assert result.exit_code == 0, result.output
    assert "4 cells" in result.output
    result = run("experiments", "run", *words, "--out", "results")
    assert "0 cells" in result.output
    result = run("experiments", "report", "results", "--out", "report")
    assert result.exit_code == 0, result.output
    assert Path("report/report.html").exists()
    settings = Path("settings.toml")
    settings.write_text(
        f'title = "Mine"\ndatasets = ["{graph_folder}"]\nstrategies = ["degree"]\nbudgets = [8]\nseeds = 1\n',
        encoding="utf-8",
    )
    result = run("experiments", "run", "--settings", settings, "--out", "results")
    assert result.exit_code == 1
    assert "Mine: 0 cells" in result.output
    assert "out of luck" in result.output


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (["run", "--strategy", "random"], "dataset"),
        (["run", "--dataset", "digits", "--strategy", "randon"], "'random'"),
        (["run", "--dataset", "digits", "--budgets", "ten"], "'ten'"),
        (["run", "--dataset", "digits", "--settings", "a.toml"], "settings"),
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


def test_graph_without_labels_is_refused(graph_folder: Path, run: Run) -> None:
    lines = (graph_folder / "nodes.csv").read_text().splitlines()
    (graph_folder / "nodes.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines))
    result = run("experiments", "run", "--dataset", graph_folder, "--strategy", "random", "--out", "results")
    assert result.exit_code == 2
    assert str(graph_folder) in result.output
    assert not Path("results").exists()


def test_folder_in_use_is_refused(graph_folder: Path, run: Run) -> None:
    with locking(Path("results")):
        result = run("experiments", "run", "--dataset", graph_folder, "--strategy", "random", "--out", "results")
    assert result.exit_code == 2
    assert "results" in result.output
