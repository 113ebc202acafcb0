"""Out of a label log and into one: what is written comes back, once, and what cannot be taken is named."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from featprop.errors import FileError, GraphError
from featprop.graph import Graph
from featprop.labels import Imported, LabelLog, export_labels, import_labels, rows
from tests.helpers import raises


def test_what_cannot_be_taken_is_named_and_the_rest_taken(tmp_path: Path, line: Graph) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,label\na,Left\nb,right\nx,left\nc,lfet\nd,?\ne,\ny,left\nx,right\n,left\n", encoding="utf-8")
    log = LabelLog()
    found = import_labels(log, path, line, ["left", "right"], annotator="ada")
    assert found == Imported(
        taken=2,
        skipped=1,
        unanswered=1,
        unknown_nodes=("x", "y"),
        unknown_classes=("lfet",),
        unclear=("row 9: no id",),
    )
    assert log.labels() == {"a": "left", "b": "right"}
    assert log.skips() == {"d": "?"}
    assert {act.annotator for act in log.events()} == {"ada"}


def test_a_word_for_a_skip_may_be_a_class(tmp_path: Path) -> None:
    log = LabelLog()
    path = tmp_path / "labels.csv"
    path.write_text("id,label,kind\na,skip,\nb,skip,label\n", encoding="utf-8")
    import_labels(log, path)
    assert (log.labels(), log.skips()) == ({"b": "skip"}, {"a": "skip"})


def test_two_labels_of_one_person_for_a_node_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("id,label,annotator\na,ok,ada\nb,ok,ada\na,fraud,ada\na,ok,bob\nb,Ok,ada\n", encoding="utf-8")
    log = LabelLog()
    done = import_labels(log, path)
    assert (done.taken, done.unclear) == (2, ("node 'a': 'ok' and 'fraud' by ada",))
    assert {(act.node, act.annotator): act.label for act in log.holding()} == {("b", "ada"): "ok", ("a", "bob"): "ok"}
    path.write_text(
        "id,label,annotator,time\na,ok,ada,2026-01-02T10:00:00\na,fraud,ada,2026-01-02T11:00:00\n", encoding="utf-8"
    )
    assert import_labels(log, path).taken == 2
    assert {act.annotator: act.label for act in log.holding() if act.node == "a"} == {"ada": "fraud", "bob": "ok"}


def test_nodes_that_nobody_answered_are_listed(line: Graph) -> None:
    log = LabelLog()
    log.tell({"b": "left"})
    rows = list(csv.DictReader(io.StringIO(export_labels(log, line, nodes=["d", "b", "d"]).decode())))
    assert [(row["id"], row["label"], row["kind"]) for row in rows] == [("b", "left", "label"), ("d", "", "")]
    lines = [json.loads(text) for text in export_labels(log, line, "jsonl", nodes=["d"]).decode().splitlines()]
    assert [(each["node_id"], each["label"]) for each in lines] == [("b", ["left"]), ("d", [])]
    with raises(GraphError):
        export_labels(log, line, nodes=["x"])
    log.tell({"x": "left"})
    with raises(GraphError):
        export_labels(log, line)


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
@pytest.mark.parametrize(
    "content",
    [
        b"not json",
        b'[{"data": {}}',
        b'{"a": 1}\n{"b":\n',
        b"[1, 2]",
        b"7",
        b'"text"',
        b"[" * 100_000,
        b"\xff\xfe\xfd",
        b'[{"id": ' + b"9" * 5000 + b"}]",
    ],
)
def test_damaged_json_is_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with raises(FileError) as caught:
        import_labels(LabelLog(), path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_file_that_is_too_large_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_FILE_BYTES", 10)
    for name in ("x.json", "x.csv"):
        (tmp_path / name).write_text("id,label\na,b\n", encoding="utf-8")
        with raises(FileError):
            import_labels(LabelLog(), tmp_path / name)
    with raises(FileError):
        import_labels(LabelLog(), tmp_path / "nowhere.json")
    with raises(FileError):
        import_labels(LabelLog(), tmp_path)


def test_names_and_notes_have_a_length(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines: list[dict[str, Any]] = [
        {"node_id": "a" * 501, "label": ["x"]},
        {"node_id": "a", "label": ["x" * 501]},
        {"node_id": "a", "label": [], "note": "n" * 10_001},
        {"node_id": "a", "label": ["\ud800"]},
        {"node_id": "a", "label": [{"x": 1}]},
        {"node_id": "b", "label": ["x"]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    log = LabelLog()
    found = import_labels(log, path)
    assert (found.taken, len(found.unclear)) == (1, 5)
    assert log.labels() == {"b": "x"}


@pytest.mark.parametrize("weight", ["-1", '"many"', "[2]", '{"x": 1}', "1e999"])
def test_a_weight_that_is_none_is_told(weight: str, tmp_path: Path) -> None:
    path, log = tmp_path / "x.jsonl", LabelLog()
    path.write_text(f'{{"node_id": "a", "label": ["left"], "audit": {weight}}}\n')
    done = import_labels(log, path)
    assert len(done.unclear) == 1
    assert (done.taken, log.labels()) == (0, {}), "whether it is to be learnt from is not known"


def test_an_empty_mark_is_none(tmp_path: Path) -> None:
    path, log = tmp_path / "x.jsonl", LabelLog()
    path.write_text('{"node_id": "a", "label": ["left"], "audit": ""}\n')
    assert import_labels(log, path) == Imported(taken=1)
