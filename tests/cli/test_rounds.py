"""Strategies and rounds on the command line."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.strategies import available, strategy_class

Run = Callable[..., Any]


@pytest.fixture
def folder(write_folder: Callable[..., Path]) -> Path:
    nodes = "id,x,y\n" + "".join(f"p{i},{i % 2},{i}\n" for i in range(12))
    edges = "source,target\n" + "".join(f"p{i},p{i + 2}\n" for i in range(10))
    return write_folder(nodes, edges)


def ids_of(sheet: str) -> list[str]:
    with Path(sheet).open(encoding="utf-8", newline="") as file:
        return [row["id"] for row in csv.DictReader(file)]


def fill(sheet: str, target: str) -> None:
    lines = [f"{node},{'odd' if int(node[1:]) % 2 else 'even'}" for node in ids_of(sheet)]
    Path(target).write_text("id,label\n" + "\n".join(lines) + "\n")


def ok(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return result


def test_the_list_has_every_strategy_with_all_that_is_to_know(run: Run) -> None:
    head, *lines = ok(run("strategies")).stdout.splitlines()
    assert head.split() == ["name", "needs", "what", "it", "does", "reference", "cost"]
    for name in available():
        kind = strategy_class(name)
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        assert line.split()[1] == ("model" if kind.needs else "none")
        assert kind.reference in line
        assert kind.cost in line
        assert (kind.__doc__ or "").splitlines()[0].rstrip(".") in line


@pytest.mark.parametrize("name", available())
def test_a_strategy_is_explained_with_its_options(run: Run, name: str) -> None:
    text = ok(run("strategies", name)).stdout
    kind = strategy_class(name)
    assert text.startswith(f"{name}: {(kind.__doc__ or '').splitlines()[0]}")
    assert "Parameters" not in text
    assert kind.cost in text


@pytest.mark.parametrize("name", available())
def test_every_strategy_chooses_after_training_what_it_needs(run: Run, folder: Path, name: str) -> None:
    Path("first.csv").write_text("id,label\np0,even\np1,odd\np6,even\n")
    ok(run("select", "graph", "--budget", 3, "--strategy", name, "--labels", "first.csv"))
    assert len(set(ids_of("picks.csv")) - {"p0", "p1", "p6"}) == 3


def test_one_class_in_the_sheet_is_enough(run: Run, folder: Path) -> None:
    Path("first.csv").write_text("id,label\np0,even\np6,even\n")
    ok(run("select", "graph", "--budget", 2, "--strategy", "uncertainty", "--labels", "first.csv"))
    assert len(ids_of("picks.csv")) == 2


def test_options_are_set(run: Run, folder: Path) -> None:
    ok(run("select", "graph", "-b", 3, "--set", "layers=0", "--set", "clustering=kmeans", "-o", "one.csv"))
    ok(run("select", "graph", "-b", 3, "--strategy", "pagerank", "--set", "damping=0.5", "-o", "two.csv"))
    assert len(ids_of("one.csv")) == len(ids_of("two.csv")) == 3


def test_rounds_are_kept_in_a_folder(run: Run, folder: Path) -> None:
    Path("first.csv").write_text("id,label\np0,even\np1,odd\n")
    round_ = ["select", "graph", "-b", 2, "--rounds", "rounds", "--labels", "first.csv"]
    ok(run(*round_, "--strategy", "anrmab", "--set", "rounds=5", "-o", "a.csv"))
    start = json.loads(Path("rounds/learner.json").read_text())
    assert start["strategy"] == {"name": "anrmab", "options": {"rounds": 5, "delta": 0.1, "clusters": None}}
    assert start["asked"] == ids_of("a.csv")
    fill("a.csv", "told.csv")
    ok(run(*round_, "--labels", "told.csv", "-o", "b.csv"))
    later = json.loads(Path("rounds/learner.json").read_text())
    assert later["rounds"] == 2
    assert {node for node, *_ in later["state"]["odds"]} == {
        int(node[1:]) for node in ids_of("a.csv") + ids_of("b.csv")
    }
    assert len(later["labels"]) == 4
    assert later["asked"] == ids_of("b.csv")
    assert Path("rounds/model/model.json").exists()

    Path("told.csv").write_text(Path("told.csv").read_text().replace("even", "neither"))
    Path("first.csv").write_text(Path("first.csv").read_text().replace("p0,even", "p0,neither"))
    ok(run(*round_, "--labels", "told.csv", "-o", "c.csv"))
    assert dict(json.loads(Path("rounds/learner.json").read_text())["labels"])["p0"] == "neither"


def test_another_strategy_does_not_take_up_the_rounds(run: Run, folder: Path) -> None:
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--strategy", "degree", "-o", "a.csv"))
    kept = Path("rounds/learner.json").read_bytes()
    result = run("select", "graph", "-b", 2, "--rounds", "rounds", "--strategy", "random", "-o", "b.csv")
    assert result.exit_code == 2
    assert "strategy must be that of the earlier rounds, degree with the options it had; found random" in result.stderr
    assert Path("rounds/learner.json").read_bytes() == kept
    assert not Path("b.csv").exists()
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--strategy", "degree", "-o", "b.csv"))
    assert not set(ids_of("a.csv")) & set(ids_of("b.csv"))
