"""Strategies and rounds on the command line."""

import csv
import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from featprop.active import saved_learner
from featprop.active.saved_learner import alone_at
from featprop.errors import FileError
from featprop.labels import LabelLog
from featprop.options import options_of
from featprop.strategies import available_strategies, strategy_class

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


def sheet(*rows: str) -> str:
    Path("told.csv").write_text("\n".join(["id,label", *rows, ""]))
    return "told.csv"


def labels_in(folder: str) -> dict[Any, Any]:
    with LabelLog(Path(folder) / "labels.sqlite") as log:
        return log.labels()


def ok(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return result


def test_the_list_has_every_strategy_with_all_that_is_to_know(run: Run) -> None:
    head, *lines = ok(run("strategies")).stdout.splitlines()
    assert head.split() == ["name", "what", "it", "does", "needs", "reference", "cost"]
    for name in available_strategies():
        kind = strategy_class(name)
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        used = "model, once there are labels" if kind.uses else "none"
        assert f"  {'model' if kind.needs else used}  " in line
        assert kind.reference in line
        assert kind.cost in line
        assert (kind.__doc__ or "").splitlines()[0].rstrip(".") in line


@pytest.mark.parametrize("name", available_strategies())
def test_a_strategy_is_explained_with_its_options(run: Run, name: str) -> None:
    text = ok(run("strategies", name)).stdout
    kind = strategy_class(name)
    assert text.startswith(f"{name}: {(kind.__doc__ or '').splitlines()[0]}")
    assert "Parameters" not in text
    assert kind.cost in text
    for option in options_of(kind):
        assert re.search(rf"^[\w, ]*\b{option}\b[\w, ]*: \S", text, flags=re.MULTILINE), f"{option} is not explained"


@pytest.mark.parametrize("name", available_strategies())
def test_every_strategy_chooses_after_training_what_it_needs(run: Run, folder: Path, name: str) -> None:
    Path("first.csv").write_text("id,label\np0,even\np1,odd\np6,even\n")
    ok(run("select", "graph", "--budget", 3, "--strategy", name, "--labels", "first.csv"))
    assert len(set(ids_of("picks.csv")) - {"p0", "p1", "p6"}) == 3


def test_one_class_in_the_sheet_is_enough(run: Run, folder: Path) -> None:
    Path("first.csv").write_text("id,label\np0,even\np6,even\n")
    ok(run("select", "graph", "--budget", 2, "--strategy", "uncertainty", "--labels", "first.csv"))
    assert len(ids_of("picks.csv")) == 2


def test_options_are_set(run: Run, folder: Path) -> None:
    ok(
        run(
            "select",
            "graph",
            "-b",
            3,
            "--strategy",
            "featprop",
            "--set",
            "layers=0",
            "--set",
            "clustering=kmeans",
            "-o",
            "one.csv",
        )
    )
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
    assert len(labels_in("rounds")) == 4
    assert later["asked"] == ids_of("b.csv")
    assert Path("rounds/model/model.json").exists()

    Path("told.csv").write_text(Path("told.csv").read_text().replace("even", "neither"))
    Path("first.csv").write_text(Path("first.csv").read_text().replace("p0,even", "p0,neither"))
    ok(run(*round_, "--labels", "told.csv", "-o", "c.csv"))
    assert labels_in("rounds")["p0"] == "neither"


def test_the_same_command_again_leaves_the_questions_where_they_are(run: Run, folder: Path) -> None:
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "-o", "a.csv"))
    fill("a.csv", "told.csv")
    again = ["select", "graph", "-b", 2, "--rounds", "rounds", "--labels", "told.csv", "-o", "b.csv"]
    ok(run(*again))
    asked, before = ids_of("b.csv"), Path("rounds/learner.json").read_bytes()
    result = run(*again)
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "b.csv must not be overwritten; found nodes that wait for a label, to be filled in and passed with --labels: "
        f"2 ({', '.join(sorted(asked))}): choose another place or pass --force (force=True in Python).\n"
    )
    assert (ids_of("b.csv"), Path("rounds/learner.json").read_bytes()) == (asked, before)
    ok(run(*again[:-1], "c.csv"))
    ok(run(*again, "--force"))
    assert len({*asked, *ids_of("b.csv"), *ids_of("c.csv")}) == 6


