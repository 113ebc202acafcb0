"""What may be said of tables, and how it is kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.errors import ParameterError
from featprop.tables import TableOptions
from tests.helpers import assert_refused, raises


@pytest.mark.parametrize(
    ("said", "fields", "hint"),
    [
        ({"weights": "men"}, {"parameter": "weights", "value": "men"}, "'mean'"),
        ({"repeated": "maximum"}, {"parameter": "repeated", "value": "maximum"}, "'max'"),
        (
            {"columns": {"age": "nummber"}},
            {"parameter": "columns", "value": "nummber", "column": "age"},
            "'number'",
        ),
        ({"raw": True, "columns": {"age": "number"}}, {}, ""),
    ],
)
def test_what_cannot_be_is_said(said: dict[str, Any], fields: dict[str, Any], hint: str) -> None:
    with raises(ParameterError, **fields) as caught:
        TableOptions(**said)
    assert hint in caught.value.hint


@pytest.mark.parametrize("said", [{}, {"id": "key", "features": ("x", "y")}, {"raw": True}, {"columns": {"a": "date"}}])
def test_what_was_said_comes_back(said: dict[str, Any]) -> None:
    options = TableOptions(**said)
    assert options.to_jsonable() == said
    assert TableOptions.from_jsonable(options.to_jsonable()) == options


@pytest.mark.parametrize("said", [{"raw": "yes"}, {"id": 3}, {"features": ["x", 1]}])
def test_what_was_kept_and_changed_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="table options of another type"):
        TableOptions.from_jsonable(said)


def test_one_feature_is_a_list_of_one() -> None:
    assert TableOptions(features="x").features == ("x",)  # type: ignore[arg-type]


@pytest.mark.parametrize("typed", ["age", "=number"])
def test_a_kind_without_a_column_on_the_command_line(run: Callable[..., Any], graph_folder: Path, typed: str) -> None:
    result = run("select", graph_folder, "--budget", 3, "--column", typed)
    assert_refused(result, f"--column {typed}")


def test_options_are_written_as_they_were_said() -> None:
    options = TableOptions(id="key", columns={"age": "number"}, features=("a", "b"), weights="none")
    words = ["--features", "a", "--features", "b", "--column", "age=number", "--id", "key", "--weights", "none"]
    assert options.to_arguments() == words
    assert TableOptions(raw=True).to_arguments() == ["--raw"]
    assert TableOptions().to_arguments() == []
    assert options.to_arguments(learnt=True) == ["--id", "key", "--weights", "none"]
