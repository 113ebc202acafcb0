"""The rows of a file with labels, as they are written: a sheet, JSON of Label Studio, JSON lines of doccano."""

from __future__ import annotations

import json
import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from featprop.errors import FileError, LabelError, first_five, quote_error
from featprop.labels.annotation import Annotation, Kind, parse_time
from featprop.labels.sheets import unescape_formula
from featprop.sources.naming import ID_NAMES, find_column, names_in, no_column
from featprop.sources.tables import read_table

log = logging.getLogger(__name__)

AUDIT = "audit"
"""Column with the number of nodes that an audited node stands for."""
PROBABILITY = "probability_"
TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")
MAX_FILE_BYTES = 200 << 20
MAX_NAME_CHARS = 500
"""Longest id, class or annotator."""
MAX_NOTE_CHARS = 10_000
SAID = (Kind.LABEL, Kind.SKIP, Kind.VERDICT, Kind.NOTE)
"""Values of the column ``kind``."""


@dataclass
class Rows:
    """What a file holds, as written.

    Attributes
    ----------
    path
        The file.
    annotations
        Answers, notes and audit draws, with nodes and labels as they are written.
    blank
        Nodes listed without an answer.
    unclear
        Rows that could not be read, each in a few words.
    typed
        Whether the file distinguishes text from numbers, as Parquet does.
    numbered
        Annotators that the file knows by a number only.
    is_ranked
        Whether the file is a labelling sheet.
    missing_ids
        Number of rows with a label and no id.
    """

    path: Path
    annotations: list[Annotation] = field(default_factory=list)
    blank: list[Hashable] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    typed: bool = False
    numbered: set[str] = field(default_factory=set)
    is_ranked: bool = False
    missing_ids: int = 0

    def add(self, new: Annotation, where: str) -> None:
        """Add an annotation, unless it is longer or stranger than names and notes are."""
        found = (new.node, new.label, new.annotator)
        if any(isinstance(name, str) and len(name) > MAX_NAME_CHARS for name in found):
            self.unclear.append(f"{where}: a name of more than {MAX_NAME_CHARS:,} characters")
        elif len(new.text) > MAX_NOTE_CHARS:
            self.unclear.append(f"{where}: a note of more than {MAX_NOTE_CHARS:,} characters")
        elif not all(_is_encodable(text) for text in (*found, new.text) if isinstance(text, str)):
            self.unclear.append(f"{where}: invalid characters")
        elif not all(isinstance(name, Hashable) for name in found):
            self.unclear.append(f"{where}: a list or an object where a name was expected")
        else:
            self.annotations.append(new)

    def add_draw(self, node: Hashable, weight: Any, where: str) -> bool:
        """Add that a node was drawn for an audit, if it has a weight; False if the weight is not a number.

        Whether a model may learn from the label of such a node is unknown then.
        """
        if weight is None or weight == "":
            return True
        try:
            stands_for = float(weight)
        except (TypeError, ValueError):
            stands_for = 0.0
        if not 0 < stands_for < float("inf"):
            self.unclear.append(f"{where}: the audit weight is not a positive number")
            return False
        self.add(Annotation(node, None, Kind.AUDIT, text=repr(stands_for)), where)
        return True


def read_rows(path: Path, id_column: str | None = None) -> Rows:
    """Read a file of any supported format.

    Parameters
    ----------
    path
        The file.
    id_column
        Name of the id column in the graph's own table, if it has one.
    """
    from featprop.labels import doccano, label_studio

    _check_size(path)
    rows = Rows(path)
    if path.suffix.lower() in TABLES or path.suffix.lower() not in (".json", ".jsonl"):
        _read_table(path, rows, id_column)
        return rows
    for number, thing in enumerate(_read_json(path), 1):
        where = f"number {number:,}"
        if not label_studio.read_object(thing, rows, where):
            doccano.read_object(thing, rows, where)
    return rows


def read_ids(path: Path, id_column: str | None = None) -> Rows:
    """Read the ids of a table into the `blank` rows."""
    table = read_table(path)
    rows = Rows(path, typed=path.suffix.lower() == ".parquet")
    rows.blank = [node for node in _read_names(table, _id_column(table, path, id_column), rows) if node is not None]
    return rows


def parse_weights(texts: Sequence[str], path: Path) -> list[float | None]:
    """Return the audit weights of a column, None where there is none.

    A column without any number is the user's own. In any other, a word is an error: a damaged cell must not turn an
    audited label into a training label.
    """
    weights = [_parse_positive(text) for text in texts]
    if not any(weight is not None for weight in weights):
        return [None] * len(texts)
    for row, (text, weight) in enumerate(zip(texts, weights, strict=True), 1):
        if text and weight is None:
            message = f"Column {AUDIT!r} of {path} has {text!r} in row {row:,}, which is not a positive number."
            hint = "Correct it, or rename the column if it is your own."
            raise LabelError(message, hint=hint, path=path, row=row, column=AUDIT, value=text)
    return weights


