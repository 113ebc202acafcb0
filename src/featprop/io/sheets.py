"""The files people handle: the labelling sheet, filled label files, predictions.

A labelling sheet has one row a picked node and an empty ``label`` column for a person to fill. Any table with the
columns ``id`` and ``label`` can be read as labels. What a person typed is never overwritten unasked.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, LabelError, ParameterError, first_five
from featprop.graph import Graph, as_array
from featprop.io.atomic import replacing_file
from featprop.io.tables import column, name_of, names, read_table

__all__ = [
    "LabelSheet",
    "check_may_write",
    "read_ids",
    "read_labels",
    "write_labels",
    "write_picks",
    "write_predictions",
]

SHEET_COLUMNS: tuple[str, ...] = ("rank", "id", "represents", "mean_distance", "label")
BARE_COLUMNS: tuple[str, ...] = ("rank", "id", "label")
"""Of a sheet that does not describe its nodes."""

LABEL_COLUMNS = ("id", "label")
PREDICTION_COLUMNS = ("id", "label", "confidence")
PROBABILITY = "probability_"


@dataclass(frozen=True)
class LabelSheet:
    """What people have said of nodes.

    Attributes
    ----------
    nodes, labels
        The ids with a label and the label of each.
    blank
        The ids that are listed without one.
    """

    nodes: list[Hashable]
    labels: list[Hashable]
    blank: list[Hashable]


def read_labels(paths: Sequence[Path], graph: Graph, classes: Iterable[Hashable] = ()) -> LabelSheet:
    """Read one or several tables with the columns ``id`` and ``label`` into one set of labels.

    A label that is written as one of the `classes` known so far, or of the graph's own, is that one, whatever its type.
    Any other is a number or text by itself, so a class has one name in every sheet: ``1`` is 1, ``007`` is text.
    """
    known = {str(name): name for name in (*classes, *graph.classes)}
    label_of: dict[Hashable, Hashable] = {}
    blank: dict[Hashable, None] = {}
    for path in paths:
        for node, label in _rows(path, graph, known):
            if label is None:
                blank[node] = None
            elif label_of.setdefault(node, label) != label:
                found = f"{label_of[node]!r} and {label!r} for node {node!r}"
                cure = f"keep one of them{' in one of the sheets' if len(paths) > 1 else ''}"
                raise LabelError(f"{path}", "must give a node one label", found, cure)
    if not label_of:
        what = " and ".join(str(path) for path in paths)
        raise LabelError(what, "must have at least one label filled in", "none", "fill the label column")
    return LabelSheet(list(label_of), list(label_of.values()), [node for node in blank if node not in label_of])


def read_ids(path: Path, graph: Graph) -> list[Hashable]:
    """Read the nodes that a table with an ``id`` column lists, each once, in its order."""
    listed = [node for node in _nodes(read_table(path, text=["id"]), graph, path) if node is not None]
    if not listed:
        raise GraphError(f"{path}", "must list at least one node", "none", "fill the id column")
    graph.positions(listed, f"ids in {path}")
    return list(dict.fromkeys(listed))


def write_picks(
    path: Path,
    nodes: NDArray[Any],
    represents: NDArray[Any] | None,
    spread: NDArray[Any] | None,
    *,
    force: bool,
    first: Callable[[], None] | None = None,
) -> None:
    """Write the labelling sheet: one row a node, best first, with an empty label column.

    Parameters
    ----------
    represents, spread
        How many nodes each stands for and their mean distance to it; None for a sheet without these columns.
    first
        What must have succeeded before the written sheet appears at its place, such as keeping who was asked for.
    """
    check_may_write(path, force=force)
    titles, columns = BARE_COLUMNS, [pa.array(np.arange(1, len(nodes) + 1)), _cells(nodes.tolist())]
    if represents is not None and spread is not None:
        means = [float(f"{mean:.6g}") for mean in spread.tolist()]
        titles, columns = SHEET_COLUMNS, [*columns, pa.array(represents), pa.array(means, pa.float64())]
    _write(path, titles, [*columns, pa.nulls(len(nodes), pa.string())], first)


def write_labels(path: Path, labels: Mapping[Hashable, Hashable], *, force: bool) -> None:
    """Write the label of each node: a sheet that `read_labels` reads."""
    check_may_write(path, force=force)
    _write(path, LABEL_COLUMNS, [_cells(list(labels)), _cells(list(labels.values()))])


def write_predictions(
    path: Path,
    nodes: NDArray[Any],
    classes: Sequence[Hashable],
    probabilities: NDArray[np.float32],
    *,
    force: bool,
) -> None:
    """Write the likeliest class of every node, its probability, and the probability of each class."""
    check_may_write(path, force=force)
    best = probabilities.argmax(axis=1)
    label = _cells(list(classes)).take(pa.array(best))
    numbers = [probabilities.max(axis=1), *probabilities.T]
    rounded = [pa.array(np.round(column.astype(np.float64), 4)).cast(pa.decimal128(5, 4)) for column in numbers]
    titles = [*PREDICTION_COLUMNS, *(f"{PROBABILITY}{name}" for name in classes)]
    _write(path, titles, [_cells(nodes.tolist()), label, *rounded])


def check_may_write(path: Path, *, force: bool) -> None:
    """Refuse to write over a file unless featprop made it and no person has typed labels into it."""
    if path.suffix.lower() != ".csv":
        raise ParameterError("out", "must end in .csv", f"{path.name!r}", f"write to {path.stem}.csv")
    if path.is_dir():
        raise FileError(f"{path}", "must be a file", "a folder", "choose another --out")
    if force or not path.exists():
        return
    found = _worth_keeping(path)
    if found:
        raise FileError(f"{path}", "must not be overwritten", found, "choose another --out or pass --force")


def _worth_keeping(path: Path) -> str | None:
    """Say what in an existing file must not be lost, or None if featprop can make it again."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.DictReader(file)
        try:
            columns = tuple(rows.fieldnames or ())
            if columns in (SHEET_COLUMNS, BARE_COLUMNS):
                typed = [row["id"] for row in rows if row["label"]]
            elif columns[:3] == PREDICTION_COLUMNS and _are_probabilities(columns[3:]):
                typed = [row["id"] for row in rows if _is_changed(row, columns[3:])]
            else:
                return "a file that featprop did not write"
        except csv.Error:
            return "a file that featprop did not write"
    return f"labels that a person typed: {first_five(typed)}" if typed else None


