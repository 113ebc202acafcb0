"""JSON lines as doccano reads and writes them: one node a line, its classes in ``label``.

doccano keeps keys it does not know and writes them again, so ``node_id`` finds the node, and ``annotator``, ``time``,
``kind``, ``note`` and ``audit`` come back.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from featprop.ids import from_jsonable, to_jsonable
from featprop.io.answers import AUDIT
from featprop.labels.exchange.description import Description
from featprop.labels.exchange.said import KINDS, Heard, Said, time_of, written

__all__ = ["hear", "is_ours", "lines"]

KEYS = ("text", "label", "node_id", "annotator", "time", "kind", "note")
NODE_KEYS = ("node_id", "node", "nodeid")


def lines(said: Sequence[Said], description: Description, audit: Mapping[Hashable, float] = {}) -> bytes:
    """Return what was said, an object a line, with how many nodes each of the `audit` stands for."""
    listed = []
    for each in said:
        label = [] if each.label is None else [str(each.label)]
        values = (description.text(each.node), label, to_jsonable(each.node), each.annotator, written(each.time))
        row: dict[str, Any] = dict(zip(KEYS, (*values, each.kind, each.text), strict=True))
        if each.node in audit:
            row[AUDIT] = audit[each.node]
        listed.append(f"{json.dumps(row, ensure_ascii=False)}\n")
    return "".join(listed).encode()


def is_ours(thing: Mapping[str, Any]) -> bool:
    """Say whether an object is a line as `lines` writes it."""
    return tuple(thing) in (KEYS, (*KEYS, AUDIT))


def hear(thing: Mapping[str, Any], heard: Heard, where: str) -> None:
    """Take what an object says."""
    try:
        node: Hashable | None = next((from_jsonable(thing[key]) for key in NODE_KEYS if key in thing), None)
    except (ValueError, KeyError, TypeError, AttributeError):
        node = None
    if node is None or node == "":
        heard.unclear.append(f"{where}: no node_id")
        return
    if not heard.add_drawn(node, thing.get(AUDIT), where):
        return
    kind, who, time = thing.get("kind"), _text(thing.get("annotator")).strip(), time_of(thing.get("time"))
    mark = f"doccano {thing['id']}" if isinstance(thing.get("id"), int) else ""
    label = thing.get("label", thing.get("labels"))
    labels = [each for each in (label if isinstance(label, list) else [label]) if each not in (None, "")]
    note = _text(thing.get("note")) if kind in KINDS else _text(thing.get("note")).strip()
    before = len(heard.said), len(heard.unclear)
    if len(labels) > 1 or (labels and isinstance(labels[0], list | dict | bool)):
        heard.unclear.append(f"{where}: {len(labels):,} labels for one node" if labels[1:] else f"{where}: no class")
    elif labels:
        verdict = "adjudicate" if kind == "adjudicate" else "label"
        heard.add(Said(node, verdict, labels[0], annotator=who, time=time, mark=mark), where)
    elif kind == "skip":
        heard.add(Said(node, "skip", text=note, annotator=who, time=time, mark=mark), where)
    if note and kind != "skip":
        heard.add(Said(node, "note", text=note, annotator=who, time=time if kind in KINDS else None), where)
    comments = thing.get("Comments", thing.get("comments"))
    for comment in comments if isinstance(comments, list) else []:
        text = _text(comment.get("text") if isinstance(comment, Mapping) else comment).strip()
        if text:
            heard.add(Said(node, "note", text=text, annotator=who), where)
    heard.unanswered += before == (len(heard.said), len(heard.unclear))


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)
