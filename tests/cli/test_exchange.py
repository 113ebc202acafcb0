"""``featprop export`` and ``featprop import``."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.labels import LabelLog
from tests.helpers import assert_refused, ok

Run = Callable[..., Any]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A label log of two people."""
    path = tmp_path / "my.labels"
    with LabelLog(path) as log:
        log.tell({"a": "left", "b": "left", "c": "right"}, annotator="ada")
        log.tell({"a": "right"}, annotator="grace")
        log.skip("d", "blurred", annotator="grace")
    return path


def labels_in(path: str) -> dict[Any, Any]:
    with LabelLog(Path(path)) as log:
        return log.labels()


def test_out_and_in_again(run: Run, labels: Path) -> None:
    for name, file in [("csv", "labels.csv"), ("jsonl", "labels.jsonl"), ("label-studio", "labels.json")]:
        done = ok(run("export", "my.labels", "--format", name))
        assert done.stdout == f"Wrote 5 answers on 4 nodes by 2 annotators to {file}.\n"
        done = ok(run("import", f"{name}.labels", file))
        assert f"4 labels, 1 skip and 0 notes from {file} into {name}.labels" in done.stdout
        assert "alpha: 0.00" in done.stdout
        assert labels_in(f"{name}.labels") == labels_in("my.labels")
        assert ": 5." in ok(run("import", f"{name}.labels", file)).stdout


def test_to_standard_output(run: Run, labels: Path) -> None:
    done = ok(run("export", "my.labels", "--out", "-"))
    assert [row["id"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["a", "a", "b", "c", "d"]
    assert done.stderr == "Wrote 5 answers on 4 nodes by 2 annotators.\n"
    assert not Path("-").exists()


def test_label_studio_with_graph_nodes_and_configuration(run: Run, labels: Path, write_folder: Any) -> None:
    write_folder()
    Path("picks.csv").write_text("rank,id,label\n1,e,\n", encoding="utf-8")
    words = ["export", "my.labels", "--format", "label-studio", "--graph", "graph", "--nodes", "picks.csv"]
    done = ok(run(*words, "--out", "tasks.json", "--config", "config.xml", "--classes", "left,right,up"))
    assert done.stdout.splitlines() == [
        "Wrote 5 answers on 4 nodes by 2 annotators, and 1 listed node to tasks.json.",
        "Wrote the labelling configuration to config.xml.",
    ]
    tasks = json.loads(Path("tasks.json").read_text(encoding="utf-8"))
    assert [task["data"]["node_id"] for task in tasks] == list("abcde")
    assert tasks[4]["annotations"] == []
    assert tasks[4]["predictions"][0]["result"][0]["value"]["choices"][0] in ("left", "right")
    assert Path("config.xml").read_text(encoding="utf-8").count("<Choice ") == 3
    assert_refused(run(*words, "--out", "new.json", "--config", "config.xml"), "config.xml")
    assert not Path("new.json").exists()
    ok(run(*words, "--out", "tasks.json", "--config", "config.xml", "--force"))


def test_what_is_left_out_is_said(run: Run, write_folder: Any) -> None:
    write_folder()
    Path("labels.csv").write_text("id,label\na,left\nB,left\nc,rigth\nd,?\ne,\n", encoding="utf-8")
    done = ok(
        run("import", "my.labels", "labels.csv", "--graph", "graph", "--classes", "left,right", "--annotator", "ada")
    )
    assert "1 label, 1 skip and 0 notes from labels.csv into my.labels" in done.stdout
    assert "Without an answer: 1." in done.stdout
    for fact in ("1 ('B')", "'b'?", "1 ('rigth')"):
        assert fact in done.stderr
    with LabelLog(Path("my.labels")) as log:
        assert {act.annotator for act in log.events()} == {"ada"}


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("export nowhere.labels", "nowhere.labels"),
        ("export text.csv", "text.csv"),
        ("export my.labels --format xml", "'xml'"),
        ("export my.labels --format jsonl -o x.csv", ".jsonl"),
        ("export my.labels --config c.xml", "label-studio"),
        ("export my.labels --classes a", "config"),
        ("export my.labels --nodes text.csv", "graph"),
        ("export my.labels --format label-studio --config c.txt", ".xml"),
        ("import new.labels nowhere.json", "nowhere.json"),
        ("import new.labels text.csv", "text.csv"),
        ("import nowhere/new.labels x.csv", "nowhere/new.labels"),
    ],
)
def test_bad_input(
    run: Run, labels: Path, words: str, fact: str, contents: Callable[[], dict[str, bytes | None]]
) -> None:
    Path("text.csv").write_text("some text\n1\n", encoding="utf-8")
    Path("x.csv").write_text("id,label\na,b\n", encoding="utf-8")
    before = contents()
    assert_refused(run(*words.split()), fact)
    assert contents() == before


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("said.json", "[]", []),
        ("said.csv", "id,label\na,\n", []),
        ("said.csv", "id,label\na,x\n", ["--classes", "y"]),
    ],
)
def test_a_file_of_which_nothing_is_taken_leaves_nothing(
    run: Run, contents: Callable[[], dict[str, bytes | None]], name: str, content: str, options: list[str]
) -> None:
    Path(name).write_text(content, encoding="utf-8")
    before = contents()
    done = run("import", "new.labels", name, *options)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert contents() == before
