"""JSON lines as doccano reads and writes them."""

import json
from pathlib import Path
from typing import Any

from featprop.labels import Imported, LabelLog, export_labels, import_labels


def taken(lines: list[dict[str, Any]], path: Path, **options: Any) -> tuple[LabelLog, Imported]:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "\n", encoding="utf-8")
    log = LabelLog()
    return log, import_labels(log, path, **options)


def test_a_line_by_hand() -> None:
    log = LabelLog()
    log.tell({3: "ok"}, annotator="ada")
    (line,) = export_labels(log, format="jsonl").decode().splitlines()
    row = json.loads(line)
    assert row.pop("time").endswith("+00:00")
    assert row == {"text": "3", "label": ["ok"], "node_id": 3, "annotator": "ada", "kind": "label", "note": ""}


def test_what_doccano_writes(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"id": 1, "text": "…", "node_id": "a", "label": ["ok"], "Comments": ["look again", {"text": "why?"}]},
        {"id": 2, "data": "…", "node_id": "b", "label": ["ok", "fraud"], "Comments": []},
        {"id": 3, "text": "…", "node_id": "c", "label": [], "Comments": []},
        {"id": 4, "text": "…", "label": ["ok"]},
        {"id": 5, "text": "…", "node_id": "d", "labels": "fraud"},
    ]
    log, found = taken(lines, tmp_path / "ada.jsonl", annotator="ada")
    unclear = ("number 2: 2 labels for one node", "number 4: no node_id")
    assert found == Imported(taken=2, notes=2, unanswered=1, unclear=unclear)
    assert log.labels() == {"a": "ok", "d": "fraud"}
    assert [(note.node, note.text) for note in log.notes()] == [("a", "look again"), ("a", "why?")]
    assert {act.annotator for act in log.events()} == {"ada"}
    assert import_labels(log, tmp_path / "ada.jsonl", annotator="ada") == Imported(
        repeated=4, unanswered=1, unclear=unclear
    )


def test_json_lines_under_another_name(tmp_path: Path) -> None:
    log, _ = taken([{"node_id": "a", "label": ["x"]}, {"node_id": "b", "label": ["x"]}], tmp_path / "all.json")
    assert log.labels() == {"a": "x", "b": "x"}


def test_a_label_that_was_changed_in_doccano(tmp_path: Path) -> None:
    log = LabelLog()
    log.tell({"a": "ok"}, annotator="ada")
    path = tmp_path / "all.jsonl"
    path.write_bytes(export_labels(log, format="jsonl").replace(b'["ok"]', b'["fraud"]'))
    assert import_labels(log, path) == Imported(taken=1)
    assert [(act.kind, act.label, act.annotator) for act in log.events()] == [
        ("label", "ok", "ada"),
        ("label", "fraud", "ada"),
    ]
