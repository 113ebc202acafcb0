"""Exchange formats: what is exported from a label log comes back, once, with its types; what does not fit is named."""

import csv
import datetime as dt
import io
import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest

from featprop import labels as fp_labels
from featprop.errors import FileError, GraphError
from featprop.graph import Graph
from featprop.labels import Imported, LabelLog, export_labels, import_labels
from featprop.labels.exporting import FORMATS
from tests.graphs import named
from tests.helpers import raises


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def write_export(log: LabelLog, form: str, folder: Path) -> Path:
    path = folder / f"labels{FORMATS[form]}"
    path.write_bytes(export_labels(log, None, form))
    return path


def write(path: Path, content: str | list[dict[str, Any]]) -> Path:
    """Write text, or JSON lines."""
    text = content if isinstance(content, str) else "".join(f"{json.dumps(line)}\n" for line in content)
    path.write_text(text, encoding="utf-8")
    return path


def holding(log: LabelLog) -> list[tuple[Any, ...]]:
    return [(each.node, each.kind, each.label, each.text, each.annotator, each.time) for each in log.holding()]


def labelled_log() -> LabelLog:
    """Two people, a disagreement that was settled, a skip, notes, a correction and something undone."""
    log = LabelLog()
    log.tell({"a": "ok", "b": "fraud", "c": "ok"}, annotator="ada")
    log.tell({"a": "fraud", "c": "review"}, annotator="grace")
    log.answer("b", "ok", annotator="ada")
    log.skip("d", 'blurred, "odd"', annotator="grace")
    log.note("a", " two\nlines ", annotator="ada")
    log.note("e", "ünlike", annotator="ada")
    log.adjudicate("a", "ok", annotator="grace")
    log.tell({"e": "ok"}, annotator="grace")
    log.undo(annotator="grace")
    return log


def audited_log() -> LabelLog:
    """Two labels, and an audit of three nodes: one has two answers, one is skipped, one is open."""
    log = LabelLog()
    log.tell({"a": "left", "c": "right"}, annotator="ada")
    log.draw_audit({"b": 2.5, "d": 2.5, "e": 0.1})
    log.tell({"b": "left"}, annotator="ada")
    log.tell({"b": "left"}, annotator="grace")
    log.skip("d", "blurred", annotator="ada")
    log.note("b", "odd", annotator="ada")
    return log


def test_export_into_an_empty_log(form: str, tmp_path: Path) -> None:
    log, other = labelled_log(), LabelLog()
    path = write_export(log, form, tmp_path)
    assert import_labels(other, path) == Imported(taken=6, skipped=1, notes=2)
    assert holding(other) == holding(log)
    assert [note.text for note in other.notes()] == [note.text for note in log.notes()]
    assert export_labels(other, format=form) == path.read_bytes()


def test_export_into_its_own_log(form: str, tmp_path: Path) -> None:
    log = labelled_log()
    path, before = write_export(log, form, tmp_path), log.events()
    assert import_labels(log, path) == Imported(repeated=9)
    assert log.events() == before
    log.answer("b", "fraud", annotator="ada")
    log.undo(annotator="grace")
    before = log.events()
    assert import_labels(log, path) == Imported(repeated=7, superseded=2), "later changes stay"
    assert log.events() == before


def test_an_undone_answer_of_a_renamed_class_does_not_come_back(form: str, tmp_path: Path) -> None:
    log = LabelLog()
    log.answer("a", "scam", annotator="ada")
    log.rename_class("scam", "fraud")
    path = write_export(log, form, tmp_path)
    log.undo(annotator="ada")
    assert import_labels(log, path).taken == 0
    assert log.labels() == {}


def test_an_export_does_not_take_back_a_later_name_of_a_class(form: str, tmp_path: Path) -> None:
    log = LabelLog()
    log.answer("a", "scam", annotator="ada")
    path = write_export(log, form, tmp_path)
    log.rename_class("scam", "fraud")
    assert import_labels(log, path).taken == 0
    assert log.labels() == {"a": "fraud"}


def test_an_audit_stays_apart_from_labels(form: str, tmp_path: Path) -> None:
    log, other = audited_log(), LabelLog()
    path = write_export(log, form, tmp_path)
    assert import_labels(other, path) == Imported(taken=4, skipped=1, notes=1, audit=3, unanswered=1)
    assert (other.audit(), other.audited()) == (log.audit(), {"b": "left"})
    assert other.labels() == {"a": "left", "c": "right"}
    assert export_labels(other, format=form) == path.read_bytes()
    before = log.events()
    assert import_labels(log, path) == Imported(repeated=6, known_audit=3, unanswered=1)
    assert log.events() == before
    log.release_audit()
    import_labels(log, path)
    assert log.audit() == {}, "a released audit stays released"


TYPES: list[Hashable] = ["a ß'\"<&,\n#=", 7, 2.5, (0, "a"), dt.date(2026, 11, 16)]


@pytest.mark.parametrize("name", TYPES, ids=repr)
@pytest.mark.parametrize("way", ["log", *FORMATS])
def test_ids_and_labels_of_every_type(tmp_path: Path, name: Hashable, way: str) -> None:
    graph, labels = named([name, "other"], labels=[name, "b"]), {name: name, "other": "b"}
    path = tmp_path / f"my{FORMATS.get(way, '.labels')}"
    with LabelLog(tmp_path / "my.labels") as log:
        log.tell(labels)
        if way != "log":
            path.write_bytes(export_labels(log, graph, way))
    found = fp_labels.read(path, graph)
    assert dict(found) == labels
    assert [type(label) for label in found.values()] == [type(label) for label in labels.values()]


