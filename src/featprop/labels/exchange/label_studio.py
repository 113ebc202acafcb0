"""Label Studio: tasks and the labelling configuration for it, and what people answered there.

A task is found again by ``data.node_id``; Label Studio makes up numbers of its own. What a task already has as
annotations keeps in its ``meta`` who said it here and when: as long as nobody changes the choice it stays their answer,
whoever brought the tasks into Label Studio.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol
from xml.etree import ElementTree

from featprop.errors import LabelError, ParameterError
from featprop.ids import from_jsonable, to_jsonable
from featprop.labels.exchange.description import Description
from featprop.labels.exchange.said import KINDS, Heard, Said, time_of, written

__all__ = ["Guess", "configuration", "hear", "is_ours", "tasks"]

log = logging.getLogger(__name__)

CONTROL = "node_label"
OURS = "featprop"
DRAWN = "featprop_audit"
KEYS = "1234567890"
MOST_TASKS, MOST_BYTES = 250_000, 50_000_000
"""What Label Studio takes in one file."""


class Guess(Protocol):
    """What a model holds of a node."""

    @property
    def label(self) -> Hashable:
        """The likeliest class."""

    @property
    def confidence(self) -> float:
        """Its probability."""


def configuration(classes: Sequence[Hashable]) -> bytes:
    """Return the labelling configuration for tasks of these classes."""
    names = [str(name) for name in classes]
    if not names:
        raise ParameterError("classes", "must name at least one", "none", "name them: --classes a,b,c")
    for name in names:
        if names.count(name) > 1:
            raise LabelError("Classes", "must be written differently", f"{name!r} twice", "rename one of them")
        if any(ord(character) < 32 and character not in "\t\r\n" for character in name):
            raise LabelError("Classes", "must be text without control characters", repr(name), "rename it")
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Text", name="text", value="$text")
    ElementTree.SubElement(view, "Table", name="attributes", value="$attributes")
    choices = ElementTree.SubElement(
        view, "Choices", name=CONTROL, toName="text", choice="single-radio", required="true"
    )
    for place, name in enumerate(names):
        hotkey = {"hotkey": KEYS[place]} if place < len(KEYS) else {}
        ElementTree.SubElement(choices, "Choice", {"value": name, **hotkey})
    ElementTree.indent(view)
    return f"{ElementTree.tostring(view, encoding='unicode')}\n".encode()


def tasks(
    said: Sequence[Said],
    description: Description,
    guess: Callable[[Hashable], Guess | None] | None = None,
    version: str = OURS,
    audit: Mapping[Hashable, float] = {},
) -> bytes:
    """Return tasks, one a node, with what was said of them and what a model holds of them.

    Parameters
    ----------
    said
        What was said.
    description
        What there is to read of the nodes.
    guess
        What the model holds of a node.
    version
        The name of that model.
    audit
        How many nodes each of the audit stands for; what a model holds of these is not shown.
    """
    of_node: dict[Hashable, list[Said]] = {}
    for each in said:
        of_node.setdefault(each.node, []).append(each)
    listed = []
    for node, answers in of_node.items():
        task: dict[str, Any] = {
            "data": {
                "node_id": to_jsonable(node),
                "text": description.text(node),
                "attributes": description.attributes(node),
            }
        }
        notes = [_origin(each) for each in answers if each.kind == "note"]
        if notes:
            task["meta"] = {OURS: notes}
        if node in audit:
            task.setdefault("meta", {})[DRAWN] = audit[node]
        task["annotations"] = [_annotation(each) for each in answers if each.kind not in ("", "note")]
        guessed = None if guess is None or node in audit else guess(node)
        if guessed is not None:
            score = round(min(1.0, max(0.0, float(guessed.confidence))), 4)
            task["predictions"] = [{"model_version": version, "score": score, "result": [_choice(guessed.label)]}]
        listed.append(task)
    content = json.dumps(listed, ensure_ascii=False).encode()
    if len(listed) > MOST_TASKS or len(content) > MOST_BYTES:
        most = f"{MOST_TASKS:,} tasks or {MOST_BYTES / 1e6:.0f} MB a file"
        log.warning("Label Studio takes at most %s; these are %d tasks, %.0f MB", most, len(listed), len(content) / 1e6)
    return content + b"\n"


def is_ours(thing: Mapping[str, Any]) -> bool:
    """Say whether an object is a task as `tasks` writes it, which Label Studio has not touched."""
    return not thing.keys() - {"data", "meta", "annotations", "predictions"}


def hear(thing: Mapping[str, Any], heard: Heard, where: str) -> bool:
    """Take what an object of Label Studio says; False if it is none.

    It may be a task with its ``annotations``, or with ``completions`` as older versions wrote them, or a row of the
    export ``JSON_MIN`` or ``CSV``.
    """
    data = thing.get("data")
    if isinstance(data, Mapping):
        _hear_task(thing, data, heard, where)
    elif "annotation_id" in thing or ("annotator" in thing and CONTROL in thing):
        _hear_row(thing, heard, where)
    else:
        return False
    return True


def _hear_task(task: Mapping[str, Any], data: Mapping[str, Any], heard: Heard, where: str) -> None:
    node = _node(data, heard, where)
    if node is None:
        return
    meta = task.get("meta")
    if isinstance(meta, Mapping) and not heard.add_drawn(node, meta.get(DRAWN), where):
        return
    notes = _objects(meta.get(OURS)) if isinstance(meta, Mapping) else []
    for note in notes:
        heard.add(_said_here(node, note), where)
    annotations = _objects(task.get("annotations") or task.get("completions"))
    for annotation in annotations:
        _hear_annotation(node, annotation, heard, where)
    heard.unanswered += not annotations and not notes


def _hear_annotation(node: Hashable, annotation: Mapping[str, Any], heard: Heard, where: str) -> None:
    mark = f"label studio {annotation['id']}" if annotation.get("id") is not None else ""
    (who, numbered), time = _person(annotation.get("completed_by")), time_of(annotation.get("updated_at"))
    time = time or time_of(annotation.get("created_at"))
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        here = annotation.get(OURS)
        skip = Said(node, "skip", annotator=who, time=time, mark=mark, is_numbered=numbered)
        heard.add(_said_here(node, here) if isinstance(here, Mapping) else skip, where)
        return
    results = [each for each in _objects(annotation.get("result")) if each.get("type") == "choices"]
    own = [each for each in results if each.get("from_name") == CONTROL] or results
    choices = [choice for each in own for choice in _choices(each.get("value"))]
    if len(choices) != 1:
        if choices:
            heard.unclear.append(f"{where}: {len(choices):,} choices for one node")
        heard.unanswered += not choices
        return
    meta = own[0].get("meta")
    here = meta.get(OURS) if isinstance(meta, Mapping) else None
    if isinstance(here, Mapping) and here.get("label") == choices[0]:
        heard.add(_said_here(node, here), where)
    else:
        said = Said(node, "label", choices[0], annotator=who, time=time, mark=mark, is_numbered=numbered)
        heard.add(said, where)


def _hear_row(row: Mapping[str, Any], heard: Heard, where: str) -> None:
    """Take a row of JSON_MIN or CSV, in which there are no skips."""
    node = _node(row, heard, where)
    if node is None:
        return
    choices = _choices(row.get(CONTROL))
    if len(choices) == 1:
        mark = f"label studio {row['annotation_id']}" if row.get("annotation_id") is not None else ""
        time = time_of(row.get("updated_at")) or time_of(row.get("created_at"))
        who, numbered = _person(row.get("annotator"))
        said = Said(node, "label", choices[0], annotator=who, time=time, mark=mark, is_numbered=numbered)
        heard.add(said, where)
    elif choices:
        heard.unclear.append(f"{where}: {len(choices):,} choices for one node")
    else:
        heard.unanswered += 1


def _node(data: Mapping[str, Any], heard: Heard, where: str) -> Hashable | None:
    try:
        node: Hashable | None = from_jsonable(data.get("node_id"))
    except (ValueError, KeyError, TypeError, AttributeError):
        node = None
    if node is None or node == "":
        heard.unclear.append(f"{where}: no node_id")
        return None
    return node


def _choices(value: Any) -> list[str]:
    """Return what was chosen: text, or an object with ``choices``, whose parts may be a path down a tree."""
    if isinstance(value, Mapping):
        chosen = value.get("choices")
        return [each for each in chosen if isinstance(each, str)] if isinstance(chosen, list) else []
    if isinstance(value, str) and value.startswith('{"choices"'):
        try:
            return _choices(json.loads(value))
        except (ValueError, RecursionError):
            return [value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        return []
    return [str(value)] if str(value).strip() else []


def _person(value: Any) -> tuple[str, bool]:
    """Return who answered, by the address if it is there, else by the number the person has, and whether it is that."""
    if isinstance(value, Mapping):
        value = value.get("email") or value.get("username") or value.get("id")
    if value is None or value == "":
        return "", False
    is_name = isinstance(value, str) and not value.isdigit()
    return (value, False) if is_name else (f"user {value}", True)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list; the numbers that stand for predictions and drafts are none."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _annotation(said: Said) -> dict[str, Any]:
    annotation: dict[str, Any] = {"ground_truth": False, "was_cancelled": said.kind == "skip", "result": []}
    if said.kind == "skip":
        annotation[OURS] = _origin(said)
    else:
        annotation["result"] = [{**_choice(said.label), "meta": {OURS: _origin(said)}}]
    return annotation


def _choice(label: Hashable | None) -> dict[str, Any]:
    return {"from_name": CONTROL, "to_name": "text", "type": "choices", "value": {"choices": [str(label)]}}


def _origin(said: Said) -> dict[str, Any]:
    """Return who said what here, and when."""
    label = {} if said.label is None else {"label": str(said.label)}
    return {"annotator": said.annotator, "time": written(said.time), "kind": said.kind, **label, "note": said.text}


def _said_here(node: Hashable, origin: Mapping[str, Any]) -> Said:
    kind = origin.get("kind")
    return Said(
        node,
        kind if kind in KINDS else "label",
        origin.get("label"),
        str(origin.get("note") or ""),
        str(origin.get("annotator") or ""),
        time_of(origin.get("time")),
    )