def _are_probabilities(columns: tuple[str, ...]) -> bool:
    return len(columns) > 1 and all(column.startswith(PROBABILITY) for column in columns)


def _is_changed(row: dict[str, str], probabilities: tuple[str, ...]) -> bool:
    """Return whether the label of a prediction is not one of its likeliest classes."""
    label = row.get(f"{PROBABILITY}{row['label']}")
    return label is None or label != max(row[column] or "" for column in probabilities)


def _rows(path: Path, graph: Graph, known: Mapping[str, Hashable]) -> list[tuple[Hashable, Hashable | None]]:
    """Return the node and the label of each row, but for the empty rows a spreadsheet leaves at the end.

    Rows without a label are left out too unless the table is a labelling sheet: there they were asked for.
    """
    table = read_table(path, text=["id", "label"])
    is_typed = path.suffix.lower() == ".parquet"
    labels = [_label(label, known, is_typed) for label in names(table, "label", path).to_pylist()]
    pairs = zip(_nodes(table, graph, path), labels, strict=True)
    rows = [(node, label) for node, label in pairs if node is not None or label is not None]
    graph.positions([node for node, _ in rows], f"ids in {path}")
    is_sheet = "rank" in table.column_names
    return [(node, label) for node, label in rows if label is not None or is_sheet]


def _label(written: str | int | None, known: Mapping[str, Hashable], is_typed: bool) -> Hashable | None:
    text = "" if written is None else str(written).strip()
    if not text:
        return None
    if is_typed:
        written = written.strip() if isinstance(written, str) else written
        return written if written in known.values() or text not in known else known[text]
    return known.get(text, name_of(text))


def _nodes(table: pa.Table, graph: Graph, path: Path) -> list[Hashable | None]:
    """Return the ids of the graph that are written so, with the types they have there: ``(0, 1)`` may be a tuple.

    Parquet has types: a value that is an id of the graph is that one. Whatever else is written like two ids of the
    graph, the number 1 and the text 1, is an error. What is no id comes back as it is, nothing as None.
    """
    written = names(table, "id", path).to_pylist()
    if graph.ids.dtype.kind in "iu":
        return [name_of(name) if isinstance(name, str) else name for name in written]
    values = column(table, "id", path).to_pylist()
    known = {node: node for node in graph.ids.tolist()} if path.suffix.lower() == ".parquet" else {}
    wanted = {str(name) for name in written if name is not None}
    stands_for: dict[str, list[Hashable]] = {}
    for node in graph.ids.tolist():
        if (text := str(node)) in wanted:
            stands_for.setdefault(text, []).append(node)
    nodes: list[Hashable | None] = []
    for value, name in zip(values, written, strict=True):
        possible = [known[value]] if value in known else stands_for.get(str(name), [name])
        if name is not None and len(possible) > 1:
            found = f"{name}, which is {' and '.join(map(repr, possible))}"
            raise GraphError(f"ids in {path}", "must stand for one id of the graph each", found, "rename the nodes")
        nodes.append(None if name is None else possible[0])
    return nodes


def _cells(values: list[Any]) -> pa.Array:
    """Return ids or class names as a column: numbers if all are, text otherwise."""
    numbers = as_array(values)
    return pa.array([str(value) for value in values], pa.string()) if numbers.dtype == object else pa.array(numbers)


def _write(path: Path, titles: Sequence[str], columns: list[pa.Array], first: Callable[[], None] | None = None) -> None:
    from pyarrow import csv as arrow_csv

    with replacing_file(path) as temporary:
        with temporary.open("wb") as file:
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(titles)
            file.write(header.getvalue().encode())
            table = pa.Table.from_arrays(columns, names=list(titles))
            arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=False))
        if first is not None:
            first()
