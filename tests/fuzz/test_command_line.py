"""Every command is tried with values of its options, or is named with the reason why not."""

from pathlib import Path
from typing import Any

import pytest

from featprop.labels import LabelLog
from fuzz import checks
from fuzz.running import command
from fuzz.targets.command_line import LEFT_OUT, VALID, may_change


def names(found: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not hasattr(found, "commands"):
        return [before]
    return [name for part, inside in found.commands.items() for name in names(inside, (*before, part))]


def test_every_command_is_tried_or_left_out_for_a_reason() -> None:
    assert sorted(names(command())) == sorted([*VALID, *LEFT_OUT])


@pytest.mark.parametrize("name", VALID)
def test_only_the_input_that_a_command_is_there_for_may_change(name: tuple[str, ...]) -> None:
    words = [
        "graph",
        "--labels",
        "log.labels",
        "--out",
        "new/x",
        "--model",
        "ridge.safetensors",
        "picks.csv",
        "results",
        "run.toml",
    ]
    inputs = {"graph", "log.labels", "ridge.safetensors", "picks.csv", "results", "run.toml"}
    expected = {("import",): {"log.labels"}, ("train",): {"ridge.safetensors"}}.get(name, set())
    changes = set(may_change(name, words))
    assert changes & inputs == expected
    assert "new" in changes


def test_a_log_that_lost_an_act_is_seen(tmp_path: Path) -> None:
    logs = [tmp_path / name for name in ("before.labels", "more.labels", "less.labels")]
    for path, labels in zip(logs, ({"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}, {"a": 1}), strict=True):
        with LabelLog(path) as log:
            for node, label in labels.items():
                log.answer(node, label, key=node)
    assert [len(checks.acts_kept(path.name, path)(tmp_path)) for path in logs] == [0, 0, 0]
    assert checks.acts_kept("less.labels", logs[0])(tmp_path) == ["less.labels no longer begins with its 2 acts"]
