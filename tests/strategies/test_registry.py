"""Names, options and strategies of other packages."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from featprop import strategies
from featprop.errors import ParameterError
from featprop.options import options_of, parse_options, settings_of
from featprop.strategies import STRATEGIES, AtLeast, Strategy, available_strategies, get_strategy, strategy_class
from tests.helpers import ok, raises, rows_of

PLUG_IN = """
import numpy as np
from featprop.strategies import ScoreStrategy

class Last(ScoreStrategy):
    "The last nodes."

    def scores(self, context, generator):
        return np.arange(context.graph.n_nodes, dtype=float)

def helper(): ...
"""
Installed = Callable[..., None]


def test_strategy_of_another_package_is_loaded_on_first_use(
    install_plugin: Installed, run: Callable[..., Any], write_folder: Callable[..., Path]
) -> None:
    install_plugin("featprop.strategies", PLUG_IN, last_first="some_package:Last", random="some_package:Last")
    assert type(get_strategy("random")).__module__ == "featprop.strategies.random", "it cannot take a built-in name"
    assert "last-first" in available_strategies()
    assert "some_package" not in sys.modules
    assert get_strategy("last-first").name == "last-first"
    write_folder()
    ok(run("select", "graph", "--budget", 2, "--strategy", "last-first"))
    assert [row["id"] for row in rows_of("picks.csv")] == ["e", "d"]
    assert "last-first" in run("strategies").stdout


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("some_package:Lost", "AttributeError"),
        ("no_such_module:Lost", "ModuleNotFoundError"),
        ("some_package:helper", "Strategy"),
    ],
)
def test_broken_plug_in_is_named_and_harms_no_other(
    install_plugin: Installed, run: Callable[..., Any], target: str, reason: str
) -> None:
    install_plugin("featprop.strategies", PLUG_IN, broken=target)
    with raises(ParameterError, parameter="strategy", value="broken") as caught:
        get_strategy("broken")
    assert "some-package" in str(caught.value)
    assert reason in str(caught.value)
    assert "broken" in ok(run("strategies")).stdout
    assert get_strategy("featprop")


class Made(Strategy):
    """A strategy with an option of every kind."""

    name = "made"

    def __init__(
        self,
        count: Annotated[int, AtLeast(1)] = 3,
        share: float = 0.5,
        loud: bool = False,
        way: Literal["up", "down"] = "up",
        most: Annotated[int | None, AtLeast(1)] = None,
        word: str = "none",
    ) -> None:
        self.count, self.share, self.loud, self.way, self.most, self.word = count, share, loud, way, most, word

    def select(self, context: Any, budget: int, generator: np.random.Generator) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("count=7", 7),
        ("share=2", 2.0),
        ("share=1e-3", 0.001),
        ("loud=true", True),
        ("loud=False", False),
        ("way=down", "down"),
        ("most=none", None),
        ("most=4", 4),
        ("word=a=b", "a=b"),
    ],
)
def test_options_have_the_type_of_their_argument(setting: str, value: object) -> None:
    (found,) = parse_options(Made, [setting]).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("setting", "parameter", "value"),
    [
        ("count=0", "count", 0),
        ("count=1.5", "count", "1.5"),
        ("share=half", "share", "half"),
        ("loud=maybe", "loud", "maybe"),
        ("count", "set", "count"),
    ],
)
def test_invalid_settings(setting: str, parameter: str, value: object) -> None:
    with raises(ParameterError, parameter=parameter, value=value):
        parse_options(Made, [setting])


def test_choices_of_invalid_settings() -> None:
    with raises(ParameterError, parameter="way", value="left", choices=("up", "down")):
        parse_options(Made, ["way=left"])
    with raises(ParameterError, choices=("count", "share", "loud", "way", "most", "word"), parameter="cuont") as caught:
        parse_options(Made, ["cuont=2"])
    assert "'count'" in caught.value.hint
    with raises(ParameterError, parameter="count"):
        parse_options(Made, ["count=2", "count=3"])


def test_options_are_checked_in_python_too() -> None:
    for value in (-1, True, 1001, "2", None):
        with raises(ParameterError, parameter="layers", value=value):
            get_strategy("featprop", layers=value)
    with raises(ParameterError, parameter="depth", choices=("layers", "clustering")):
        get_strategy("featprop", depth=2)


@pytest.mark.parametrize("name", available_strategies())
def test_class_is_imported_by_name(name: str) -> None:
    kind = strategy_class(name)
    assert getattr(strategies, kind.__name__) is kind
    assert kind.__name__ in dir(strategies)


@pytest.mark.parametrize("name", available_strategies())
def test_settings_recreate_the_strategy(name: str) -> None:
    strategy = get_strategy(name)
    options = settings_of(strategy)
    assert STRATEGIES.name_of(strategy) == name
    assert set(options) == set(options_of(type(strategy)))
    assert settings_of(get_strategy(name, **options)) == options
    for option in options_of(type(strategy)).values():
        option.check(option.default, type(strategy))


PAGE = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text(encoding="utf-8")


def cells() -> dict[str, list[str]]:
    rows = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows if len(row) == 4}


def test_the_table_lists_every_strategy_with_needs_and_options() -> None:
    table = cells()
    assert sorted(table) == available_strategies()
    for name, (_, needs, options) in table.items():
        kind = strategy_class(name)
        used = "model, once there are labels" if kind.uses else ""
        assert needs == ("model" if kind.needs else used), name
        assert re.findall(r"`(\w+)`", options) == list(options_of(kind)), name
