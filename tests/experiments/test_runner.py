"""The runner and the command, without the long way through processes where that is possible."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from featprop.errors import FileError, ParameterError
from featprop.experiments import runner
from featprop.experiments.lines import Line, appending, read_lines
from featprop.experiments.protocol import Bench
from featprop.experiments.settings import Settings
from featprop.experiments.workers import Failure, perform_all
from featprop.io import read_graph

Run = Callable[..., Any]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the tasks here."""

    def perform(work: Any, jobs: int, threads: int) -> Iterator[list[Line] | Failure]:
        for task, known in work:
            if task.strategy == "degree":
                yield Failure(str(task), "out of luck")
            else:
                yield from Bench(read_graph(task.dataset)).walk(task, known)

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
    assert len(read_lines(out)) == 24


@pytest.mark.usefixtures("in_process")
def test_one_failure_does_not_stop_the_others(graph_folder: Path, tmp_path: Path) -> None:
    outcome = runner.run([settings_for(graph_folder, "degree", "random")], tmp_path)
    assert [failure.reason for failure in outcome.failures] == ["out of luck"]
    assert {line.strategy for line in read_lines(tmp_path)} == {"random"}


@pytest.mark.usefixtures("in_process")
def test_results_of_other_settings_are_not_mixed_in(graph_folder: Path, tmp_path: Path) -> None:
    runner.run([settings_for(graph_folder, "random")], tmp_path)
    with pytest.raises(ParameterError, match="epochs = 20"):
        runner.run([settings_for(graph_folder, "random", epochs=21)], tmp_path)


@pytest.mark.usefixtures("in_process")
def test_settings_that_overlap_are_done_once(graph_folder: Path, tmp_path: Path) -> None:
    """The same cells under another model share the choice; cells cut differently wait; contradictions are refused."""
    wanted = [
        settings_for(graph_folder, "featprop"),
        settings_for(graph_folder, "featprop", models=["gcn", "sgc"]),
        settings_for(graph_folder, "random", "featprop", seeds=3),
    ]
    outcome = runner.run(wanted, tmp_path / "together")
    lines = read_lines(tmp_path / "together")
    assert outcome.done == len(lines) == len({line.cell for line in lines}) == 16 + 4 + 12
    for settings in wanted:
        runner.run([settings], tmp_path / "apart")

    def told(folder: str) -> dict[Any, Any]:
        return {line.cell: (line.nodes, line.macro_f1) for line in read_lines(tmp_path / folder)}

    assert told("together") == told("apart")
    with pytest.raises(ParameterError, match="epochs = 20"):
        runner.run([wanted[0], settings_for(graph_folder, "featprop", epochs=21)], tmp_path / "none")


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
    assert {line.dataset for line in read_lines(tmp_path / "results")} == {str(graph_folder)}
    with pytest.raises(FileError, match="cora_full"):
        runner.run([Settings(["corafull"], ["random"])], tmp_path / "results")


def test_a_process_that_dies_is_told_and_the_others_go_on(graph_folder: Path, tmp_path: Path) -> None:
    from featprop.experiments.tasks import Task

    good = Task(str(graph_folder), "random", ("gcn",), (8,), (0,), 5)
    bad = Task(str(tmp_path / "nowhere"), "random", ("gcn",), (8,), (0,), 5)
    answers = list(perform_all([(bad, []), (good, [])], jobs=1))
    assert isinstance(answers[0], Failure)
    assert "no such file" in answers[0].reason
    assert [line.protocol for line in answers[1]] == ["paper", "unlabelled"]  # type: ignore[union-attr]


@pytest.mark.usefixtures("in_process")
def test_the_command(graph_folder: Path, run: Run) -> None:
    words = ["--dataset", graph_folder, "--strategy", "random", "--budgets", "8,12", "--seeds", "1", "--epochs", "10"]
    result = run("bench", "run", *words, "--out", "results")
    assert result.exit_code == 0, result.output
    assert "4 cells" in result.output
    result = run("bench", "run", *words, "--out", "results")
    assert "0 cells" in result.output
    result = run("bench", "report", "results", "--out", "report")
    assert result.exit_code == 0, result.output
    assert Path("report/report.html").exists()
    settings = Path("settings.toml")
    settings.write_text(
        f'title = "Mine"\ndatasets = ["{graph_folder}"]\nstrategies = ["degree"]\nbudgets = [8]\nseeds = 1\n',
        encoding="utf-8",
    )
    result = run("bench", "run", "--settings", settings, "--out", "results")
    assert result.exit_code == 1
    assert "Mine: 0 cells" in result.output
    assert "out of luck" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--strategy", "random"], "datasets must be named"),
        (["run", "--dataset", "digits", "--strategy", "randon"], "did you mean 'random'"),
        (["run", "--dataset", "digits", "--budgets", "ten"], "whole numbers with commas"),
        (["run", "--dataset", "digits", "--settings", "a.toml"], "must be all that says what to run"),
        (["run", "--seeds", "3", "--settings", "a.toml"], "found --seeds beside it"),
        (["run", "--dataset", "corra", "--strategy", "random"], "take the data set cora"),
        (["report", "nowhere"], "must hold results"),
    ],
)
def test_bad_input(words: list[str], message: str, run: Run) -> None:
    result = run("bench", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not list(Path().rglob("*.jsonl"))


def test_a_folder_in_use_is_refused(graph_folder: Path, run: Run) -> None:
    with appending(Path("results")):
        result = run("bench", "run", "--dataset", graph_folder, "--strategy", "random", "--out", "results")
    assert result.exit_code == 2
    assert "another run at work" in result.output
