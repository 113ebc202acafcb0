"""The files people handle: the labelling sheet, filled label files, predictions.

A labelling sheet has one row a picked node and an empty ``label`` column for a person to fill. Any table with the
columns ``id`` and ``label`` can be read as labels. What a person typed is never overwritten unasked.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.errors import FileError, LabelError, ParameterError, first_five
from featprop.graph import Graph
from featprop.io.atomic import replacing_file
from featprop.io.tables import names, names_of, read_table

__all__ = ["LabelSheet", "check_may_write", "read_labels", "write_picks", "write_predictions"]

SHEET_COLUMNS = ("rank", "id", "represents", "mean_distance", "label")
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


def read_labels(paths: Sequence[Path], graph: Graph) -> LabelSheet:
    """Read one or several tables with the columns ``id`` and ``label`` into one set of labels."""
    label_of: dict[Hashable, str] = {}
    blank: dict[Hashable, None] = {}
    for path in paths:
        for node, label in _rows(path, graph):
            if not label:
                blank[node] = None
            elif label_of.setdefault(node, label) != label:
                found = f"{label_of[node]!r} and {label!r} for node {node!r}"
                cure = f"keep one of them{' in one of the sheets' if len(paths) > 1 else ''}"
                raise LabelError(f"{path}", "must give a node one label", found, cure)
    if not label_of:
        what = " and ".join(str(path) for path in paths)
        raise LabelError(what, "must have at least one label filled in", "none", "fill the label column")
    labels = names_of(pa.array(label_of.values(), pa.string()), typed=False).to_pylist()
    return LabelSheet(list(label_of), labels, [node for node in blank if node not in label_of])


def write_picks(
    path: Path, nodes: NDArray[Any], represents: NDArray[Any], spread: NDArray[Any], *, force: bool
) -> None:
    """Write the labelling sheet: one row a node, best first, with an empty label column."""
    check_may_write(path, force=force)
    with replacing_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(SHEET_COLUMNS)
        rows = zip(nodes.tolist(), represents.tolist(), spread.tolist(), strict=True)
        writer.writerows((rank, node, count, f"{mean:.6g}", "") for rank, (node, count, mean) in enumerate(rows, 1))


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
    with replacing_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*PREDICTION_COLUMNS, *(f"{PROBABILITY}{name}" for name in classes)])
        for node, choice, row in zip(nodes.tolist(), best.tolist(), probabilities.tolist(), strict=True):
            writer.writerow([node, classes[choice], f"{row[choice]:.4f}", *(f"{value:.4f}" for value in row)])


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
        except csv.Error:
            columns = ()
        if columns == SHEET_COLUMNS:
            typed = [row["id"] for row in rows if row["label"]]
        elif columns[:3] == PREDICTION_COLUMNS and _are_probabilities(columns[3:]):
            typed = [row["id"] for row in rows if _is_changed(row, columns[3:])]
        else:
            return "a file that featprop did not write"
    return f"labels that a person typed: {first_five(typed)}" if typed else None


def _are_probabilities(columns: tuple[str, ...]) -> bool:
    return len(columns) > 1 and all(column.startswith(PROBABILITY) for column in columns)


def _is_changed(row: dict[str, str], probabilities: tuple[str, ...]) -> bool:
    """Return whether the label of a prediction is not one of its likeliest classes."""
    label = row.get(f"{PROBABILITY}{row['label']}")
    return label is None or label != max(row[column] or "" for column in probabilities)


def _rows(path: Path, graph: Graph) -> list[tuple[Hashable, str]]:
    """Return the node and the label of each row, but for the empty rows a spreadsheet leaves at the end.

    Rows without a label are left out too unless the table is a labelling sheet: there they were asked for.

    An id is text or a number as the graph has it: a sheet that lists only 10 and 20 of a, b, 10, 20 holds texts.
    """
    table = read_table(path, text=["id", "label"])
    ids, labels = (names(table, name, path).cast(pa.string()).to_pylist() for name in ("id", "label"))
    read_id = str if graph.ids.dtype == object else _number
    pairs = zip(ids, labels, strict=True)
    rows = [(name and read_id(name), (label or "").strip()) for name, label in pairs if name or label]
    graph.positions([node for node, _ in rows], f"ids in {path}")
    is_sheet = "rank" in table.column_names
    return [(node, label) for node, label in rows if label or is_sheet]


def _number(text: str) -> Hashable:
    """Return the integer that is written so, or the text if none is."""
    return int(text) if re.fullmatch("0|-?[1-9][0-9]*", text) else text
