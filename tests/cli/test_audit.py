"""``featprop audit``, and what other commands make of its sheet."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import featprop
from tests.helpers import assert_refused, fill, ok, rows_of

Run = Callable[..., Any]


def class_of(node: str) -> str:
    return "abc"[int(node) % 3]


def ids_of(path: str) -> set[str]:
    return {row["id"] for row in rows_of(path)}


@pytest.fixture
def labelled(graph_folder: Path, run: Run) -> Path:
    """A graph and ``picks.csv`` with 12 labels."""
    ok(run("select", graph_folder, "--budget", 12))
    fill("picks.csv", class_of)
    return graph_folder


def test_from_the_draw_to_the_score(labelled: Path, run: Run) -> None:
    told = ok(run("audit", labelled, "--labels", "picks.csv", "--size", 30, "--show", "w1"))
    assert "30 of 228 nodes to audit.csv" in told.stdout
    rows = rows_of("audit.csv")
    assert list(rows[0]) == ["id", "label", "rank", "audit", "w1"]
    assert {row["audit"] for row in rows} == {"7.6"}
    assert not ids_of("audit.csv") & ids_of("picks.csv")
    fill("audit.csv", class_of)
    told = ok(run("train", labelled, "--labels", "picks.csv", "--labels", "audit.csv"))
    assert "30 of 30 nodes labelled" in told.output
    assert "Trained on 12 labels of 3 classes" in told.stdout
    assert "audit of 30 nodes" in told.stdout
    assert set(map(str, featprop.load_model("model.safetensors").labelled_)) == ids_of("picks.csv")
    told = ok(
        run("train", labelled, "--labels", "picks.csv", "--labels", "audit.csv", "--use-audit", "-o", "all.safetensors")
    )
    assert "Trained on 42 labels" in told.stdout
    assert "audit of" not in told.stdout
    assert set(map(str, featprop.load_model("all.safetensors").labelled_)) == ids_of("picks.csv") | ids_of("audit.csv")


def test_nodes_of_the_audit_are_not_chosen(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--labels", "picks.csv", "--size", 200))
    both = ("--labels", "picks.csv", "--labels", "audit.csv")
    ok(run("select", labelled, "--budget", 28, *both, "--out", "more.csv"))
    assert not ids_of("more.csv") & (ids_of("audit.csv") | ids_of("picks.csv")), "an empty sheet counts, too"
    fill("audit.csv", class_of)
    ok(run("select", labelled, "--budget", 28, *both, "--out", "more.csv", "--show", "w1", "--force"))
    assert not ids_of("more.csv") & ids_of("audit.csv")
    refused = run("select", labelled, "--budget", 29, *both, "--out", "other.csv")
    assert refused.exit_code == 2
    assert "28" in refused.output
    ok(run("audit", labelled, *both, "--size", 28, "--out", "rest.csv"))
    assert not ids_of("rest.csv") & (ids_of("audit.csv") | ids_of("picks.csv"))


def test_by_predicted(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--labels", "picks.csv", "--size", 30, "--by", "predicted"))
    weights = [row["audit"] for row in rows_of("audit.csv")]
    assert sorted(weights.count(weight) for weight in set(weights)) in ([10, 10, 10], [10, 20], [30])
    assert sum(map(float, weights)) == pytest.approx(228, abs=0.01)


BAD: list[tuple[str, list[Any], str]] = [
    ("typed", [], "audit.csv"),
    ("", ["--size", 0], "--size 1 228 0"),
    ("", ["--size", 2, "--by", "predicted"], "--size 3 2"),
    ("", ["--by", "degree"], "degree"),
    ("", ["--model", "ridge"], "model"),
    ("", ["--show", "audit"], "'audit'"),
    ("", ["--out", "audit.xlsx"], ".csv"),
]


@pytest.mark.parametrize(("state", "options", "facts"), BAD)
def test_what_is_refused(labelled: Path, run: Run, state: str, options: list[Any], facts: str) -> None:
    if state == "typed":
        ok(run("audit", labelled, "--labels", "picks.csv"))
        fill("audit.csv", class_of)
    before = Path("audit.csv").read_bytes() if state else None
    refused = run("audit", labelled, "--labels", "picks.csv", *options)
    assert_refused(refused, facts)
    assert (Path("audit.csv").read_bytes() if Path("audit.csv").exists() else None) == before


def test_sheets_that_cannot_be_an_audit(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--size", 240, "--out", "all.csv"))
    fill("all.csv", class_of)
    refused = run("train", labelled, "--labels", "picks.csv", "--labels", "all.csv")
    assert refused.exit_code == 2
    assert "12 (" in refused.output
    refused = run("train", labelled, "--labels", "all.csv")
    assert refused.exit_code == 2
    ok(run("train", labelled, "--labels", "all.csv", "--use-audit"))
