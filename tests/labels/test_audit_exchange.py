"""The mark of an audit goes to other tools and comes back: no label of it becomes one to learn from on the way."""

import csv
import io
import json
from pathlib import Path

import pytest

from featprop.graph import Graph
from featprop.labels import Imported, LabelLog, export_labels, import_labels
from featprop.labels.exporting import FORMATS

EVERY = pytest.mark.parametrize("name", FORMATS)


def audited() -> LabelLog:
    """Two labels, and an audit of three nodes: one has two answers, one is skipped, one is open."""
    log = LabelLog()
    log.tell({"a": "left", "c": "right"}, annotator="ada")
    log.draw_audit({"b": 2.5, "d": 2.5, "e": 0.1})
    log.tell({"b": "left"}, annotator="ada")
    log.tell({"b": "left"}, annotator="grace")
    log.skip("d", "blurred", annotator="ada")
    log.note("b", "odd", annotator="ada")
    return log


def written(log: LabelLog, name: str, folder: Path) -> Path:
    path = folder / f"labels{FORMATS[name]}"
    path.write_bytes(export_labels(log, format=name))
    return path


@EVERY
def test_an_audit_comes_back(name: str, tmp_path: Path) -> None:
    log, other = audited(), LabelLog()
    path = written(log, name, tmp_path)
    done = import_labels(other, path)
    assert (done.taken, done.skipped, done.notes, done.audit) == (4, 1, 1, 3)
    assert (other.audit(), other.audited()) == (log.audit(), {"b": "left"})
    assert other.labels() == {"a": "left", "c": "right"}
    assert export_labels(other, format=name) == path.read_bytes()


@EVERY
def test_taken_into_its_own_log_nothing_changes(name: str, tmp_path: Path) -> None:
    log = audited()
    path, before = written(log, name, tmp_path), log.events()
    done = import_labels(log, path)
    assert (done.taken, done.audit, done.repeated) == (0, 0, 6)
    assert log.events() == before
    log.release_audit()
    import_labels(log, path)
    assert log.audit() == {}, "what was released stays so"
    assert log.labels() == {"a": "left", "b": "left", "c": "right"}


def test_a_node_that_is_labelled_there_is_not_drawn(tmp_path: Path) -> None:
    other = LabelLog()
    other.tell({"b": "right"}, annotator="edsger")
    done = import_labels(other, written(audited(), "csv", tmp_path))
    assert done.audit == 2
    assert set(other.audit()) == {"d", "e"}


def test_the_columns_of_a_sheet(tmp_path: Path) -> None:
    text = export_labels(audited()).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0])[-1] == "audit"
    marks = {"a": "", "c": "", "b": "2.5", "d": "2.5", "e": "0.1"}
    assert {row["id"]: row["audit"] for row in rows} == marks
    log = LabelLog()
    log.tell({"a": "left"})
    assert b"audit" not in export_labels(log), "without an audit all is as before"


def test_label_studio_shows_no_prediction_of_it(line: Graph) -> None:
    tasks = json.loads(export_labels(audited(), line, "label-studio"))
    assert {task["data"]["node_id"] for task in tasks if "predictions" in task} == {"a", "c"}


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