def _read_table(path: Path, rows: Rows, id_column: str | None) -> None:
    """Read a table with the columns ``id`` and ``label``, or an export of Label Studio."""
    from featprop.labels import label_studio

    table = read_table(path)
    if {"annotation_id", "node_id", label_studio.CONTROL} <= set(table.column_names):
        for number, row in enumerate(table.to_pylist(), 1):
            label_studio.read_object(row, rows, f"row {number:,}")
        return
    rows.typed, rows.is_ranked = path.suffix.lower() == ".parquet", "rank" in table.column_names
    nodes = _read_names(table, _id_column(table, path, id_column), rows)
    label_column = find_column(table, ("label",), f"{path}")
    if label_column is None:
        raise no_column(table, "label", f"{path}", "name a column label")
    labels = [
        _strip(value)
        for value in names_in(table.column(label_column), label_column, f"{path}", typed=rows.typed).to_pylist()
    ]
    columns = {name: _read_texts(table, name, path) for name in ("annotator", "time", "kind", "note")}
    weights = parse_weights([text.strip() for text in _read_texts(table, AUDIT, path)], path)
    unweighted = sum(weight is None and label is not None for weight, label in zip(weights, labels, strict=True))
    if unweighted and any(weight is not None for weight in weights):
        log.info("%s: %d labelled rows have no audit weight; models learn from them", path, unweighted)
    is_copy = any(title.strip().casefold().startswith(PROBABILITY) for title in table.column_names)
    source = "" if is_copy and not rows.is_ranked else str(path)
    for number, (node, label) in enumerate(zip(nodes, labels, strict=True)):
        where = f"row {number + 1:,}"
        if node is None:
            if label is not None:
                rows.unclear.append(f"{where}: no id")
                rows.missing_ids += 1
            continue
        rows.add_draw(node, weights[number], where)
        said = {name: texts[number] for name, texts in columns.items()}
        _read_row(node, label, said, source if weights[number] is None else AUDIT, rows, where)


def _read_row(
    node: Hashable, label: Hashable | None, said: dict[str, str], source: str, rows: Rows, where: str
) -> None:
    kind, who, time = said["kind"].strip().casefold(), said["annotator"].strip(), parse_time(said["time"])
    is_export = kind in SAID
    note = said["note"] if is_export else said["note"].strip()
    if label is not None:
        means = Kind(kind) if kind in (Kind.LABEL, Kind.VERDICT) else Kind.CELL
        rows.add(Annotation(node, label, means, who, time, source=source), where)
    elif kind == Kind.SKIP:
        rows.add(Annotation(node, None, Kind.SKIP, who, time, source=source, text=note), where)
    elif kind != Kind.NOTE:
        rows.blank.append(node)
    if note and kind != Kind.SKIP:
        rows.add(Annotation(node, None, Kind.NOTE, who, time if is_export else None, text=note), where)


def _id_column(table: pa.Table, path: Path, own: str | None) -> str:
    """Return the column with the node ids: named as in the graph's own table, or one of the usual names."""
    if own is not None and own in table.column_names:
        return own
    found = find_column(table, ID_NAMES, f"{path}")
    if found is None:
        raise no_column(table, ID_NAMES[0], f"{path}", f"name a column {ID_NAMES[0]}")
    return found


def _read_names(table: pa.Table, title: str, rows: Rows) -> list[Any]:
    found: list[Any] = names_in(table.column(title), title, f"{rows.path}", typed=rows.typed).to_pylist()
    if not rows.typed:
        return found
    values = table.column(title).to_pylist()
    return [
        value if isinstance(value, Hashable) and name is not None else name
        for value, name in zip(values, found, strict=True)
    ]


def _read_texts(table: pa.Table, name: str, path: Path) -> list[str]:
    title = find_column(table, (name,), f"{path}")
    if title is None:
        return [""] * table.num_rows
    return ["" if value is None else unescape_formula(str(value)) for value in table.column(title).to_pylist()]


def _strip(value: Any) -> Any:
    return unescape_formula(value).strip() or None if isinstance(value, str) else value


def _parse_positive(text: str) -> float | None:
    """Read a positive number, with a decimal point or comma."""
    try:
        number = float(text.replace(",", ".", 1))
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


def _check_size(path: Path) -> None:
    if not path.is_file():
        reason = "it is a folder" if path.is_dir() else "there is no such file"
        raise FileError(f"Cannot read {path}: {reason}.", path=path)
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        message = f"{path} has {size / 1e6:,.0f} MB; a file with labels may have {MAX_FILE_BYTES / 1e6:,.0f} MB."
        raise FileError(message, hint="Split it into several files.", path=path)


def _read_json(path: Path) -> list[dict[str, Any]]:
    """Return the objects in a file of JSON or JSON lines."""
    content = path.read_bytes()
    try:
        text = content.decode(json.detect_encoding(content))
        if path.suffix.lower() == ".jsonl" and not text.strip():
            return []
        found = _parse_json(text)
        strange = [f"number {place}" for place, each in enumerate(found, 1) if not isinstance(each, dict)]
        if strange:
            raise ValueError(f"not an object: {first_five(strange)}")
        return found
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is damaged, or not JSON: {quote_error(error)}.", path=path) from error


def _parse_json(text: str) -> list[Any]:
    """Parse JSON or, if its first line is a whole object, JSON lines."""
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except json.JSONDecodeError:
        lines = text.split("\n")
        first = next((line for line in lines if line.strip()), "")
        try:
            is_object = isinstance(json.loads(first), dict)
        except ValueError:
            is_object = False
        if not is_object:
            raise
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise ValueError(f"{error.msg} in line {number}") from error
    return found


def _is_encodable(text: str) -> bool:
    """Return whether text can be stored: JSON may hold halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
