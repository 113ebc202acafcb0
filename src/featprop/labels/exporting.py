"""Export a label log for other tools: a sheet (CSV), doccano (JSON lines), Label Studio (JSON).

What is exported can be imported again: into an empty log it restores what holds, into its own log it changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from featprop.errors import shorten, unknown_choice
from featprop.graph import Graph
from featprop.ids import to_jsonable
from featprop.labels import label_studio
from featprop.labels.annotation import AUDIT, Annotation, Kind, to_record
from featprop.labels.classes import parse_classes
from featprop.labels.log import LabelLog
from featprop.labels.sheets import csv_chunks
from featprop.models import seeded_model

FORMATS = {"csv": ".csv", "jsonl": ".jsonl", "label-studio": ".json"}
"""Formats, and the suffix of files of each."""
MAX_CELL_CHARS = 2_000
MAX_COLUMNS = 50


def export_labels(
    labels: LabelLog,
    graph: Graph | None = None,
    format: str = "csv",
    *,
    nodes: Sequence[Hashable] = (),
    predict: Callable[[Hashable], Any] | None = None,
) -> bytes:
    """Return the current answers of a label log in the format of another tool.

    Parameters
    ----------
    labels
        The label log.
    graph
        The graph, for formats that show something of a node.
    format
        ``"csv"`` for a sheet with one row per answer, ``"jsonl"`` for doccano, ``"label-studio"`` for tasks with
        answers and predictions.
    nodes
        Further nodes to list without an answer.
    predict
        Returns what a model predicts for a node, as an object with `label` and `confidence`. If it is not given and
        there is a graph, the default model is trained on the labels.
    """
    check_format(format)
    if graph is not None:
        nodes = graph.ids[graph.positions(nodes)].tolist()
        graph.positions({each.node for each in labels.events() if each.node is not None}, "nodes in the label log")
    annotations, audit = _collect(labels, nodes), labels.audit()
    if format == "csv":
        return _write_sheet(annotations, audit)
    texts = describe_nodes(graph, list(dict.fromkeys(each.node for each in annotations)))
    if format == "jsonl":
        return _write_lines(annotations, texts, audit)
    known = {node: label for node, label in labels.consensus().sure.items() if node not in audit}
    if predict is None and graph is not None and len(set(known.values())) > 1:
        predict = _train(graph, known)
    return label_studio.write_tasks(annotations, texts, predict, f"featprop, {len(known):,} labels", audit)


def label_studio_config(
    labels: LabelLog, graph: Graph | None = None, classes: Iterable[Hashable] | None = None
) -> bytes:
    """Return the labelling configuration of Label Studio (XML) for what `export_labels` writes.

    Parameters
    ----------
    labels, graph
        As in `export_labels`.
    classes
        Classes to choose from, in their order; those of the log follow. Without any, the graph's own.
    """
    used = labels.classes()
    own = () if graph is None else graph.classes
    given = [] if classes is None else parse_classes(classes, [*own, *used])
    return label_studio.write_configuration(list(dict.fromkeys([*given, *used])) or own)


def check_format(name: str) -> None:
    """Refuse an unknown format."""
    if name not in FORMATS:
        raise unknown_choice("format", name, FORMATS)


def describe_nodes(graph: Graph | None, nodes: Sequence[Hashable]) -> dict[Hashable, str]:
    """Return the id of each node and its columns, one per line, without the label column that people could copy."""
    lines = {node: [f"{node}"] for node in nodes}
    if graph is not None and graph.table is not None:
        positions = pa.array(graph.positions(nodes))
        for title in graph.table.column_names[:MAX_COLUMNS]:
            values = graph.column(title)
            assert values is not None
            for node, value in zip(nodes, values.take(positions).to_pylist(), strict=True):
                if value is not None:
                    lines[node].append(f"{title}: {shorten(str(value), MAX_CELL_CHARS)}")
    return {node: "\n".join(described) for node, described in lines.items()}


def _collect(labels: LabelLog, nodes: Sequence[Hashable]) -> list[Annotation]:
    """Return answers and verdicts node by node, then nodes without an answer, then notes."""
    holding = labels.holding()
    answered = {each.node for each in holding}
    listed = dict.fromkeys([*labels.audit(), *nodes])
    open_ = [Annotation(node, None, Kind.OPEN) for node in listed if node not in answered]
    return [*holding, *open_, *labels.notes()]


def _write_sheet(annotations: Sequence[Annotation], audit: Mapping[Hashable, float]) -> bytes:
    rows = [{"id": str(each.node), **to_record(each)} for each in annotations]
    titles = ["id", *to_record(Annotation(None))]
    columns = {title: pa.array([row[title] for row in rows], pa.string()) for title in titles}
    if audit:
        columns[AUDIT] = pa.array([audit.get(each.node) for each in annotations], pa.float64())
    return b"".join(csv_chunks([pa.table(columns)]))


def _write_lines(
    annotations: Sequence[Annotation], texts: Mapping[Hashable, str], audit: Mapping[Hashable, float]
) -> bytes:
    """Return one JSON object per line for doccano, which keeps keys it does not know."""
    lines = []
    for each in annotations:
        row: dict[str, Any] = {"text": texts[each.node], **to_record(each)}
        row["label"] = [] if each.label is None else [str(each.label)]
        row["node_id"] = to_jsonable(each.node)
        if each.node in audit:
            row[AUDIT] = audit[each.node]
        lines.append(f"{json.dumps(row, ensure_ascii=False)}\n")
    return "".join(lines).encode()


def _train(graph: Graph, labels: Mapping[Hashable, Hashable]) -> Callable[[Hashable], label_studio.Prediction]:
    """Train the default model and return what it predicts for a node."""
    model = seeded_model(0, None).fit(graph, list(labels), list(labels.values()))
    probabilities = model.predict_proba(graph)

    def predict(node: Hashable) -> label_studio.Prediction:
        row = probabilities[graph.positions([node])[0]]
        return label_studio.Prediction(model.class_names_[int(row.argmax())], float(row.max()))

    return predict
