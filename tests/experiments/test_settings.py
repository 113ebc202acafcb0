"""Settings from a file, and what is wrong with some."""

from pathlib import Path
from typing import Any

import pytest

from featprop.datasets import find
from featprop.errors import FeatpropError
from featprop.experiments.settings import Settings, read_settings
from featprop.experiments.tasks import tasks_of

FILES = sorted((Path(__file__).parent.parent.parent / "experiments").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_published_settings_file_is_valid(path: Path) -> None:
    settings = read_settings(path)
    assert settings.title
    assert (settings.budgets, settings.seeds, settings.epochs) == ([10, 20, 40, 80, 160], 5, 200)
    for name in [*settings.datasets, *settings.stand_ins.values()]:
        assert find(name).name == name
    for task in tasks_of(settings, list(settings.datasets)):
        assert task.strategy != "coreset-mip" or (task.dataset in ("cora", "citeseer") and "time_limit" in task.options)


def test_there_is_a_file_for_everything_published() -> None:
    names = {path.stem for path in FILES}
    assert names >= {"table-macro-f1", "table-micro-f1", "table-running-time", "table-datasets", "figure-gcn"}
    assert names >= {"figure-sgc", "figure-sgc-gcn", "figure-ablation", "figure-error-against-loss"}


def test_what_looks_at_a_model_is_run_for_each_model() -> None:
    settings = Settings(["cora"], ["random", "age"], models=["gcn", "sgc"], seeds=7)
    tasks = [(task.strategy, task.models, task.seeds) for task in tasks_of(settings, ["cora"])]
    first, second = (0, 1, 2, 3, 4), (5, 6)
    assert tasks == [
        ("random", ("gcn", "sgc"), first),
        ("random", ("gcn", "sgc"), second),
        ("age", ("gcn",), first),
        ("age", ("gcn",), second),
        ("age", ("sgc",), first),
        ("age", ("sgc",), second),
    ]
    assert len(list(tasks_of(settings, ["cora"])[0].cells())) == 5 * 5 * 2 * 2


def test_a_data_set_under_another_spelling_or_in_place_of_another() -> None:
    settings = Settings(["Cora", "corafull"], ["age"], only={"age": ["Cora"]}, stand_ins={"corafull": "coauthor-cs"})
    assert [task.dataset for task in tasks_of(settings, ["cora", "coauthor-cs"])] == ["cora"]
    settings = Settings(["corafull"], ["age"], only={"age": ["corafull"]}, stand_ins={"corafull": "coauthor-cs"})
    assert [task.dataset for task in tasks_of(settings, ["coauthor-cs"])] == ["coauthor-cs"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"only": {"age": ["Kora"]}}, "Kora"),
        ({"options": {"age": {"bse": 0.9}}}, "did you mean 'base'"),
        ({"options": {"age": {"base": 7}}}, "base"),
        ({"budgets": ["10"]}, "must be whole numbers"),
        ({"budgets": [10.5]}, "must be whole numbers"),
        ({"seeds": True}, "must be whole numbers"),
    ],
)
def test_settings_are_checked_when_they_are_made(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(FeatpropError, match=message):
        Settings(["cora"], ["age"], **wrong)


def test_a_strategy_on_some_data_sets_only() -> None:
    settings = Settings(["cora", "pubmed"], ["random", "age"], only={"age": ["cora"]})
    assert [(t.dataset, t.strategy) for t in tasks_of(settings, ["cora", "pubmed"])] == [
        ("cora", "random"),
        ("cora", "age"),
        ("pubmed", "random"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = [", "must be TOML"),
        ('strategies = ["random"]', "must name datasets"),
        ('datasets = ["cora"]\nstrategies = ["randon"]', "did you mean 'random'"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nmodels = ["gat"]', "must be one of gcn, sgc"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nbudgets = [5, 10]', "above 5"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nbudgets = [20, 10]', "ascending"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nseed = 5', "did you mean 'seeds'"),
        ('datasets = ["cora"]\nstrategies = ["random"]\nseeds = "5"', "must be a int"),
        ('datasets = ["cora", "cora"]\nstrategies = ["random"]', "each once"),
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


def test_options_reach_the_task() -> None:
    options: dict[str, Any] = {"anrmab": {"rounds": 5}}
    task = tasks_of(Settings(["cora"], ["anrmab"], options=options), ["cora"])[0]
    assert task.options == {"rounds": 5}