def test_a_strategy_with_a_model_needs_no_labels_to_begin(run: Run, folder: Path) -> None:
    result = ok(run("select", "graph", "-b", 2, "--strategy", "age"))
    assert "age looks at a model and there are no labels yet: these nodes are chosen by featprop" in result.stderr
    ok(run("select", "graph", "-b", 2, "-o", "default.csv"))
    assert ids_of("picks.csv") == ids_of("default.csv")


@pytest.mark.parametrize("seed", [0, 7])
def test_another_seed_does_not_take_up_the_rounds(run: Run, folder: Path, seed: int) -> None:
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--seed", 3, "-o", "a.csv"))
    result = run("select", "graph", "-b", 2, "--rounds", "rounds", "--seed", seed, "-o", "b.csv")
    assert result.exit_code == 2
    assert f"seed must be that of the earlier rounds, 3; found {seed}" in result.stderr
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "-o", "b.csv"))
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--seed", 3, "-o", "c.csv"))


def test_the_same_label_in_two_sheets_is_one_class(run: Run, folder: Path) -> None:
    Path("first.csv").write_text("id,label\np0,1\np1,2\n")
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--labels", "first.csv", "-o", "a.csv"))
    Path("second.csv").write_text("id,label\np2,1\np3,x\n")
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--labels", "second.csv", "-o", "b.csv"))
    assert labels_in("rounds") == {"p0": 1, "p1": 2, "p2": 1, "p3": "x"}


