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
from featprop.labels.sheets import csv_header, csv_rows
from featprop.models import seeded_model

FORMATS = {"csv": ".csv", "jsonl": ".jsonl", "label-studio": ".json"}
"""Formats, and the suffix of files of each."""
TITLES = ("id", "label", "annotator", "time", "kind", "note")
"""Columns of an exported sheet; `AUDIT` follows if there is an audit."""
MAX_CELL_CHARS = 2_000
MAX_COLUMNS = 50
N_PROFILED = 200
"""Values that decide whether a column is text."""
MIN_MEAN_WORDS = 4
"""Mean number of words from which on a column is text to read."""


def export_labels(
    labels: LabelLog,
    graph: Graph | None = None,
    format: str = "csv",
    *,
    nodes: Sequence[Hashable] = (),
    predict: Callable[[Hashable], Any] | None = None,
) -> bytes:
    """Return all that holds in a label log in the format of another tool.

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
    said, audit = _collect(labels, nodes), labels.audit()
    if format == "csv":
        return _write_sheet(said, audit)
    if format == "jsonl":
        return _write_lines(said, Description(graph), audit)
    known = {node: label for node, label in labels.consensus().sure.items() if node not in audit}
    if predict is None and graph is not None:
        predict = _train(graph, known)
    return label_studio.write_tasks(said, Description(graph), predict, f"featprop, {len(known):,} labels", audit)


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


class Description:
    """What there is to read about the nodes of a graph; without a graph, their ids.

    The label column is left out, so that annotators cannot copy it.
    """

    def __init__(self, graph: Graph | None) -> None:
        self.graph = graph
        self._texts: list[str] = []
        self._position_of = {} if graph is None else {name: place for place, name in enumerate(graph.ids.tolist())}
        self._columns: dict[str, Any] = {}
        if graph is not None and graph.table is not None:
            titles = graph.table.column_names[:MAX_COLUMNS]
            self._columns = {name: graph.column(name) for name in titles}
            self._texts = [name for name, values in self._columns.items() if _is_text(values)]

    def text(self, node: Hashable) -> str:
        """Return the texts of a node, or its id if it has none."""
        cells = [self._cell(name, node) for name in self._texts]
        return "\n".join(filter(None, cells)) or str(node)

    def attributes(self, node: Hashable) -> dict[str, str]:
        """Return the other columns of a node and its number of neighbours."""
        if self.graph is None:
            return {"id": str(node)}
        position = self._position_of[node]
        cells = {name: self._cell(name, node) for name in self._columns if name not in self._texts}
        pointers = self.graph.adjacency.indptr
        neighbours = f"{int(pointers[position + 1] - pointers[position]):,}"
        return {"id": str(node), **{name: cell for name, cell in cells.items() if cell}, "neighbours": neighbours}

    def _cell(self, name: str, node: Hashable) -> str:
        value = self._columns[name][self._position_of[node]].as_py()
        return shorten("" if value is None else str(value), MAX_CELL_CHARS)


def _collect(labels: LabelLog, nodes: Sequence[Hashable]) -> list[Annotation]:
    """Return answers and verdicts node by node, then nodes without an answer, then notes."""
    holding = labels.holding()
    answered = {each.node for each in holding}
    listed = dict.fromkeys([*labels.audit(), *nodes])
    open_ = [Annotation(node, None, Kind.CELL) for node in listed if node not in answered]
    return [*holding, *open_, *labels.notes()]


def _write_sheet(annotations: Sequence[Annotation], audit: Mapping[Hashable, float]) -> bytes:
    columns: list[list[Any]] = [[] for _ in TITLES]
    for each in annotations:
        for column, cell in zip(columns, [str(each.node), *to_record(each).values()], strict=True):
            column.append(cell)
    titles = [*TITLES]
    arrays = [pa.array(column, pa.string()) for column in columns]
    if audit:
        titles.append(AUDIT)
        arrays.append(pa.array([audit.get(each.node) for each in annotations], pa.float64()))
    return csv_header(titles) + csv_rows(pa.Table.from_arrays(arrays, names=titles))


def _write_lines(annotations: Sequence[Annotation], description: Description, audit: Mapping[Hashable, float]) -> bytes:
    """Return one JSON object per line for doccano, which keeps keys it does not know."""
    lines = []
    for each in annotations:
        row: dict[str, Any] = {"text": description.text(each.node), **to_record(each)}
        row["label"] = [] if each.label is None else [str(each.label)]
        row["node_id"] = to_jsonable(each.node)
        if each.node in audit:
            row[AUDIT] = audit[each.node]
        lines.append(f"{json.dumps(row, ensure_ascii=False)}\n")
    return "".join(lines).encode()


def _train(graph: Graph, labels: Mapping[Hashable, Hashable]) -> Callable[[Hashable], label_studio.Prediction] | None:
    """Train the default model and return what it predicts for a node; None without labels of two classes."""
    if len(set(labels.values())) < 2:
        return None
    model = seeded_model(0, None).fit(graph, list(labels), list(labels.values()))
    probabilities = model.predict_proba(graph)

    def predict(node: Hashable) -> label_studio.Prediction:
        row = probabilities[graph.positions([node])[0]]
        return label_studio.Prediction(model.class_names_[int(row.argmax())], float(row.max()))

    return predict


def _is_text(values: pa.Array) -> bool:
    """Return whether a column holds text of several words, by its first values."""
    if not pa.types.is_string(values.type):
        return False
    first = [value for value in values[:N_PROFILED].to_pylist() if value]
    return bool(first) and sum(len(value.split()) for value in first) >= MIN_MEAN_WORDS * len(first)
