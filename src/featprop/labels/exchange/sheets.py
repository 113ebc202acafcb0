"""Sheets: a table with a row for what each person said of each node, for people and spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from featprop.io.answers import AUDIT, audit_weights
from featprop.io.formulas import bare, shielded
from featprop.io.predictions import Predictions
from featprop.labels.exchange import label_studio
from featprop.labels.exchange.said import KINDS, Heard, Said, time_of, written
from featprop.sources.naming import ID_NAMES, find_column, names_in, no_column
from featprop.sources.tables import read_table

__all__ = ["TITLES", "hear", "sheet"]

TITLES = ("id", "label", "annotator", "time", "kind", "note")
"""The columns; where there is an audit, `AUDIT` after them."""


def sheet(said: Sequence[Said], audit: Mapping[Hashable, float] = {}) -> bytes:
    """Return what was said as CSV, with how many nodes each of the `audit` stands for."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*TITLES, AUDIT] if audit else TITLES)
    for each in said:
        label = "" if each.label is None else str(each.label)
        cells = (str(each.node), label, each.annotator, written(each.time), each.kind, each.text)
        row = list(map(shielded, cells))
        writer.writerow([*row, audit.get(each.node, "")] if audit else row)
    return text.getvalue().encode()


def hear(path: Path, heard: Heard) -> bool:
    """Take what a table says, of any kind that labels are read from, and say whether it has the columns of `sheet`.

    In a table of predictions only what a person changed counts. Without the column ``kind``, a label may be a word for
    a skip. A table that Label Studio wrote is read as such.
    """
    table = read_table(path)
    if {"annotation_id", "node_id", label_studio.CONTROL} <= set(table.column_names):
        for number, row in enumerate(table.to_pylist(), 2):
            label_studio.hear(row, heard, f"row {number:,}")
        return False
    nodes = _nodes(table, path)
    label_column = find_column(table, ("label",), f"{path}")
    if label_column is None:
        raise no_column(table, "label", f"{path}", "name a column label")
    labels = [text.strip() for text in _texts(table, label_column)]
    columns = {name: _column(table, name, path) for name in TITLES[2:]}
    weights = audit_weights([text.strip() for text in _column(table, AUDIT, path)], f"{path}")
    predictions = Predictions.of(table, label_column)
    if predictions is not None:
        predictions.check(f"{path}")
    for row, node in enumerate(nodes):
        where = f"row {row + 2:,}"
        label = labels[row] if predictions is None else _corrected(predictions, row)
        said = {name: texts[row] for name, texts in columns.items()}
        if node is None:
            if label:
                heard.unclear.append(f"{where}: no id")
        else:
            heard.add_drawn(node, weights[row], where)
            _hear_row(node, label, said, heard, where)
    return tuple(table.column_names) in (TITLES, (*TITLES, AUDIT))


def _hear_row(node: Hashable, label: str, said: dict[str, str], heard: Heard, where: str) -> None:
    kind, who, time = said["kind"].strip().casefold(), said["annotator"].strip(), time_of(said["time"])
    note = said["note"] if kind in KINDS else said["note"].strip()
    if label:
        verdict = "adjudicate" if kind == "adjudicate" else "label"
        heard.add(Said(node, verdict, label, annotator=who, time=time, by_hand=kind not in KINDS), where)
    elif kind == "skip":
        heard.add(Said(node, "skip", text=note, annotator=who, time=time), where)
    if note and kind != "skip":
        heard.add(Said(node, "note", text=note, annotator=who, time=time if kind in KINDS else None), where)
    heard.unanswered += not label and not note and kind != "skip"


def _nodes(table: pa.Table, path: Path) -> list[Any]:
    title = find_column(table, ID_NAMES, f"{path}")
    if title is None:
        raise no_column(table, ID_NAMES[0], f"{path}", f"name a column {ID_NAMES[0]}")
    found = names_in(table.column(title), title, f"{path}", typed=path.suffix.lower() == ".parquet").to_pylist()
    return [bare(name) if isinstance(name, str) else name for name in found]


def _corrected(predictions: Predictions, row: int) -> str:
    label, is_new = predictions.answer(row)
    return label if label is not None and is_new else ""


def _column(table: pa.Table, name: str, path: Path) -> list[str]:
    found = find_column(table, (name,), f"{path}")
    return [""] * table.num_rows if found is None else _texts(table, found)


def _texts(table: pa.Table, title: str) -> list[str]:
    return ["" if value is None else bare(str(value)) for value in table.column(title).to_pylist()]
