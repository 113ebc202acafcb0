"""``featprop export`` and ``featprop import``."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.active.saved_learner import alone_at
from featprop.labels import LabelLog

Run = Callable[..., Any]


def ok(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return result


def refused(result: Any) -> str:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return str(result.stderr.splitlines()[-1])


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
        assert done.stdout.splitlines() == [
            f"Took 4 labels, 1 skip and 0 notes from {file} into {name}.labels.",
            "Krippendorff's alpha: 0.00; nodes with different labels that nobody settled: 1.",
        ]
        assert labels_in(f"{name}.labels") == labels_in("my.labels")
        assert "In the log already: 5." in ok(run("import", f"{name}.labels", file)).stdout


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
        "Wrote 5 answers on 4 nodes by 2 annotators and 1 further node to tasks.json.",
        "Wrote the labelling configuration to config.xml.",
    ]
    tasks = json.loads(Path("tasks.json").read_text(encoding="utf-8"))
    assert [task["data"]["node_id"] for task in tasks] == list("abcde")
    assert tasks[4]["annotations"] == []
    assert tasks[4]["predictions"][0]["result"][0]["value"]["choices"][0] in ("left", "right")
    assert Path("config.xml").read_text(encoding="utf-8").count("<Choice ") == 3
    ok(run(*words, "--out", "tasks.json", "--config", "config.xml", "--classes", "left,right,up"))
    told = refused(run(*words, "--out", "tasks.json", "--config", "config.xml"))
    assert told == (
        "Error: config.xml must not be overwritten; found another configuration: "
        "choose another --config or pass --force."
    )
    ok(run(*words, "--out", "tasks.json", "--config", "config.xml", "--force"))


def test_tasks_before_anybody_said_anything(run: Run, write_folder: Any) -> None:
    write_folder()
    Path("picks.csv").write_text("rank,id,label\n1,e,\n2,b,\n", encoding="utf-8")
    words = ["--format", "label-studio", "--graph", "graph", "--nodes", "picks.csv", "--config", "config.xml"]
    ok(run("export", "my.labels", *words))
    assert not Path("my.labels").exists()
    assert len(json.loads(Path("labels.json").read_text(encoding="utf-8"))) == 2


def test_what_is_left_out_is_said(run: Run, write_folder: Any) -> None:
    write_folder()
    Path("labels.csv").write_text("id,label\na,left\nB,left\nc,rigth\nd,?\ne,\n", encoding="utf-8")
    done = ok(
        run("import", "my.labels", "labels.csv", "--graph", "graph", "--classes", "left,right", "--annotator", "ada")
    )
    assert done.stdout.splitlines() == [
        "Took 1 label, 1 skip and 0 notes from labels.csv into my.labels.",
        "Without an answer: 1.",
    ]
    told = done.stderr.splitlines()
    assert "Nodes that are not in the graph, left out: 1 ('B'): did you mean 'b'?" in told
    assert "Labels that are none of the classes, left out: 1 ('rigth')" in told
    with LabelLog(Path("my.labels")) as log:
        assert {act.annotator for act in log.acts()} == {"ada"}


def test_a_folder_of_rounds(run: Run, write_folder: Any) -> None:
    write_folder()
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds"))
    nodes = [row["id"] for row in csv.DictReader(Path("picks.csv").read_text(encoding="utf-8").splitlines())]
    Path("told.csv").write_text(f"id,label\n{nodes[0]},x\n{nodes[1]},y\n", encoding="utf-8")
    ok(run("import", "rounds", "told.csv", "--graph", "graph"))
    assert labels_in("rounds/labels.sqlite") == dict(zip(nodes, "xy", strict=True))
    ok(run("export", "rounds", "--out", "out.csv"))
    ok(run("select", "graph", "-b", 2, "--rounds", "rounds", "--out", "more.csv"))
    with alone_at(Path("rounds")):
        told = refused(run("import", "rounds", "told.csv"))
    assert told.startswith("Error: rounds must be written by one run at a time")


def test_what_a_person_typed_is_not_lost(run: Run, labels: Path) -> None:
    ok(run("export", "my.labels"))
    text = Path("labels.csv").read_text(encoding="utf-8")
    Path("labels.csv").write_text(text + "e,right,ada,,,\n", encoding="utf-8")
    told = refused(run("export", "my.labels"))
    assert told == (
        "Error: labels.csv must not be overwritten; found answers that are not in the label log: "
        "1 (label of node e): choose another place or pass --force (force=True in Python)."
    )
    ok(run("import", "my.labels", "labels.csv"))
    assert labels_in("my.labels")["e"] == "right"
    ok(run("export", "my.labels", "--force"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "export nowhere.labels",
            "nowhere.labels must be a label log; found no such file: "
            "check the path, or list nodes to label with --nodes.",
        ),
        (
            "export .",
            ". must be a label log or a folder of select --rounds; found a folder without labels.sqlite: "
            "check the path.",
        ),
        ("export text.csv", "text.csv must be a label log that can be read and written; found file is not a database"),
        (
            "export my.labels --format xml",
            "format must be one of csv, jsonl, label-studio; found 'xml': choose one of them.",
        ),
        (
            "export my.labels --format jsonl -o x.csv",
            "out must end in .jsonl for the format jsonl; found 'x.csv': write to x.jsonl.",
        ),
        ("export my.labels --config c.xml", "config must go with --format label-studio; found csv: leave it out."),
        (
            "export my.labels --classes a",
            "classes must go with --config; found no --config: leave it out, or add --config FILE.",
        ),
        ("export my.labels --nodes text.csv", "nodes must go with --graph; found no --graph: add --graph GRAPH."),
        (
            "export my.labels --format label-studio --config c.txt",
            "config must end in .xml; found 'c.txt': write to c.xml.",
        ),
        ("import new.labels nowhere.json", "nowhere.json must be a file; found no such file: check the path."),
        (
            "import new.labels text.csv",
            "text.csv must have a column 'id'; found the columns some text: name a column id.",
        ),
        ("import new.labels text.json", "text.json must be JSON or JSON lines, undamaged; found this: Expecting value"),
        ("import nowhere/new.labels x.csv", "nowhere/new.labels must be a label log that can be read and written"),
    ],
)
def test_bad_input(
    run: Run, labels: Path, words: str, message: str, contents: Callable[[], dict[str, bytes | None]]
) -> None:
    Path("text.csv").write_text("some text\n1\n", encoding="utf-8")
    Path("text.json").write_text("some text", encoding="utf-8")
    Path("x.csv").write_text("id,label\na,b\n", encoding="utf-8")
    before = contents()
    assert refused(run(*words.split())).startswith(f"Error: {message}")
    assert contents() == before


def test_a_model_is_trained_on_an_export_as_the_log_has_it(run: Run, labels: Path, write_folder: Any) -> None:
    write_folder()
    with LabelLog(labels) as log:
        log.tell({"a": "right"}, annotator="edsger")
        log.adjudicate("a", "left", annotator="ada")
        log.note("e", "no answer", annotator="ada")
    ok(run("export", "my.labels"))
    for rule in ("error", "majority", "latest"):
        done = ok(run("train", "graph", "--labels", "labels.csv", "--on-conflict", rule))
        assert "Trained on 3 labels of 2 classes: 2 left, 1 right." in done.stdout, "the verdict counts, not most votes"
    assert "Skips, not labels: 1 ('d': skip)" in done.stderr
    assert "1 node has several answers, 0 of them one label (0%)" in done.stderr, "a verdict is no answer of one's own"


def test_what_the_sheets_of_a_round_settle_counts_against_most_votes(run: Run, write_folder: Any) -> None:
    write_folder()
    Path("first.csv").write_text("id,label,annotator\na,x,ada\na,x,grace\nc,y,ada\n", encoding="utf-8")
    ok(run("select", "graph", "-b", 1, "--rounds", "rounds", "--labels", "first.csv"))
    with LabelLog(Path("rounds/labels.sqlite")) as log:
        log.tell({"a": "x"}, annotator="edsger")
    Path("second.csv").write_text("id,label,annotator\na,y,grace\n", encoding="utf-8")
    words = ["--labels", "first.csv", "--labels", "second.csv", "--on-conflict", "latest", "--out", "more.csv"]
    ok(run("select", "graph", "-b", 1, "--rounds", "rounds", *words))
    assert labels_in("rounds/labels.sqlite")["a"] == "y"


def test_a_model_is_trained_on_the_log_itself_with_an_open_disagreement(
    run: Run, labels: Path, write_folder: Any
) -> None:
    write_folder()
    done = ok(run("train", "graph", "--labels", "my.labels"))
    assert "Trained on 3 labels of 2 classes" in done.stdout
    assert "must be a label log" in refused(run("train", "graph", "--labels", "gone.labels"))
    told = refused(run("train", "graph", "--labels", "my.labels", "--classes", "left"))
    assert "my.labels must have labels of --classes; found 'right'" in told


@pytest.mark.parametrize("name", ["my.labels", "answers.sqlite", "without-ending", "rounds"])
def test_a_log_is_read_whatever_its_name_and_beside_sheets(
    run: Run, labels: Path, write_folder: Any, name: str
) -> None:
    write_folder()
    if name == "rounds":
        Path("rounds").mkdir()
        name = "rounds/labels.sqlite"
    labels.rename(name)
    place = name.removesuffix("/labels.sqlite")
    assert "Trained on 3 labels of 2 classes" in ok(run("train", "graph", "--labels", place)).stdout
    Path("more.csv").write_text("id,label\nc,Right\ne,right\n", encoding="utf-8")
    for sheets in ([place, "more.csv"], ["more.csv", place]):
        words = [word for each in sheets for word in ("--labels", each)]
        assert "Trained on 4 labels of 2 classes: 2 left, 2 right." in ok(run("train", "graph", *words)).stdout
    told = refused(run("select", "graph", "-b", 1, *words))
    assert "there are no more nodes that may be chosen" in told, "what is skipped in the log is not asked for again"
    Path("more.csv").write_text("id,label\nc,left\n", encoding="utf-8")
    told = refused(run("train", "graph", *words))
    assert f"more.csv and {place} must give a node one label; found 1 (node 'c': 'left'" in told
    done = ok(run("train", "graph", *words, "--on-conflict", "latest"))
    assert "Trained on 3 labels" in done.stdout


def test_two_logs_are_one_set_of_labels(run: Run, labels: Path, write_folder: Any) -> None:
    write_folder()
    with LabelLog(Path("two.labels")) as log:
        log.tell({"e": "right", "d": "?"}, annotator="ada")
    done = ok(run("train", "graph", "--labels", "my.labels", "--labels", "two.labels"))
    assert "Trained on 5 labels of 3 classes: 1 ?, 2 left, 2 right." in done.stdout, "a class of a log is no skip"
    told = refused(run("train", "graph", "--labels", "my.labels", "--labels", "two.labels", "--classes", "left,right"))
    assert "two.labels must have labels of --classes; found '?'" in told


def test_classes_of_a_log_that_are_written_in_several_ways_are_one(run: Run, write_folder: Any) -> None:
    write_folder()
    with LabelLog(Path("my.labels")) as log:
        log.name_classes(["LEFT"])
        log.tell({"a": "left", "b": "left", "c": "right", "d": "Left", "e": "right"}, annotator="ada")
        log.tell({"c": "Left"}, annotator="grace")
        log.tell({"c": "left"}, annotator="tom")
    done = ok(run("train", "graph", "--labels", "my.labels"))
    assert "Trained on 5 labels of 2 classes: 4 left, 1 right." in done.stdout, (
        "two people say left of c, each in their way"
    )
    assert "Labels written in several ways are one class: 'Left' (2) read as 'left'" in done.stderr
    done = ok(run("train", "graph", "--labels", "my.labels", "--classes", "Left,right"))
    assert "4 Left, 1 right." in done.stdout
    told = refused(run("train", "graph", "--labels", "my.labels", "--classes", "Left"))
    assert "my.labels must have labels of --classes; found 'right'" in told


def test_labels_of_a_log_keep_their_types(run: Run, write_folder: Any) -> None:
    write_folder()
    with LabelLog(Path("my.labels")) as log:
        log.tell({"a": 1, "b": "1", "c": "x"})
    done = ok(run("train", "graph", "--labels", "my.labels"))
    assert "Trained on 3 labels of 3 classes: 1 1, 1 1, 1 x." in done.stdout
    assert "one class" not in done.stderr


def test_a_class_called_like_a_skip_or_like_nothing_goes_out_and_in_again(run: Run, write_folder: Any) -> None:
    write_folder()
    with LabelLog(Path("my.labels")) as log:
        log.tell({"a": "skip", "b": "NULL", "c": "ok"})
        log.skip("d")
        log.adjudicate("e", "n/a")
    ok(run("export", "my.labels"))
    for words in ([], ["--classes", "ok,skip,NULL,n/a"]):
        done = ok(run("train", "graph", "--labels", "labels.csv", *words))
        assert "Trained on 4 labels of 4 classes: 1 NULL, 1 n/a, 1 ok, 1 skip." in done.stdout
        assert "Skips, not labels: 1 ('d': skip)" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("said.json", "[]", []),
        ("said.jsonl", "", []),
        ("said.json", '{"a": 1}', []),
        ("said.csv", "id,label\na,\n", []),
        ("said.csv", "id,label\na,x\n", ["--classes", "y"]),
        ("said.csv", "id,label\na,x\n", ["--classes", ","]),
    ],
)
def test_a_file_of_which_nothing_is_taken_leaves_nothing(
    run: Run, contents: Callable[[], dict[str, bytes | None]], name: str, content: str, options: list[str]
) -> None:
    Path(name).write_text(content, encoding="utf-8")
    before = contents()
    done = run("import", "new.labels", name, *options)
    assert done.exit_code == 2
    *_, last = done.stderr.splitlines()
    nothing = f"{name} must hold an answer that can be taken; found none: check the file, and what is left out above."
    assert last == f"Error: {nothing}" or "must name the classes" in last
    assert done.stdout == ""
    assert contents() == before


def test_an_audit_without_an_answer_is_something(run: Run, tmp_path: Path) -> None:
    Path("audit.csv").write_text("id,label,audit\na,,2.5\nb,,2.5\n", encoding="utf-8")
    assert "Nodes of an audit, which nothing learns from: 2." in ok(run("import", "new.labels", "audit.csv")).stdout
    assert "Took 0 labels" in ok(run("import", "new.labels", "audit.csv")).stdout
    with LabelLog(tmp_path / "new.labels") as log:
        assert log.audit() == {"a": 2.5, "b": 2.5}


def test_an_import_of_nothing_is_no_success(run: Run, write_folder: Any) -> None:
    write_folder()
    Path("strange.csv").write_text("id,label\nx1,left\nx2,right\n", encoding="utf-8")
    done = run("import", "my.labels", "strange.csv", "--graph", "graph")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "Nodes that are not in the graph, left out: 2" in done.stderr
    assert "Error: strange.csv must hold an answer that can be taken; found none" in done.stderr.splitlines()[-1]


def test_a_file_that_cannot_be_read_leaves_no_log(run: Run, tmp_path: Path) -> None:
    Path("bad.json").write_text("{", encoding="utf-8")
    refused(run("import", "new.labels", "bad.json"))
    assert not (tmp_path / "new.labels").exists()


def test_a_file_of_which_nothing_is_taken_makes_no_log(run: Run, tmp_path: Path) -> None:
    (tmp_path / "said.json").write_text('{"a": 1}', encoding="utf-8")
    done = run("import", "new.labels", "said.json", "--classes", "ok,review")
    assert done.exit_code == 2
    assert "Not understood, left out: 1 (number 1: no node_id)" in done.output
    assert not (tmp_path / "new.labels").exists()
    with LabelLog(tmp_path / "old.labels") as log:
        log.answer("a", "ok")
    assert run("import", "old.labels", "said.json").exit_code == 2
    with LabelLog(tmp_path / "old.labels") as log:
        assert log.labels() == {"a": "ok"}


def test_further_nodes_are_those_without_an_answer(run: Run, labels: Path, write_folder: Any) -> None:
    write_folder()
    Path("picks.csv").write_text("id\na\ne\n", encoding="utf-8")
    done = ok(run("export", "my.labels", "--graph", "graph", "--nodes", "picks.csv"))
    assert "and 1 further node to labels.csv" in done.stdout


def test_somebody_known_by_a_number_is_who_annotator_says(run: Run) -> None:
    row = {"node_id": "a", "node_label": "left", "annotator": 2, "annotation_id": 7}
    Path("min.json").write_text(json.dumps([row]), encoding="utf-8")
    done = ok(run("import", "warned.labels", "min.json"))
    assert "known by numbers only" in done.stderr
    ok(run("import", "named.labels", "min.json", "--annotator", "zoe"))
    with LabelLog(Path("named.labels")) as log:
        assert [act.annotator for act in log.acts()] == ["zoe"]
    Path("two.json").write_text(json.dumps([row, {**row, "annotator": 3}]), encoding="utf-8")
    told = refused(run("import", "two.labels", "two.json", "--annotator", "zoe"))
    assert "annotator must be one person; found 2 in the file, by number only" in told


def test_the_configuration_has_the_keys_of_the_page(run: Run, labels: Path) -> None:
    with LabelLog(labels) as log:
        log.name_classes(["right", "left"])
    ok(run("export", "my.labels", "--format", "label-studio", "--config", "config.xml"))
    text = Path("config.xml").read_text(encoding="utf-8")
    assert text.index('value="right" hotkey="1"') < text.index('value="left" hotkey="2"')


def test_a_model_is_trained_on_an_export_whose_names_look_like_formulas(run: Run, write_folder: Any) -> None:
    write_folder()
    with LabelLog(Path("my.labels")) as log:
        log.tell({"a": "=left", "b": "=left", "c": "-right"})
    ok(run("export", "my.labels"))
    assert "'=left" in Path("labels.csv").read_text(encoding="utf-8")
    done = ok(run("train", "graph", "--labels", "labels.csv"))
    assert "Trained on 3 labels of 2 classes: 1 -right, 2 =left." in done.stdout
