"""Settings, from a file or from Python, and the trials they plan."""

from pathlib import Path
from typing import Any

import pytest

from featprop.datasets import find
from featprop.errors import FileError, ParameterError
from featprop.experiments.settings import Settings, Spec, plan_trials, read_settings
from tests.helpers import raises

FILES = sorted((Path(__file__).parent.parent.parent / "experiments").glob("*.toml"))


def here(*names: str) -> dict[str, str]:
    """Return a fingerprint for each data set."""
    return {name: f"fingerprint of {name}" for name in names}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_published_settings_are_valid(path: Path) -> None:
    settings = read_settings(path)
    assert settings.title
    assert (settings.budgets, settings.seeds, settings.epochs) == ([10, 20, 40, 80, 160], 5, None)
    for name in [*settings.datasets, *settings.stand_ins.values()]:
        assert find(name).name == name
    for trial in plan_trials(settings, here(*settings.datasets)):
        assert trial.strategy.name != "coreset-mip" or (
            trial.dataset in ("cora", "citeseer") and "time_limit" in trial.strategy.options
        )


def test_strategies_that_look_at_a_model_run_for_each_model() -> None:
    settings = Settings(["cora"], ["random", "age"], models=["gcn", "sgc"], seeds=7)
    trials = [
        (str(trial.strategy), tuple(map(str, trial.models)), trial.seeds)
        for trial in plan_trials(settings, here("cora"))
    ]
    first, second = (0, 1, 2, 3, 4), (5, 6)
    assert trials == [
        ("random", ("gcn", "sgc"), first),
        ("random", ("gcn", "sgc"), second),
        ("age", ("gcn",), first),
        ("age", ("gcn",), second),
        ("age", ("sgc",), first),
        ("age", ("sgc",), second),
    ]
    assert len(list(plan_trials(settings, here("cora"))[0].cells())) == 5 * 5 * 2 * 2


def test_data_sets_may_be_respelled_or_replaced() -> None:
    settings = Settings(["Cora", "corafull"], ["age"], only={"age": ["Cora"]}, stand_ins={"corafull": "coauthor-cs"})
    assert [trial.dataset for trial in plan_trials(settings, here("cora", "coauthor-cs"))] == ["cora"]
    settings = Settings(["corafull"], ["age"], only={"age": ["corafull"]}, stand_ins={"corafull": "coauthor-cs"})
    assert [trial.dataset for trial in plan_trials(settings, here("coauthor-cs"))] == ["coauthor-cs"]


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"datasets": [1]}, "datasets"),
        ({"datasets": []}, "datasets"),
        ({"datasets": ["cora", "cora"]}, "datasets"),
        ({"strategies": [1]}, "strategies"),
        ({"models": [["gcn"]]}, "models"),
        ({"stand_ins": {"cora": 3}}, "stand_ins"),
        ({"only": {"age": ["Kora"]}}, "only.age"),
        ({"only": {"age": "cora"}}, "only.age"),
        ({"options": {"age": 3}}, "options.age"),
        ({"settings": {"gcn": 3}}, "settings.gcn"),
        ({"settings": 3}, "settings"),
        ({"models": ["gcn[random_state=3]"]}, "random_state"),
        ({"budgets": ["10"]}, "budgets"),
        ({"budgets": [10.5]}, "budgets"),
        ({"budgets": [[10], 20]}, "budgets"),
        ({"budgets": [5, 10]}, "budgets"),
        ({"budgets": [20, 10]}, "budgets"),
        ({"budgets": []}, "budgets"),
        ({"budgets": 5}, "budgets"),
        ({"seeds": True}, "seeds"),
        ({"seeds": 0}, "seeds"),
        ({"epochs": "5"}, "epochs"),
        ({"strategies": ["featprop[layers=1"]}, "strategy"),
        ({"strategies": ["[layers=1]"]}, "strategy"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, Any], parameter: str) -> None:
    with raises(ParameterError, parameter=parameter):
        Settings(**{"datasets": ["cora"], "strategies": ["age"], **wrong})


def test_strategy_may_run_on_some_data_sets_only() -> None:
    settings = Settings(["cora", "pubmed"], ["random", "age"], only={"age": ["cora"]})
    assert [(t.dataset, str(t.strategy)) for t in plan_trials(settings, here("cora", "pubmed"))] == [
        ("cora", "random"),
        ("cora", "age"),
        ("pubmed", "random"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "datasets = [",
        f"datasets = {'[' * 2000}{']' * 2000}",
        'strategies = ["random"]',
    ],
)
def test_invalid_settings_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with raises(FileError, path=path):
        read_settings(path)


def test_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('datasets = ["cora"]\nstrategies = ["random"]\nseed = 5', encoding="utf-8")
    with raises(FileError, path=path, value="seed"):
        read_settings(path)


def test_default_options_are_not_part_of_a_trial() -> None:
    options: dict[str, Any] = {"anrmab": {"rounds": 5, "delta": 0.1}}
    trial = plan_trials(Settings(["cora"], ["anrmab"], options=options), here("cora"))[0]
    assert trial.strategy == Spec("anrmab", {"rounds": 5})


def test_strategies_and_models_may_run_with_several_options() -> None:
    settings = Settings(
        ["cora"],
        ["featprop", "featprop[layers=1]", "featprop[layers=2]"],
        models=["gcn", "gcn[hidden=32,epochs=10]"],
        epochs=100,
        settings={"gcn": {"dropout": 0.1}},
    )
    trials = plan_trials(settings, here("cora"))
    assert [str(trial.strategy) for trial in trials] == ["featprop", "featprop[layers=1]"], "2 is the default"
    assert [dict(model.options) for model in trials[0].models] == [
        {"dropout": 0.1, "epochs": 100},
        {"dropout": 0.1, "epochs": 10, "hidden": 32},
    ], "options in brackets override the settings"
    cells = [cell for trial in trials for cell in trial.cells()]
    assert len(cells) == len(set(cells)) == 2 * 2 * 5 * 5 * 2


def test_schedule_follows_the_steps_of_a_strategy() -> None:
    given: dict[str, Any] = {"models": ["gcn", "ridge"], "budgets": [10, 20], "seeds": 1}
    strategies = ["featprop-diffused", "featprop-diffused[step=0.2]", "featprop"]
    trials = plan_trials(Settings(["cora"], strategies, **given), here("cora"))
    assert [[model.name for model in trial.models] for trial in trials] == [["gcn"], ["ridge"]] * 2 + [["gcn", "ridge"]]
    assert [trial.schedule(20) for trial in trials[::2]] == [(10, 15, 20), (10, 12, 15, 18, 20), ()]
    assert [trial.schedule(10) for trial in trials[::2]] == [(10,), (10,), ()]
    cells = [cell for trial in trials for cell in trial.cells()]
    assert len(cells) == len(set(cells)) == 3 * 2 * 2 * 2


def test_schedule_is_part_of_the_cell() -> None:
    few, many = (Settings(["cora"], ["age", "random"], budgets=each, seeds=1) for each in ([10, 40], [10, 20, 40]))
    cells = [{cell for trial in plan_trials(each, here("cora")) for cell in trial.cells()} for each in (few, many)]
    shared = cells[0] & cells[1]
    assert {cell.budget for cell in shared if cell.strategy == "age"} == {10}
    assert {cell.budget for cell in shared if cell.strategy == "random"} == {10, 40}
