"""Label Studio: write tasks and the labelling configuration, and read exports.

``data.node_id`` identifies the node of a task; Label Studio assigns new task ids. The ``meta`` of an
annotation keeps annotator and time: an unchanged choice stays the answer of that annotator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from featprop.errors import ParameterError
from featprop.ids import to_jsonable
from featprop.labels.annotation import AUDIT, Annotation, Kind, to_record
from featprop.labels.classes import check_distinct
from featprop.labels.rows import Rows

CONTROL = "node_label"
OURS = "featprop"
DRAWN = "featprop_audit"


class Prediction(NamedTuple):
    """The most probable class of a node and its probability."""

    label: Hashable
    confidence: float


def write_configuration(classes: Sequence[Hashable]) -> bytes:
    """Return the labelling configuration (XML) for tasks with these classes."""
    if not classes:
        raise ParameterError("`classes` is empty.", hint="Name the classes.", parameter="classes")
    check_distinct(classes)
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Text", name="text", value="$text")
    choices = ElementTree.SubElement(
        view, "Choices", name=CONTROL, toName="text", choice="single-radio", required="true"
    )
    for name in classes:
        ElementTree.SubElement(choices, "Choice", value=str(name))
    ElementTree.indent(view)
    return f"{ElementTree.tostring(view, encoding='unicode')}\n".encode()


def write_tasks(
    annotations: Sequence[Annotation],
    texts: Mapping[Hashable, str],
    predict: Callable[[Hashable], Any] | None,
    version: str,
    audit: Mapping[Hashable, float],
) -> bytes:
    """Return one task per node (JSON), with its annotations and a prediction.

    Parameters
    ----------
    annotations
        The annotations; a node without an answer has one of kind ``""``.
    texts
        What there is to read about each node.
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
    for node, own in of_node.items():
        task: dict[str, Any] = {"data": {"node_id": to_jsonable(node), "text": texts[node]}, "meta": {}}
        notes = [to_record(each) for each in own if each.kind is Kind.NOTE]
        if notes:
            task["meta"][OURS] = notes
        if node in audit:
            task["meta"][DRAWN] = audit[node]
        task["annotations"] = [_write_annotation(each) for each in own if each.kind not in (Kind.OPEN, Kind.NOTE)]
        predicted = None if predict is None or node in audit else predict(node)
        if predicted is not None:
            score = round(min(1.0, max(0.0, float(predicted.confidence))), 4)
            task["predictions"] = [{"model_version": version, "score": score, "result": [_choice(predicted.label)]}]
        tasks.append(task)
    return json.dumps(tasks, ensure_ascii=False).encode() + b"\n"


def read_task(task: Mapping[str, Any], rows: Rows, where: str) -> None:
    """Read a task with its annotations into `rows`."""
    node, meta = rows.node_in(_object(task.get("data")), where), _object(task.get("meta"))
    if node is None:
        return
    found: list[tuple[str | None, Mapping[str, Any]]] = [(None, note) for note in _objects(meta.get(OURS))]
    annotations = _objects(task.get("annotations"))
    for annotation in annotations:
        labels, record = _read_annotation(annotation)
        if len(labels) > 1:
            rows.unclear.append(f"{where}: {len(labels):,} choices for one node")
        else:
            found.append((labels[0] if labels else None, record))
    if not found and not annotations:
        found.append((None, {}))
    for label, record in found:
        rows.add(where, node, label, {**record, AUDIT: meta.get(DRAWN)})


def _read_annotation(annotation: Mapping[str, Any]) -> tuple[list[str], Mapping[str, Any]]:
    """Return the choices of an annotation, and its record: an unchanged choice stays the answer of its annotator."""
    if annotation.get("was_cancelled"):
        return [], _object(annotation.get(OURS)) or {**_record_of(annotation), "kind": Kind.SKIP}
    results = [each for each in _objects(annotation.get("result")) if each.get("type") == "choices"]
    choices = [choice for each in results for choice in _choices_in(each)]
    ours = _object(_object(results[0].get("meta")).get(OURS)) if results else {}
    return choices, ours if choices == [ours.get("label")] else _record_of(annotation)


def _record_of(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Return who answered, by address if there is one, else by number, and when."""
    person = annotation.get("completed_by")
    if isinstance(person, Mapping):
        person = person.get("email") or person.get("username") or person.get("id")
    who = "" if person is None else f"user {person}" if str(person).isdigit() else str(person)
    return {"annotator": who, "time": annotation.get("updated_at") or annotation.get("created_at")}


def _choices_in(result: Mapping[str, Any]) -> list[str]:
    chosen = _object(result.get("value")).get("choices")
    return [each for each in chosen if isinstance(each, str)] if isinstance(chosen, list) else []


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