def test_a_sheet_does_not_stand_alone_when_the_state_cannot_be_kept(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any, path: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("featprop.active.learner.ActiveLearner.saving", full)
    result = run("select", "graph", "-b", 2, "--rounds", "rounds", "-o", "a.csv")
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert not Path("a.csv").exists()


def test_it_is_told_what_was_taken_in(run: Run, folder: Path) -> None:
    Path("first.csv").write_text("id,label\np0,even\np1,odd\n")
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--labels", "first.csv", "-o", "a.csv"))
    Path("first.csv").write_text("id,label\np0,even\np1,even\np2,odd\n")
    told = ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--labels", "first.csv", "-o", "b.csv")).stderr
    assert "1 new labels, corrections: 1 (p1: odd is now even)" in told
    assert f"without a label yet, not asked for again: 2 ({', '.join(ids_of('a.csv'))})" in told


def test_a_label_that_was_cleared_stays_and_that_is_said(run: Run, folder: Path) -> None:
    ok(
        run(
            "select",
            "graph",
            "--budget",
            2,
            "--rounds",
            "rounds",
            "--labels",
            sheet("p0,even", "p1,odd"),
            "-o",
            "1.csv",
        )
    )
    more = ["select", "graph", "--budget", 1, "--rounds", "rounds", "--labels"]
    result = ok(run(*more, sheet("p0,", "p1,odd"), "-o", "2.csv"))
    said = "Rows without a label whose earlier one stays: 1 (p0: even): write skip there to take a label back\n"
    assert said in result.stderr
    assert labels_in("rounds") == {"p0": "even", "p1": "odd"}
    result = ok(run(*more, sheet("p0,skip", "p1,odd"), "-o", "3.csv"))
    assert "Rows without a label" not in result.stderr
    assert labels_in("rounds") == {"p1": "odd"}


def test_the_sheet_does_not_go_into_the_folder_of_the_rounds(run: Run, folder: Path) -> None:
    result = run("select", "graph", "-b", 2, "--rounds", "rounds", "-o", "rounds/picks.csv")
    assert result.exit_code == 2
    assert "out must not be in the folder of --rounds" in result.stderr
    assert not Path("rounds").exists()


def test_rounds_that_fail_leave_no_folder(run: Run, folder: Path) -> None:
    assert run("select", "graph", "-b", 999, "--rounds", "rounds").exit_code == 2
    assert not Path("rounds").exists()


def test_two_at_once_do_not_ask_for_the_same_nodes(run: Run, folder: Path) -> None:
    with alone_at(Path("rounds")):
        result = run("select", "graph", "-b", 2, "--rounds", "rounds", "-o", "a.csv")
    assert result.exit_code == 2
    assert "another run at work there" in result.stderr
    assert not Path("a.csv").exists()


def test_one_that_comes_second_does_not_remove_the_folder_of_the_first(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both begin before there is a folder: it is not there when either looks."""
    rounds, make = tmp_path / "both", saved_learner.make_folder
    with ExitStack() as first:

        def both(path: Path) -> None:
            monkeypatch.setattr(saved_learner, "make_folder", make)
            first.enter_context(alone_at(path))
            (path / "labels.sqlite").write_bytes(b"said")

        monkeypatch.setattr(saved_learner, "make_folder", both)
        with pytest.raises(FileError, match="another run at work"), alone_at(rounds):
            pass
        assert (rounds / "labels.sqlite").read_bytes() == b"said"


def test_candidates_restrict_the_choice(run: Run, folder: Path) -> None:
    Path("some.csv").write_text("id,name\np3,a\np5,b\np7,c\n")
    ok(run("select", "graph", "-b", 2, "--candidates", "some.csv"))
    assert set(ids_of("picks.csv")) <= {"p3", "p5", "p7"}
    result = run("select", "graph", "-b", 4, "--candidates", "some.csv", "-o", "more.csv")
    assert "budget must be from 1 to 3, the number of nodes that may be chosen; found 4" in result.stderr


@pytest.mark.parametrize("strategy", ["random", "degree"])
def test_without_the_description_nothing_is_propagated(
    run: Run, folder: Path, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featprop.propagation.propagation.normalised_adjacency", None)
    ok(run("select", "graph", "-b", 2, "--strategy", strategy, "--no-description"))
    with Path("picks.csv").open(encoding="utf-8", newline="") as file:
        assert [list(row) for row in csv.DictReader(file)] == [["rank", "id", "label"]] * 2


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


@pytest.mark.parametrize("others", [[], ["--labels", "more.csv"]], ids=["alone", "beside a sheet"])
def test_what_rounds_wait_for_is_not_taken_by_others(run: Run, folder: Path, others: list[str]) -> None:
    ok(run("select", "graph", "--budget", 2, "--rounds", "rounds", "-o", "a.csv"))
    fill("a.csv", "filled.csv")
    ok(run("select", "graph", "--budget", 4, "--labels", "filled.csv", "--rounds", "rounds", "-o", "b.csv"))
    known = {*ids_of("a.csv"), *ids_of("b.csv")}
    extra = next(f"p{i}" for i in range(12) if f"p{i}" not in known)
    Path("more.csv").write_text(f"id,label\n{extra},odd\n")
    result = ok(run("select", "graph", "--budget", 4, "--labels", "rounds", *others, "-o", "c.csv"))
    assert not known & set(ids_of("c.csv"))
    assert "Asked for and without a label yet, not asked for again: 4 (" in result.stderr
    size = 12 - len(known) - len(others) // 2
    result = ok(run("audit", "graph", "--size", size, "--labels", "rounds", *others))
    assert f"{size} nodes drawn from {size}" in result.stdout
    assert not known & set(ids_of("audit.csv"))


def test_an_audit_before_the_first_label_of_the_rounds(run: Run, folder: Path) -> None:
    ok(run("select", "graph", "--budget", 4, "--rounds", "rounds", "-o", "a.csv"))
    ok(run("audit", "graph", "--size", 8, "--labels", "rounds"))
    assert not set(ids_of("a.csv")) & set(ids_of("audit.csv"))
    assert run("audit", "graph", "--size", 2, "--by", "predicted", "--labels", "rounds", "-o", "b.csv").exit_code == 2
