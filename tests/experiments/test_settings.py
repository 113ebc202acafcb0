"""Settings from a file, and what is wrong with some."""

from pathlib import Path
from typing import Any

import pytest

from featprop.datasets import find
from featprop.errors import FeatpropError
from featprop.experiments.entrants import Entrant
from featprop.experiments.settings import Settings, read_settings
from featprop.experiments.trials import merged, trials_of

FILES = sorted((Path(__file__).parent.parent.parent / "experiments").glob("*.toml"))


def here(*names: str) -> dict[str, str]:
    """Data sets with a fingerprint each."""
    return {name: f"fingerprint of {name}" for name in names}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_published_settings_file_is_valid(path: Path) -> None:
    settings = read_settings(path)
    assert settings.title
    assert (settings.budgets, settings.seeds, settings.epochs) == ([10, 20, 40, 80, 160], 5, None)
    for name in [*settings.datasets, *settings.stand_ins.values()]:
        assert find(name).name == name
    for trial in trials_of(settings, here(*settings.datasets)):
        assert trial.strategy.name != "coreset-mip" or (
            trial.dataset in ("cora", "citeseer") and "time_limit" in trial.strategy.options
        )


def test_there_is_a_file_for_everything_published() -> None:
    names = {path.stem for path in FILES}
    assert names >= {"table-macro-f1", "table-micro-f1", "table-running-time", "table-datasets", "figure-gcn"}
    assert names >= {"figure-sgc", "figure-sgc-gcn", "figure-ablation", "figure-error-against-loss"}


def test_what_looks_at_a_model_is_run_for_each_model() -> None:
    settings = Settings(["cora"], ["random", "age"], models=["gcn", "sgc"], seeds=7)
    trials = [
        (str(trial.strategy), tuple(map(str, trial.models)), trial.seeds) for trial in trials_of(settings, here("cora"))
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
    assert len(list(trials_of(settings, here("cora"))[0].cells())) == 5 * 5 * 2 * 2


def test_a_data_set_under_another_spelling_or_in_place_of_another() -> None:
    settings = Settings(["Cora", "corafull"], ["age"], only={"age": ["Cora"]}, stand_ins={"corafull": "coauthor-cs"})
    assert [trial.dataset for trial in trials_of(settings, here("cora", "coauthor-cs"))] == ["cora"]
    settings = Settings(["corafull"], ["age"], only={"age": ["corafull"]}, stand_ins={"corafull": "coauthor-cs"})
    assert [trial.dataset for trial in trials_of(settings, here("coauthor-cs"))] == ["coauthor-cs"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"only": {"age": ["Kora"]}}, "Kora"),
        ({"options": {"age": {"bse": 0.9}}}, "did you mean 'base'"),
        ({"options": {"age": {"base": 7}}}, "base"),
        ({"budgets": ["10"]}, "must be whole numbers"),
        ({"budgets": [10.5]}, "must be whole numbers"),
        ({"budgets": [[10], 20]}, "must be whole numbers"),
        ({"seeds": True}, "must be whole numbers"),
    ],
)
def test_settings_are_checked_when_they_are_made(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FeatpropError, match=message):
        Settings(["cora"], ["age"], **wrong)