def test_columns_of_an_export(line: Graph) -> None:
    text = export_labels(audited_log()).decode()
    assert {row["id"]: row["audit"] for row in csv.DictReader(io.StringIO(text))} == {
        "a": "", "c": "", "b": "2.5", "d": "2.5", "e": "0.1",
    }  # fmt: skip
    log = LabelLog()
    log.tell({"b": "left"}, annotator="ada")
    found = list(csv.DictReader(io.StringIO(export_labels(log, line, nodes=["d", "b", "d"]).decode())))
    assert list(found[0]) == ["id", "label", "annotator", "time", "kind", "note"]
    assert [(row["id"], row["label"], row["kind"]) for row in found] == [("b", "left", "label"), ("d", "", "")]
    first, second = map(json.loads, export_labels(log, line, "jsonl", nodes=["d"]).decode().splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {"text": "b", "label": ["left"], "node_id": "b", "annotator": "ada", "kind": "label", "note": ""}
    assert (second["node_id"], second["label"]) == ("d", [])


def test_nodes_of_another_graph_are_not_exported(line: Graph) -> None:
    log = LabelLog()
    with raises(GraphError):
        export_labels(log, line, nodes=["x"])
    log.tell({"x": "left"})
    with raises(GraphError):
        export_labels(log, line)


def test_import_reports_what_it_leaves_out(tmp_path: Path, line: Graph) -> None:
    table = "id,label\na,Left\nb,right\nx,left\nc,lfet\nd,?\ne,\ny,left\nx,right\n,left\n"
    log = LabelLog()
    found = import_labels(log, write(tmp_path / "s.csv", table), line, ["left", "right"], annotator="ada")
    assert found == Imported(
        taken=2,
        skipped=1,
        unanswered=1,
        unknown_nodes=("x", "y"),
        unknown_classes=("lfet",),
        unclear=("row 9: no id",),
    )
    assert (log.labels(), log.skips()) == ({"a": "left", "b": "right"}, {"d": "?"})
    assert {event.annotator for event in log.events()} == {"ada"}


def test_a_word_for_a_skip_or_for_nothing_may_be_a_class(tmp_path: Path) -> None:
    log = LabelLog()
    table = "id,label,kind\na,skip,\nb,skip,label\nc,None,\nd,None,label\n"
    assert import_labels(log, write(tmp_path / "s.csv", table)).unanswered == 1
    assert (log.labels(), log.skips()) == ({"b": "skip", "d": "None"}, {"a": "skip"})


def test_different_labels_of_one_person_need_times(tmp_path: Path) -> None:
    path, log = tmp_path / "sheet.csv", LabelLog()
    done = import_labels(log, write(path, "id,label,annotator\na,ok,ada\nb,ok,ada\na,fraud,ada\na,ok,bob\nb,Ok,ada\n"))
    assert (done.taken, done.unclear) == (2, ("node 'a': 'ok' and 'fraud' by ada",))
    assert {(each.node, each.annotator): each.label for each in log.holding()} == {
        ("b", "ada"): "ok",
        ("a", "bob"): "ok",
    }
    table = "id,label,annotator,time\na,ok,ada,2026-01-02T10:00:00\na,fraud,ada,2026-01-02T11:00:00\n"
    assert import_labels(log, write(path, table)).taken == 2
    assert {each.annotator: each.label for each in log.holding_of("a")} == {"ada": "fraud", "bob": "ok"}


DAMAGED = [
    "not json",
    '{"node_id": "a", "label": "\\ud800"}',
    '[{"data": {}}',
    '{"a": 1}\n{"b":\n',
    "[1, 2]",
    "7",
    '"text"',
    "[" * 100_000,
]


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
@pytest.mark.parametrize("content", [*map(str.encode, DAMAGED), b"\xff\xfe\xfd", b'[{"id": ' + b"9" * 5000 + b"}]"])
def test_damaged_json(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with raises(FileError, path=tmp_path / name) as caught:
        import_labels(LabelLog(), tmp_path / name)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_files_that_are_missing(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.csv", tmp_path / "nowhere.json", tmp_path):
        with raises(FileError, path=path):
            import_labels(LabelLog(), path)


def test_lines_of_doccano(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"id": 1, "text": "…", "node_id": "a", "label": ["ok"], "Comments": []},
        {"id": 2, "text": "…", "node_id": "b", "label": ["ok", "fraud"]},
        {"id": 3, "text": "…", "node_id": "c", "label": []},
        {"id": 4, "text": "…", "label": ["ok"]},
        {"id": 5, "text": "…", "node_id": "d", "label": "fraud"},
        {"node_id": "e", "label": [{"x": 1}]},
        *({"node_id": "f", "label": ["x"], "audit": weight} for weight in (-1, "many", [2], {"x": 1}, 1e999)),
        {"node_id": "g", "label": ["ok"], "audit": ""},
    ]
    log, path = LabelLog(), write(tmp_path / "ada.json", lines)
    first, second = (import_labels(log, path, annotator="ada") for _ in range(2))
    assert (first.taken, first.unanswered, len(first.unclear)) == (3, 1, 8)
    assert [line.split(":")[0] for line in first.unclear[:3]] == ["number 2", "number 4", "number 6"]
    assert (second.taken, second.repeated) == (0, 3)
    assert log.labels() == {"a": "ok", "d": "fraud", "g": "ok"}
    assert {event.annotator for event in log.events()} == {"ada"}
