"""The runner and the command, without the long way through processes where that is possible."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from featprop.errors import FileError
from featprop.experiments import runner, workers
from featprop.experiments.entrants import Entrant
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, appending, read_results
from featprop.experiments.settings import Settings
from featprop.experiments.trials import Trial
from featprop.experiments.workers import Failure, perform_all
from featprop.sources import read_graph

Run = Callable[..., Any]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the trials here."""

    def perform(work: Any, jobs: int, threads: int) -> Iterator[list[Result] | Failure]:
        for trial, known in work:
            if trial.strategy.name == "degree":
                yield Failure(str(trial), "out of luck")
            else:
                yield from Protocol(read_graph(trial.dataset)).walk(trial, known)

    monkeypatch.setattr(runner, "perform_all", perform)


def settings_for(graph: Path, *strategies: str, **others: Any) -> Settings:
    given: dict[str, Any] = {"budgets": [8, 12], "seeds": 2, "epochs": 20, **others}
    return Settings([str(graph)], strategies, **given)


@pytest.mark.usefixtures("in_process")
def test_done_cells_are_skipped_and_new_ones_added(graph_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    outcome = runner.run([settings_for(graph_folder, "random")], out)
    assert (outcome.done, outcome.skipped) == (8, 0)
    before = (out / "blobs.jsonl").read_bytes()
    outcome = runner.run([settings_for(graph_folder, "random", "featprop", seeds=3)], out)
    assert (outcome.done, outcome.skipped) == (4 + 12, 8)
    assert (out / "blobs.jsonl").read_bytes().startswith(before)
    assert len(read_results(out)) == 24


@pytest.mark.usefixtures("in_process")
def test_one_failure_does_not_stop_the_others(graph_folder: Path, tmp_path: Path) -> None:
    outcome = runner.run([settings_for(graph_folder, "degree", "random")], tmp_path)
    assert [failure.reason for failure in outcome.failures] == ["out of luck"]
    assert {line.strategy for line in read_results(tmp_path)} == {"random"}


@pytest.mark.usefixtures("in_process")
def test_results_of_other_settings_stand_beside(graph_folder: Path, tmp_path: Path) -> None:
    """Epochs, options of the strategy and settings of the model are the cell; so is the graph."""
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
    assert (outcome.done, outcome.skipped) == (8, 0), "a changed graph does not reuse old cells"
    assert len({result.graph for result in read_results(tmp_path / "results")}) == 2


@pytest.mark.usefixtures("in_process")
def test_settings_that_overlap_are_done_once(graph_folder: Path, tmp_path: Path) -> None:
    """The same cells under another model share the choice; cells cut differently wait."""
    wanted = [
        settings_for(graph_folder, "featprop"),
        settings_for(graph_folder, "featprop", models=["gcn", "sgc"]),
        settings_for(graph_folder, "random", "featprop", seeds=3),
    ]
    outcome = runner.run(wanted, tmp_path / "together")
    lines = read_results(tmp_path / "together")
    assert outcome.done == len(lines) == len({line.cell for line in lines}) == 16 + 4 + 12
    for settings in wanted:
        runner.run([settings], tmp_path / "apart")

    def told(folder: str) -> dict[Any, Any]:
        return {line.cell: (line.nodes, line.macro_f1) for line in read_results(tmp_path / folder)}

    assert told("together") == told("apart")


@pytest.mark.usefixtures("in_process")
def test_a_data_set_that_is_not_here_has_a_stand_in(
    graph_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(name: str) -> Any:
        if name == "corafull":
            raise FileError("cora_full.npz", "must be there", "nothing", "place it")
        return read_graph(name)

    monkeypatch.setattr(runner, "resolve", resolve)
    settings = Settings(
        ["corafull"], ["random"], budgets=[8], seeds=1, epochs=5, stand_ins={"corafull": str(graph_folder)}
    )
    outcome = runner.run([settings], tmp_path / "results")
    assert outcome.absent == {"corafull": str(graph_folder)}
    assert {line.dataset for line in read_results(tmp_path / "results")} == {str(graph_folder)}
    with pytest.raises(FileError, match="cora_full"):
        runner.run([Settings(["corafull"], ["random"])], tmp_path / "results")


def trial_on(graph: Path, budgets: tuple[int, ...] = (8,), epochs: int = 5) -> Trial:
    fingerprint = read_graph(graph).fingerprint if graph.exists() else ""
    return Trial(str(graph), fingerprint, Entrant("random"), (Entrant("gcn", {"epochs": epochs}),), budgets, (0,))


def test_work_that_fails_is_told_and_the_rest_is_done(graph_folder: Path, tmp_path: Path) -> None:
    work = [(trial_on(tmp_path / "nowhere"), []), (trial_on(graph_folder), [])]
    answers = list(perform_all(work, jobs=1))
    assert isinstance(answers[0], Failure)
    assert "no such file" in answers[0].reason
    assert [result.protocol for result in answers[1]] == ["paper", "unlabelled"]  # type: ignore[union-attr]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_process_that_is_killed_at_work_is_told_and_the_others_go_on(graph_folder: Path) -> None:
    long, short = trial_on(graph_folder, (8, 9), epochs=100_000_000), trial_on(graph_folder)
    answers = perform_all([(long, []), (short, [])], jobs=2)
    first = next(answers)
    assert isinstance(first, list), "the short one is done first"
    (worker,) = [child for child in psutil.Process().children() if child.cpu_times().user > 0 and is_at_work(child)]
    worker.kill()
    assert [answer.reason for answer in answers if isinstance(answer, Failure)] == ["its process ended with code -9"]


def is_at_work(child: psutil.Process) -> bool:
    before = child.cpu_times().user
    time.sleep(0.3)
    return bool(child.cpu_times().user > before)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_idle_process_that_is_killed_is_replaced(graph_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has done its first work and waits for more when it is killed: the more is done by another one."""
    begun: list[Any] = []
    begin = workers._Worker.begin

    def begin_after_a_kill(worker: Any, *work: Any) -> None:
        begun.append(worker.process.pid)
        if len(begun) == 2:
            worker.process.kill()
            worker.process.join()
        begin(worker, *work)

    monkeypatch.setattr(workers._Worker, "begin", begin_after_a_kill)
    answers = list(perform_all([(trial_on(graph_folder), []), (trial_on(graph_folder, (9,)), [])], jobs=1))
    assert [answer[0].budget for answer in answers] == [8, 9]  # type: ignore[index]
    assert begun[0] == begun[1] != begun[2]


@pytest.mark.usefixtures("in_process")
def test_the_command(graph_folder: Path, run: Run) -> None:
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
    ("words", "message"),
    [
        (
            ["run", "--strategy", "random"],
            "datasets must be named, each once; found none: name at least one with --dataset",
        ),
        (["run", "--dataset", "digits", "--strategy", "randon"], "did you mean 'random'"),
        (["run", "--dataset", "digits", "--budgets", "ten"], "whole numbers with commas"),
        (["run", "--dataset", "digits", "--settings", "a.toml"], "must be all that says what to run"),
        (["run", "--seeds", "3", "--settings", "a.toml"], "found --seeds beside it"),
        (["run", "--dataset", "corra", "--strategy", "random"], "take the data set cora"),
        (["report", "nowhere"], "must hold results"),
    ],
)
def test_bad_input(words: list[str], message: str, run: Run) -> None:
    result = run("experiments", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not list(Path().rglob("*.jsonl"))


def test_a_graph_without_labels_is_refused_before_anything_starts(graph_folder: Path, run: Run) -> None:
    lines = (graph_folder / "nodes.csv").read_text().splitlines()
    (graph_folder / "nodes.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines))
    result = run("experiments", "run", "--dataset", graph_folder, "--strategy", "random", "--out", "results")
    assert result.exit_code == 2
    cure = "must have labels to score against; found none: add a column label to the nodes."
    assert [line for line in result.output.splitlines() if cure in line] == [f"Error: {graph_folder} {cure}"]
    assert not Path("results").exists()


def test_tables_with_other_names_are_to_be_converted_first(run: Run) -> None:
    Path("lab").mkdir()
    Path("lab/nodes.csv").write_text("customer,x,label\nk-1,1,a\nk-2,2,b\n")
    Path("lab/edges.csv").write_text("tx,payer,payee\n1,k-1,k-2\n")
    result = run("experiments", "run", "--dataset", "lab", "--strategy", "random")
    assert result.exit_code == 2
    cure = "convert it first, featprop convert lab lab.fp --id …, and take lab.fp."
    assert cure in " ".join(result.output.split())


def test_a_folder_in_use_is_refused(graph_folder: Path, run: Run) -> None:
    with appending(Path("results")):
        result = run("experiments", "run", "--dataset", graph_folder, "--strategy", "random", "--out", "results")
    assert result.exit_code == 2
    assert "another run at work" in result.output


@pytest.mark.usefixtures("in_process")
def test_results_of_a_folder_beside_are_not_made_again(graph_folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    runner.run([settings_for(graph_folder, "random")], first)
    again = runner.run([settings_for(graph_folder, "random")], second, beside=[first])
    assert (again.done, again.skipped) == (0, 8)
    runner.run([settings_for(graph_folder, "random", models=["sgc"])], second, beside=[first])
    pools = [{result.nodes for result in read_results(folder)} for folder in (first, second)]
    assert pools[0] == pools[1], "choices are taken over"