def test_a_strategy_on_some_data_sets_only() -> None:
    settings = Settings(["cora", "pubmed"], ["random", "age"], only={"age": ["cora"]})
    assert [(t.dataset, str(t.strategy)) for t in trials_of(settings, here("cora", "pubmed"))] == [
        ("cora", "random"),
        ("cora", "age"),
        ("pubmed", "random"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = [", "must be TOML"),
        (f"datasets = {'[' * 2000}{']' * 2000}", "must be TOML; found .*recursion"),
        ('strategies = ["random"]', "must name datasets"),
        ('datasets = ["cora"]\nstrategies = ["randon"]', "did you mean 'random'"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nmodels = ["gat"]', "must be one of gcn, ridge, sgc"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nbudgets = [5, 10]', "above 5"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nbudgets = [20, 10]', "ascending"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nseed = 5', "did you mean 'seeds'"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nseeds = "5"', "must be a int"),
        ('datasets = ["cora", "cora"]\nstrategies = ["random"]', "each once"),
        ('datasets = [1]\nstrategies = ["random"]', "datasets must be names in quotation marks"),
        ('datasets = ["cora"]\nstrategies = [1]', "strategies must be names in quotation marks"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nmodels = [["gcn"]]', "models must be names"),
        ('datasets = ["cora"]\nstrategies = ["random"]\n[stand-ins]\ncora = 3', "stand-ins must be names"),
        ('datasets = ["cora"]\nstrategies = ["random"]\n[only]\nrandom = "cora"', "only.random must be names"),
        ('datasets = ["cora"]\nstrategies = ["random"]\n[options]\nrandom = 3', "options.random must be a table"),
        ('datasets = ["cora"]\nstrategies = ["random"]\n[settings]\ngcn = 3', "settings.gcn must be a table"),
        ('datasets = ["cora"]\nstrategies = ["random"]\n[settings.sgc]\nbanana = 1', "Option of model sgc"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nmodels = ["gcn[seed=3]"]', "must be left to the experiments"),
        ('datasets = []\nstrategies = ["random"]', "name at least one"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nseeds = 0', "at least 1"),
    ],
)
def test_bad_settings(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FeatpropError, match=message):
        read_settings(path)


def test_no_settings_file(tmp_path: Path) -> None:
    with pytest.raises(FeatpropError, match="no such file"):
        read_settings(tmp_path / "none.toml")


def test_options_reach_the_trial_unless_they_are_the_default() -> None:
    options: dict[str, Any] = {"anrmab": {"rounds": 5, "delta": 0.1}}
    trial = trials_of(Settings(["cora"], ["anrmab"], options=options), here("cora"))[0]
    assert trial.strategy == Entrant("anrmab", {"rounds": 5})


def test_a_strategy_and_a_model_take_part_twice() -> None:
    settings = Settings(
        ["cora"],
        ["featprop", "featprop[layers=1]", "featprop[layers=2]"],
        models=["gcn", "gcn[hidden=32,epochs=10]"],
        epochs=100,
        settings={"gcn": {"dropout": 0.1}},
    )
    trials = merged(trials_of(settings, here("cora")))
    assert [str(trial.strategy) for trial in trials] == ["featprop", "featprop[layers=1]"], "2 is the default"
    assert [dict(model.options) for model in trials[0].models] == [
        {"dropout": 0.1, "epochs": 100},
        {"dropout": 0.1, "epochs": 10, "hidden": 32},
    ], "what is written beside the name comes before the settings of all"
    cells = [cell for trial in trials for cell in trial.cells()]
    assert len(cells) == len(set(cells)) == 2 * 2 * 5 * 5 * 2


def test_one_number_written_in_two_ways_is_one_setting() -> None:
    in_file = Settings(["cora"], ["random"], models=["gcn"], settings={"gcn": {"weight_decay": 1}})
    written = Settings(["cora"], ["random"], models=["gcn[weight_decay=1]"])
    assert in_file.trained()[0].key == written.trained()[0].key == '{"weight_decay": 1.0}'


def test_epochs_are_those_of_every_model() -> None:
    settings = Settings(["cora"], ["random"], models=["gcn[hidden=4]", "sgc"], epochs=2)
    assert [model.options["epochs"] for model in settings.trained()] == [2, 2]


def test_a_strategy_that_uses_a_model_is_run_for_each_and_known_by_its_steps() -> None:
    given: dict[str, Any] = {"models": ["gcn", "ridge"], "budgets": [10, 20], "seeds": 1}
    strategies = ["featprop-diffused", "featprop-diffused[step=0.2]", "featprop"]
    trials = merged(trials_of(Settings(["cora"], strategies, **given), here("cora")))
    assert [[model.name for model in trial.models] for trial in trials] == [["gcn"], ["ridge"]] * 2 + [["gcn", "ridge"]]
    assert [trial.schedule(20) for trial in trials[::2]] == [(10, 15, 20), (10, 12, 15, 18, 20), ()]
    assert [trial.schedule(10) for trial in trials[::2]] == [(10,), (10,), ()]
    cells = [cell for trial in trials for cell in trial.cells()]
    assert len(cells) == len(set(cells)) == 3 * 2 * 2 * 2


def test_a_strategy_with_a_model_is_known_by_the_budgets_on_its_way() -> None:
    few, many = (Settings(["cora"], ["age", "random"], budgets=each, seeds=1) for each in ([10, 40], [10, 20, 40]))
    cells = [{cell for trial in trials_of(each, here("cora")) for cell in trial.cells()} for each in (few, many)]
    shared = cells[0] & cells[1]
    assert {cell.budget for cell in shared if cell.strategy == "age"} == {10}
    assert {cell.budget for cell in shared if cell.strategy == "random"} == {10, 40}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("featprop[layers]", "must be written as name=value"),
        ("featprop[layers=-1]", "layers of strategy featprop must be a whole number from 0 to 1000"),
        ("featprop[layer=1]", "did you mean 'layers'"),
        ("featprop[layers=1", "must be a name, or name\\[option=value\\]"),
        ("[layers=1]", "must be a name"),
    ],
)
def test_entrants_that_cannot_be_read(written: str, message: str) -> None:
    with pytest.raises(FeatpropError, match=message):
        Settings(["cora"], [written])
