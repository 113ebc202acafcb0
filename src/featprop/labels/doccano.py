"""JSON lines for doccano: one node per line, its classes in ``label``.

doccano keeps keys it does not know, so ``node_id``, ``annotator``, ``time``, ``kind``, ``note`` and ``audit``
come back.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from featprop.ids import from_jsonable, to_jsonable
from featprop.labels.annotation import Annotation, Kind, parse_time, time_to_text
from featprop.labels.rows import AUDIT, SAID, Rows

if TYPE_CHECKING:
    from featprop.labels.exporting import Description

NODE_KEYS = ("node_id", "node", "nodeid")


def write_lines(annotations: Sequence[Annotation], description: Description, audit: Mapping[Hashable, float]) -> bytes:
    """Return annotations as one JSON object per line."""
    lines = []
    for each in annotations:
        row: dict[str, Any] = {
            "text": description.text(each.node),
            "label": [] if each.label is None else [str(each.label)],
            "node_id": to_jsonable(each.node),
            "annotator": each.annotator,
            "time": time_to_text(each.time),
            "kind": str(each.kind),
            "note": each.text,
        }
        if each.node in audit:
            row[AUDIT] = audit[each.node]
        lines.append(f"{json.dumps(row, ensure_ascii=False)}\n")
    return "".join(lines).encode()


def read_object(thing: Mapping[str, Any], rows: Rows, where: str) -> None:
    """Read one object into `rows`."""
    try:
        node: Hashable | None = next((from_jsonable(thing[key]) for key in NODE_KEYS if key in thing), None)
    except (ValueError, KeyError, TypeError, AttributeError):
        node = None
    if node is None or node == "":
        rows.unclear.append(f"{where}: no node_id")
        return
    if not rows.add_draw(node, thing.get(AUDIT), where):
        return
    kind, who, time = thing.get("kind"), _text(thing.get("annotator")).strip(), parse_time(thing.get("time"))
    key = f"doccano {thing['id']}" if isinstance(thing.get("id"), int) else ""
    label = thing.get("label", thing.get("labels"))
    labels = [each for each in (label if isinstance(label, list) else [label]) if each not in (None, "")]
    note = _text(thing.get("note")) if kind in SAID else _text(thing.get("note")).strip()
    before = len(rows.annotations), len(rows.unclear)
    if len(labels) > 1:
        rows.unclear.append(f"{where}: {len(labels):,} labels for one node")
    elif labels and isinstance(labels[0], list | dict | bool):
        rows.unclear.append(f"{where}: the label is not a class")
    elif labels:
        means = Kind.VERDICT if kind == Kind.VERDICT else Kind.LABEL
        rows.add(Annotation(node, labels[0], means, who, time, source=str(rows.path), key=key), where)
    elif kind == Kind.SKIP:
        rows.add(Annotation(node, None, Kind.SKIP, who, time, source=str(rows.path), key=key, text=note), where)
    if note and kind != Kind.SKIP:
        rows.add(Annotation(node, None, Kind.NOTE, who, time if kind in SAID else None, text=note), where)
    comments = thing.get("Comments", thing.get("comments"))
    for comment in comments if isinstance(comments, list) else []:
        text = _text(comment.get("text") if isinstance(comment, Mapping) else comment).strip()
        if text:
            rows.add(Annotation(node, None, Kind.NOTE, who, text=text), where)
    if before == (len(rows.annotations), len(rows.unclear)):
        rows.blank.append(node)


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)
