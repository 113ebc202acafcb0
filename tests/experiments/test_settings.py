"""Settings, from a file or from Python, and the trials they plan."""

from pathlib import Path
from typing import Any

import pytest

from featprop.datasets import find
from featprop.errors import FileError, ParameterError
from featprop.experiments.settings import Cell, Settings, Spec, plan_trials, read_settings
from tests.helpers import raises

FILES = sorted((Path(__file__).parent.parent.parent / "experiments").glob("*.toml"))
GRAPHS = {"cora": "fingerprint of cora"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_published_settings_are_valid(path: Path) -> None:
    settings = read_settings(path)
    assert settings.title
    assert (settings.budgets, settings.seeds) == ([10, 20, 40, 80, 160], 5)
    assert [find(name).name for name in settings.datasets] == settings.datasets
    for trial in plan_trials(settings, dict.fromkeys(settings.datasets, "")):
        assert trial.strategy.name != "coreset-mip" or (
            trial.dataset in ("cora", "citeseer") and "time_limit" in trial.strategy.options
        )


def test_strategies_that_look_at_a_model_run_for_each_model() -> None:
    settings = Settings(["cora"], ["random", "age"], models=["gcn", "sgc"], seeds=7)
    trials = plan_trials(settings, GRAPHS)
    first, second = (0, 1, 2, 3, 4), (5, 6)
    assert [(str(trial.strategy), tuple(map(str, trial.models)), trial.seeds) for trial in trials] == [
        ("random", ("gcn", "sgc"), first),
        ("random", ("gcn", "sgc"), second),
        ("age", ("gcn",), first),
        ("age", ("gcn",), second),
        ("age", ("sgc",), first),
        ("age", ("sgc",), second),
    ]
    assert len(list(trials[0].cells())) == 5 * 5 * 2 * 2


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"datasets": [1]}, "datasets"),
        ({"datasets": []}, "datasets"),
        ({"datasets": ["cora", "cora"]}, "datasets"),
        ({"strategies": "age"}, "strategies"),
        ({"models": [["gcn"]]}, "models"),
        ({"models": ["gcn[random_state=3]"]}, "random_state"),
        ({"budgets": ["10"]}, "budgets"),
        ({"budgets": [5, 10]}, "budgets"),
        ({"budgets": [20, 10]}, "budgets"),
        ({"budgets": []}, "budgets"),
        ({"budgets": 5}, "budgets"),
        ({"seeds": True}, "seeds"),
        ({"seeds": 0}, "seeds"),
        ({"strategies": ["featprop[layers=1"]}, "strategy"),
        ({"strategies": ["[layers=1]"]}, "strategy"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, Any], parameter: str) -> None:
    with raises(ParameterError, parameter=parameter):
        Settings(**{"datasets": ["cora"], "strategies": ["age"], **wrong})


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("datasets = [", {}),
        ('strategies = ["random"]', {}),
        ('datasets = ["cora"]\nstrategies = ["random"]\nseed = 5', {"value": "seed"}),
    ],
)
def test_invalid_settings_files_are_refused(text: str, fields: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with raises(FileError, path=path, **fields):
        read_settings(path)


def test_strategies_and_models_may_run_with_several_options() -> None:
    strategies = ["featprop", "featprop[layers=1]", "featprop[layers=2]", "anrmab[rounds=5,delta=0.1]"]
    trials = plan_trials(Settings(["cora"], strategies, models=["gcn", "gcn[hidden=32,epochs=10]"]), GRAPHS)
    assert [trial.strategy for trial in trials] == [
        Spec("featprop"),
        Spec("featprop", {"layers": 1}),
        *[Spec("anrmab", {"rounds": 5})] * 2,
    ], "defaults are left out, and anrmab looks at each model"
    assert [dict(model.options) for model in trials[0].models] == [{}, {"epochs": 10, "hidden": 32}]
    cells = [cell for trial in trials for cell in trial.cells()]
    assert len(cells) == len(set(cells)) == 3 * 2 * 5 * 5 * 2


def test_schedule_follows_the_steps_of_a_strategy() -> None:
    strategies = ["featprop-diffused", "featprop-diffused[step=0.2]", "featprop"]
    settings = Settings(["cora"], strategies, models=["gcn", "ridge"], budgets=[10, 20], seeds=1)
    trials = plan_trials(settings, GRAPHS)
    assert [[model.name for model in trial.models] for trial in trials] == [["gcn"], ["ridge"]] * 2 + [["gcn", "ridge"]]
    assert [trial.schedule(20) for trial in trials[::2]] == [(10, 15, 20), (10, 12, 15, 18, 20), ()]
    assert [trial.schedule(10) for trial in trials[::2]] == [(10,), (10,), ()]


def test_schedule_is_part_of_the_cell() -> None:
    def cells(budgets: list[int]) -> set[Cell]:
        settings = Settings(["cora"], ["age", "random"], budgets=budgets, seeds=1)
        return {cell for trial in plan_trials(settings, GRAPHS) for cell in trial.cells()}

    shared = cells([10, 40]) & cells([10, 20, 40])
    assert {cell.budget for cell in shared if cell.strategy.name == "age"} == {10}
    assert {cell.budget for cell in shared if cell.strategy.name == "random"} == {10, 40}
