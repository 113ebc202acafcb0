"""Strategies and rounds on the command line."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.errors import FileError
from featprop.labels import LabelLog
from featprop.options import options_of
from featprop.strategies import available_strategies, strategy_class
from tests.helpers import ok, rows_of

Run = Callable[..., Any]


@pytest.fixture
def folder(write_folder: Callable[..., Path]) -> Path:
    nodes = "id,x,y\n" + "".join(f"p{i},{i % 2},{i}\n" for i in range(12))
    edges = "source,target\n" + "".join(f"p{i},p{i + 2}\n" for i in range(10))
    return write_folder(nodes, edges)


def ids_of(sheet: str) -> list[str]:
    return [row["id"] for row in rows_of(sheet)]


def fill(sheet: str, target: str) -> None:
    lines = [f"{node},{'odd' if int(node[1:]) % 2 else 'even'}" for node in ids_of(sheet)]
    Path(target).write_text("id,label\n" + "\n".join(lines) + "\n")


def test_the_list_has_every_strategy_with_all_that_is_to_know(run: Run) -> None:
    head, *lines = ok(run("strategies")).stdout.splitlines()
    assert head.split() == ["name", "what", "it", "does", "needs", "reference", "cost"]
    for name in available_strategies():
        kind = strategy_class(name)
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        used = "model, after the first labels" if kind.uses else "none"
        assert f"  {'model' if kind.needs else used}  " in line
        assert kind.reference in line
        assert kind.cost in line
        assert (kind.__doc__ or "").splitlines()[0].rstrip(".") in line


def test_a_log_keeps_labels_and_strategy_between_rounds(run: Run, folder: Path) -> None:
    Path("first.csv").write_text("id,label\np0,even\np1,odd\n")
    round_ = ["select", "graph", "-b", 2, "--log", "a.labels", "--labels", "first.csv"]
    ok(run(*round_, "--strategy", "anrmab", "--set", "rounds=5", "-o", "a.csv"))
    with LabelLog("a.labels") as log:
        state = log.learner_state()
        assert state["strategy"] == {"name": "anrmab", "options": {"rounds": 5, "delta": 0.1, "clusters": None}}
        assert log.asked() == ids_of("a.csv")
    fill("a.csv", "told.csv")
    ok(run(*round_, "--labels", "told.csv", "-o", "b.csv"))
    with LabelLog("a.labels") as log:
        state = log.learner_state()
        assert state["rounds"] == 2
        asked = {int(node[1:]) for node in ids_of("a.csv") + ids_of("b.csv")}
        assert {node for node, *_ in state["state"]["odds"]} == asked
        assert len(log.labels()) == 4
        assert log.asked() == ids_of("b.csv")
    Path("first.csv").write_text("id,label\np0,neither\np1,odd\n")
    ok(run(*round_, "-o", "c.csv"))
    with LabelLog("a.labels") as log:
        assert log.labels()["p0"] == "neither"


def test_a_sheet_that_cannot_be_written_asks_for_nothing(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise FileError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("featprop.labels.sheets.write_sheet", full)
        assert run("select", "graph", "-b", 2, "--log", "a.labels", "-o", "a.csv").exit_code == 2
    with LabelLog("a.labels") as log:
        assert (log.asked(), log.learner_state()) == ([], None)
    ok(run("select", "graph", "-b", 2, "--log", "a.labels", "-o", "a.csv"))


@pytest.mark.parametrize(
    ("labels", "budget"),
    [("name,label\nnowhere,odd\n", 2), ("id,label\np1,odd\np2,even\n", 1000)],
    ids=["sheet", "budget"],
)
def test_a_refused_round_leaves_no_new_log(run: Run, folder: Path, labels: str, budget: int) -> None:
    Path("first.csv").write_text(labels)
    assert run("select", "graph", "-b", budget, "--log", "a.labels", "--labels", "first.csv").exit_code == 2
    assert not list(Path().glob("a.labels*"))


def test_every_setting_of_a_strategy_is_explained(run: Run) -> None:
    for name in available_strategies():
        text = ok(run("strategies", name)).stdout
        kind = strategy_class(name)
        assert text.startswith(f"{name}: {(kind.__doc__ or '').splitlines()[0]}")
        assert "Parameters" not in text
        assert kind.cost in text
        for option in options_of(kind).values():
            assert re.search(rf"^{option.name} .*{re.escape(option.accepts)} +\S", text, flags=re.MULTILINE), option
