"""One contract over every exchange format: what is exported from a label log comes back, once, with its types."""

import csv
import datetime as dt
import io
import json
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featprop import labels as fp_labels
from featprop.graph import Graph
from featprop.labels import Imported, LabelLog, export_labels, import_labels
from featprop.labels.exporting import FORMATS
from tests.graphs import named


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def write_export(log: LabelLog, form: str, folder: Path, *arguments: Any) -> Path:
    path = folder / f"labels{FORMATS[form]}"
    path.write_bytes(export_labels(log, *arguments or (None,), form))
    return path


def standing(log: LabelLog) -> list[tuple[Any, ...]]:
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
    assert standing(other) == standing(log)
    assert other.labels() == log.labels() == {"a": "ok", "b": "ok", "c": "review"}
    assert other.skips() == log.skips()
    assert [note.text for note in other.notes()] == [note.text for note in log.notes()]
    assert export_labels(other, format=form) == path.read_bytes()


def test_export_into_its_own_log_changes_nothing(form: str, tmp_path: Path) -> None:
    log = labelled_log()
    path, before = write_export(log, form, tmp_path), log.events()
    assert import_labels(log, path) == Imported(repeated=9)
    assert log.events() == before
    log.answer("b", "fraud", annotator="ada")
    log.undo(annotator="grace")
    before = log.events()
    assert import_labels(log, path) == Imported(repeated=7, superseded=2), "later changes stay"
    assert log.events() == before


def test_audit_comes_back_and_stays_apart_from_labels(form: str, tmp_path: Path) -> None:
    log, other = audited_log(), LabelLog()
    path = write_export(log, form, tmp_path)
    done = import_labels(other, path)
    assert (done.taken, done.skipped, done.notes, done.audit) == (4, 1, 1, 3)
    assert (other.audit(), other.audited()) == (log.audit(), {"b": "left"})
    assert other.labels() == {"a": "left", "c": "right"}
    assert export_labels(other, format=form) == path.read_bytes()


def test_audit_into_its_own_log_changes_nothing(form: str, tmp_path: Path) -> None:
    log = audited_log()
    path, before = write_export(log, form, tmp_path), log.events()
    done = import_labels(log, path)
    assert (done.taken, done.audit, done.repeated) == (0, 0, 6)
    assert log.events() == before
    log.release_audit()
    import_labels(log, path)
    assert log.audit() == {}, "a released audit stays released"
    assert log.labels() == {"a": "left", "b": "left", "c": "right"}


NAMES = st.one_of(
    st.integers(-99, 99), st.text("aäß'\"<&,;\n|#= ", min_size=1, max_size=5).map(lambda text: f"x{text}x")
)


@given(answers=st.dictionaries(NAMES, st.tuples(st.sampled_from(["ada", ""]), st.sampled_from(["ok", "Größe <1>", 7]))))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_names_come_back(form: str, answers: dict[Any, tuple[str, Any]], tmp_path: Path) -> None:
    log, other = LabelLog(), LabelLog()
    for node, (annotator, label) in answers.items():
        log.tell({node: label}, annotator=annotator)
    import_labels(other, write_export(log, form, tmp_path))
    found, expected = other.labels(), log.labels()
    if form == "csv" and not all(isinstance(node, int) for node in answers):  # a column with text has only text
        found, expected = ({str(node): label for node, label in each.items()} for each in (found, expected))
    assert found == expected


TYPES: list[Hashable] = ["text", 7, 2.5, (0, "a"), dt.date(2026, 11, 16)]


@pytest.mark.parametrize("name", TYPES, ids=repr)
@pytest.mark.parametrize("way", ["sheet", "log", *FORMATS])
def test_ids_and_labels_of_every_type_come_back(tmp_path: Path, name: Hashable, way: str) -> None:
    graph = named([name, "other"], labels=[name, "b"])
    labels = {name: name, "other": "b"}
    with LabelLog(tmp_path / "my.labels") as log:
        log.tell(labels)
        path = tmp_path / f"labels{FORMATS.get(way, '.csv')}"
        if way == "sheet":
            fp_labels.write_labels(path, labels)
        elif way != "log":
            path.write_bytes(export_labels(log, graph, way))
    found = fp_labels.read(tmp_path / "my.labels" if way == "log" else path, graph)
    assert {node: (label, type(label)) for node, label in found.items()} == {
        node: (label, type(label)) for node, label in labels.items()
    }


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@me", "'=1", "''", "'quoted", "-1.5", "+2e3", "\tx", "plain"])
def test_no_cell_of_an_export_is_a_formula(tmp_path: Path, text: str) -> None:
    log, other = LabelLog(), LabelLog()
    log.answer(f"{text}n", f"{text.strip()}c", annotator="=ada")
    log.skip("other", f"{text} reason", annotator="=ada")
    path = write_export(log, "csv", tmp_path)
    for row in csv.reader(path.read_text(encoding="utf-8").splitlines()):
        assert not any(cell[:1] in tuple("=+@\t") or re.match(r"-[^\d]", cell) for cell in row)
    import_labels(other, path)
    assert standing(other) == standing(log)


def test_a_sheet_that_a_person_edits(tmp_path: Path) -> None:
    log = labelled_log()
    path = write_export(log, "csv", tmp_path)
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    place = next(number for number, row in enumerate(rows) if row[:3] == ["b", "ok", "ada"])
    rows[place][1], rows[place][5] = "review", "on second thoughts"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    assert import_labels(log, path) == Imported(taken=1, notes=1, repeated=8)
    assert log.labels()["b"] == "review"
    assert import_labels(log, path) == Imported(repeated=10)


def test_a_class_called_none_comes_back_from_an_export(tmp_path: Path) -> None:
    log, other = LabelLog(), LabelLog()
    log.tell({"a": "None", "b": "mild"})
    import_labels(other, write_export(log, "csv", tmp_path))
    assert other.labels() == {"a": "None", "b": "mild"}


def test_a_node_that_is_labelled_there_is_not_drawn(tmp_path: Path) -> None:
    other = LabelLog()
    other.tell({"b": "right"}, annotator="edsger")
    done = import_labels(other, write_export(audited_log(), "csv", tmp_path))
    assert done.audit == 2
    assert set(other.audit()) == {"d", "e"}


def test_the_columns_of_a_sheet(tmp_path: Path) -> None:
    text = export_labels(audited_log()).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0])[-1] == "audit"
    marks = {"a": "", "c": "", "b": "2.5", "d": "2.5", "e": "0.1"}
    assert {row["id"]: row["audit"] for row in rows} == marks
    log = LabelLog()
    log.tell({"a": "left"})
    assert b"audit" not in export_labels(log), "without an audit all is as before"


def test_label_studio_shows_no_prediction_of_it(line: Graph) -> None:
    tasks = json.loads(export_labels(audited_log(), line, "label-studio"))
    assert {task["data"]["node_id"] for task in tasks if "predictions" in task} == {"a", "c"}
