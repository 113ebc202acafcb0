"""Names, options and strategies of other packages."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from featprop.errors import ParameterError
from featprop.options import options_of, parse_options, settings_of
from featprop.strategies import STRATEGIES, AtLeast, Strategy, available_strategies, get_strategy

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


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Install a package with entry points, as pip would, for the time of a test."""
    monkeypatch.setattr(STRATEGIES, "classes", dict(STRATEGIES.classes))
    monkeypatch.syspath_prepend(tmp_path)

    def write(code: str, **entries: str) -> None:
        (tmp_path / "some_package.py").write_text(code)
        info = tmp_path / "some_package-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 1.0\n")
        lines = [f"{name.replace('_', '-')} = {target}" for name, target in entries.items()]
        (info / "entry_points.txt").write_text("[featprop.strategies]\n" + "\n".join(lines) + "\n")
        monkeypatch.delitem(sys.modules, "some_package", raising=False)

    return write


def test_a_strategy_of_another_package_is_listed_and_loaded_when_asked_for(
    install: Installed, run: Callable[..., Any], write_folder: Callable[..., Path]
) -> None:
    install(PLUG_IN, last_first="some_package:Last")
    assert "last-first" in available_strategies()
    assert "some_package" not in sys.modules
    assert get_strategy("last-first").name == "last-first"
    write_folder()
    result = run("select", "graph", "--budget", 2, "--strategy", "last-first")
    assert result.exit_code == 0, result.output
    assert [line.split(",")[1].strip('"') for line in Path("picks.csv").read_text().splitlines()] == ["id", "e", "d"]
    assert "last-first" in run("strategies").stdout


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "some_package:Lost",
            "Strategy broken of the package some-package must load from some_package:Lost; "
            "found AttributeError: module 'some_package' has no attribute 'Lost': update or uninstall that package.",
        ),
        (
            "no_such_module:Lost",
            "Strategy broken of the package some-package must load from no_such_module:Lost; "
            "found ModuleNotFoundError: No module named 'no_such_module': update or uninstall that package.",
        ),
        (
            "some_package:helper",
            "Strategy broken of the package some-package must be a subclass of featprop.strategies.Strategy",
        ),
    ],
)
def test_a_broken_one_is_named_and_harms_no_other(
    install: Installed, run: Callable[..., Any], target: str, message: str
) -> None:
    install(PLUG_IN, broken=target)
    with pytest.raises(ParameterError) as told:
        get_strategy("broken")
    assert str(told.value).startswith(message)
    listed = run("strategies")
    assert listed.exit_code == 0
    assert "does not load" in listed.stdout
    assert get_strategy("featprop")


def test_featprop_keeps_its_own_names(install: Installed, caplog: pytest.LogCaptureFixture) -> None:
    install(PLUG_IN, random="some_package:Last")
    with caplog.at_level(logging.WARNING):
        assert type(get_strategy("random")).__module__ == "featprop.strategies.random"
        assert available_strategies().count("random") == 1
    assert "strategy random of the package some-package is left out" in caplog.text


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
        (" count = 7 ", 7),
    ],
)
def test_options_have_the_type_of_their_argument(setting: str, value: object) -> None:
    (found,) = parse_options(Made, [setting]).values()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("count=0", "count of strategy made must be a whole number at least 1; found 0: the default is 3."),
        ("count=1.5", "count of strategy made must be a whole number at least 1; found '1.5': the default is 3."),
        ("count=none", "found 'none': the default is 3."),
        ("share=half", "share of strategy made must be a number; found 'half': the default is 0.5."),
        ("loud=maybe", "loud of strategy made must be true or false; found 'maybe': the default is False."),
        ("way=left", "way of strategy made must be one of down, up; found 'left': choose one of them."),
        ("cuont=2", "Option of strategy made must be one of count, loud, most, share, way, word; found 'cuont': did"),
        ("count", "set must be written as name=value; found 'count': write --set layers=3."),
    ],
)
def test_wrong_options_are_told_what_is_possible(setting: str, message: str) -> None:
    with pytest.raises(ParameterError) as told:
        parse_options(Made, [setting])
    assert message in str(told.value)


def test_options_given_in_python_are_held_to_the_same_rules() -> None:
    with pytest.raises(ParameterError, match="must be a whole number from 0 to 1000; found -1"):
        get_strategy("featprop", layers=-1)
    with pytest.raises(ParameterError, match="found True"):
        get_strategy("featprop", layers=True)
    with pytest.raises(ParameterError, match="must be one of clustering, layers; found 'depth'"):
        get_strategy("featprop", depth=2)


@pytest.mark.parametrize("name", available_strategies())
def test_every_strategy_can_be_made_again_from_its_settings(name: str) -> None:
    strategy = get_strategy(name)
    options = settings_of(strategy)
    assert STRATEGIES.name_of(strategy) == name
    assert set(options) == set(options_of(type(strategy)))
    assert settings_of(get_strategy(name, **options)) == options
    for option in options_of(type(strategy)).values():
        option.check(option.default, name)
