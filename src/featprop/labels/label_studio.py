"""Label Studio: write tasks and the labelling configuration, and read exports.

``data.node_id`` identifies the node of a task; Label Studio assigns new task ids. The ``meta`` of an
annotation keeps annotator and time: an unchanged choice stays the answer of that annotator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from featprop.errors import LabelError, ParameterError
from featprop.ids import to_jsonable
from featprop.labels.annotation import Annotation, Kind, parse_time, to_record
from featprop.labels.rows import Rows

if TYPE_CHECKING:
    from featprop.labels.exporting import Description

CONTROL = "node_label"
OURS = "featprop"
DRAWN = "featprop_audit"
HOTKEYS = "1234567890"


class Prediction(NamedTuple):
    """The most probable class of a node and its probability."""

    label: Hashable
    confidence: float


def write_configuration(classes: Sequence[Hashable]) -> bytes:
    """Return the labelling configuration (XML) for tasks with these classes."""
    names = [str(name) for name in classes]
    if not names:
        raise ParameterError("`classes` is empty.", hint="Name the classes.", parameter="classes")
    for name in names:
        if names.count(name) > 1:
            raise LabelError(f"Two classes are written {name!r}.", hint="Rename one of them.", value=name)
        if any(ord(character) < 32 and character not in "\t\r\n" for character in name):
            raise LabelError(f"The class {name!r} has control characters.", hint="Rename it.", value=name)
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Text", name="text", value="$text")
    ElementTree.SubElement(view, "Table", name="attributes", value="$attributes")
    choices = ElementTree.SubElement(
        view, "Choices", name=CONTROL, toName="text", choice="single-radio", required="true"
    )
    for place, name in enumerate(names):
        hotkey = {"hotkey": HOTKEYS[place]} if place < len(HOTKEYS) else {}
        ElementTree.SubElement(choices, "Choice", {"value": name, **hotkey})
    ElementTree.indent(view)
    return f"{ElementTree.tostring(view, encoding='unicode')}\n".encode()


def write_tasks(
    annotations: Sequence[Annotation],
    description: Description,
    predict: Callable[[Hashable], Any] | None,
    version: str,
    audit: Mapping[Hashable, float],
) -> bytes:
    """Return one task per node (JSON), with its annotations and a prediction.

    Parameters
    ----------
    annotations
        What people said; a node without an answer has one of kind ``""``.
    description
        What there is to read about the nodes.
    predict
        Returns what a model predicts for a node, as an object with `label` and `confidence`.
    version
        Name of that model.
    audit
        Audited nodes, whose predictions are not shown, and how many nodes each stands for.
    """
    of_node: dict[Hashable, list[Annotation]] = {}
    for each in annotations:
        of_node.setdefault(each.node, []).append(each)
    tasks = []
    for node, said in of_node.items():
        data = {
            "node_id": to_jsonable(node),
            "text": description.text(node),
            "attributes": description.attributes(node),
        }
        task: dict[str, Any] = {"data": data}
        notes = [to_record(each) for each in said if each.kind is Kind.NOTE]
        meta = {**({OURS: notes} if notes else {}), **({DRAWN: audit[node]} if node in audit else {})}
        if meta:
            task["meta"] = meta
        task["annotations"] = [_write_annotation(each) for each in said if each.kind not in (Kind.CELL, Kind.NOTE)]
        predicted = None if predict is None or node in audit else predict(node)
        if predicted is not None:
            score = round(min(1.0, max(0.0, float(predicted.confidence))), 4)
            task["predictions"] = [{"model_version": version, "score": score, "result": [_choice(predicted.label)]}]
        tasks.append(task)
    return json.dumps(tasks, ensure_ascii=False).encode() + b"\n"


def read_object(thing: Mapping[str, Any], rows: Rows, where: str) -> bool:
    """Read a task, or a row of JSON_MIN or CSV, into `rows`; False if the object is neither."""
    data = thing.get("data")
    if isinstance(data, Mapping):
        _read_task(thing, data, rows, where)
    elif "annotation_id" in thing or ("annotator" in thing and CONTROL in thing):
        _read_row(thing, rows, where)
    else:
        return False
    return True


def _read_task(task: Mapping[str, Any], data: Mapping[str, Any], rows: Rows, where: str) -> None:
    node = rows.node_in(data, where)
    meta = _object(task.get("meta"))
    if node is None or not rows.add_draw(node, meta.get(DRAWN), where):
        return
    notes = _objects(meta.get(OURS))
    for note in notes:
        rows.add_record(node, None, note, where)
    annotations = _objects(task.get("annotations") or task.get("completions"))
    for annotation in annotations:
        _read_annotation(node, annotation, rows, where)
    if not annotations and not notes:
        rows.blank.append(node)


def _read_annotation(node: Hashable, annotation: Mapping[str, Any], rows: Rows, where: str) -> None:
    record = _record_of(annotation, annotation.get("completed_by"), rows)
    key = f"label studio {annotation['id']}" if annotation.get("id") is not None else ""
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        ours = _object(annotation.get(OURS))
        skip = ours or {**record, "kind": Kind.SKIP}
        rows.add_record(node, None, skip, where, source=str(rows.path), key="" if ours else key)
        return
    results = [each for each in _objects(annotation.get("result")) if each.get("type") == "choices"]
    own = [each for each in results if each.get("from_name") == CONTROL] or results
    choices = [choice for each in own for choice in _read_choices(each.get("value"))]
    ours = _object(_object(own[0].get("meta")).get(OURS)) if own else {}
    if ours and choices == [ours.get("label")]:  # unchanged, so still the answer of that annotator
        rows.add_record(node, choices[0], ours, where, source=str(rows.path))
    else:
        _add_choice(node, choices, record, key, rows, where)


def _read_row(row: Mapping[str, Any], rows: Rows, where: str) -> None:
    """Read a row of JSON_MIN or CSV, in which there are no skips."""
    node = rows.node_in(row, where)
    if node is not None:
        key = f"label studio {row['annotation_id']}" if row.get("annotation_id") is not None else ""
        record = _record_of(row, row.get("annotator"), rows)
        _add_choice(node, _read_choices(row.get(CONTROL)), record, key, rows, where)


def _add_choice(
    node: Hashable, choices: Sequence[str], record: Mapping[str, Any], key: str, rows: Rows, where: str
) -> None:
    if len(choices) == 1:
        rows.add_record(node, choices[0], record, where, source=str(rows.path), key=key)
    elif choices:
        rows.unclear.append(f"{where}: {len(choices):,} choices for one node")
    else:
        rows.blank.append(node)


def _record_of(annotation: Mapping[str, Any], person: Any, rows: Rows) -> dict[str, Any]:
    """Return who answered and when."""
    times = [annotation.get(name) for name in ("updated_at", "created_at")]
    return {"annotator": _read_person(person, rows), "time": next(filter(parse_time, times), None)}


def _read_choices(value: Any) -> list[str]:
    """Return what was chosen: text, or an object with ``choices``."""
    if isinstance(value, Mapping):
        chosen = value.get("choices")
        return [each for each in chosen if isinstance(each, str)] if isinstance(chosen, list) else []
    if isinstance(value, str) and value.startswith('{"choices"'):
        try:
            return _read_choices(json.loads(value))
        except (ValueError, RecursionError):
            return [value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        return []
    return [str(value)] if str(value).strip() else []


def _read_person(value: Any, rows: Rows) -> str:
    """Return who answered, by address if there is one, else by number."""
    if isinstance(value, Mapping):
        value = value.get("email") or value.get("username") or value.get("id")
    if value is None or value == "":
        return ""
    if isinstance(value, str) and not value.isdigit():
        return value
    rows.numbered.add(f"user {value}")
    return f"user {value}"


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list, without the numbers that stand for predictions and drafts."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _write_annotation(each: Annotation) -> dict[str, Any]:
    written: dict[str, Any] = {"ground_truth": False, "was_cancelled": each.kind is Kind.SKIP, "result": []}
    if each.kind is Kind.SKIP:
        written[OURS] = to_record(each)
    else:
        written["result"] = [{**_choice(each.label), "meta": {OURS: to_record(each)}}]
    return written


def _choice(label: Hashable | None) -> dict[str, Any]:
    return {"from_name": CONTROL, "to_name": "text", "type": "choices", "value": {"choices": [str(label)]}}
