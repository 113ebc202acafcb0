"""What files say about nodes, as it is written: tables, JSON of Label Studio, JSON lines of doccano."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from featprop.errors import FileError, quote_error
from featprop.ids import from_jsonable
from featprop.labels.annotation import AUDIT, Annotation, Kind, parse_time
from featprop.labels.classes import kind_of_word
from featprop.labels.sheets import unescape_formula
from featprop.sources.naming import ID_NAMES, find_column, name_of, names_in, no_column
from featprop.sources.tables import read_table

RECORD = ("annotator", "time", "kind", "note", AUDIT)
"""What every exchange format says of an annotation besides its node and label."""


@dataclass
class Rows:
    """What a file says.

    Attributes
    ----------
    path
        The file.
    named
        Normalised names of the known classes: a cell of a sheet with one of them is neither a skip nor empty.
    annotations
        Answers, notes and audit draws.
    blank
        Nodes listed without an answer.
    empty
        Words that count as no answer, and how often each occurs.
    unclear
        Rows that could not be read, each in a few words.
    unknown_nodes
        Ids that the graph does not have.
    """

    path: Path
    named: Collection[str] = ()
    annotations: list[Annotation] = field(default_factory=list)
    blank: list[Hashable] = field(default_factory=list)
    empty: Counter[Hashable] = field(default_factory=Counter)
    unclear: list[str] = field(default_factory=list)
    unknown_nodes: list[Hashable] = field(default_factory=list)

    def add(
        self, where: str, node: Hashable, label: Hashable, record: Mapping[str, Any], *, is_cell: bool = False
    ) -> None:
        """Add what a row says of a node: a label or a skip, a note, and that the node was drawn for an audit.

        If the audit weight is not a number, nothing is added: whether a model may learn from the label is unknown then.

        Parameters
        ----------
        where
            The place of the row in the file.
        node, label
            The node, and the label or None.
        record
            The columns `RECORD`, those that are there.
        is_cell
            Whether a label may be a word for a skip or for nothing, unless the kind of the row says that it is a label.
        """
        kind, who, note = (_text(record.get(name)) for name in ("kind", "annotator", "note"))
        kind, who, time = kind.strip().casefold(), who.strip(), parse_time(record.get("time"))
        weight, source = _text(record.get(AUDIT)).strip(), str(self.path)
        if weight:
            stands_for = _parse_weight(weight)
            if stands_for is None:
                self.unclear.append(f"{where}: the audit weight {weight!r} is not a positive number")
                return
            self.annotations.append(Annotation(node, None, Kind.AUDIT, text=repr(stands_for)))
        if isinstance(label, str):
            label = name_of(label.strip()) if label.strip() else None
        if label is None:
            if kind == Kind.SKIP:
                self.annotations.append(Annotation(node, None, Kind.SKIP, who, time, source=source, text=note))
                return
            if kind != Kind.NOTE:
                self.blank.append(node)
        else:
            means = Kind(kind) if kind in (Kind.LABEL, Kind.VERDICT) else None
            means = means or (kind_of_word(label, self.named) if is_cell else Kind.LABEL)
            if means is Kind.OPEN:
                self.blank.append(node)
                self.empty[label] += 1
            elif means is Kind.SKIP:
                self.annotations.append(Annotation(node, None, means, who, time, source=source, text=str(label)))
            else:
                self.annotations.append(Annotation(node, label, means, who, time, source=source))
        if note.strip():
            self.annotations.append(Annotation(node, None, Kind.NOTE, who, time, text=note))

    def node_in(self, thing: Mapping[str, Any], where: str) -> Hashable | None:
        """Return the node that a JSON object is about; None, noted as unclear, if it names none."""
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            node: Hashable = from_jsonable(thing.get("node_id"))
            if node is not None and node != "":
                return node
        self.unclear.append(f"{where}: no node_id")
        return None


def read_rows(path: Path, id_column: str | None = None, named: Collection[str] = ()) -> Rows:
    """Read a file of any supported format.

    Parameters
    ----------
    path
        The file.
    id_column
        Name of the id column in the graph's own table, if it has one.
    named
        Normalised names of the known classes.
    """
    from featprop.labels import label_studio

    rows = Rows(path, named)
    if path.suffix.lower() not in (".json", ".jsonl"):
        _read_sheet(read_table(path), rows, id_column)
        return rows
    for number, thing in enumerate(_read_json(path), 1):
        read = label_studio.read_task if isinstance(thing.get("data"), dict) else _read_doccano
        read(thing, rows, f"number {number:,}")
    return rows


def read_id_rows(path: Path, id_column: str | None = None) -> Rows:
    """Read the ids of a table into the `blank` rows."""
    return Rows(path, blank=[node for node in _read_ids(read_table(path), id_column, path) if node is not None])


def _read_sheet(table: pa.Table, rows: Rows, id_column: str | None) -> None:
    """Read a table with the columns ``id`` and ``label``."""
    nodes = _read_ids(table, id_column, rows.path)
    title = find_column(table, ("label",), f"{rows.path}")
    if title is None:
        raise no_column(table, "label", f"{rows.path}", "Name the column of the labels `label`.")
    labels = _read_names(table, title, rows.path)
    columns = [_read_texts(table, name, rows.path) for name in RECORD]
    for number, (node, label, *texts) in enumerate(zip(nodes, labels, *columns, strict=True), 1):
        if node is not None:
            rows.add(f"row {number:,}", node, label, dict(zip(RECORD, texts, strict=True)), is_cell=True)
        elif label is not None and str(label).strip():
            rows.unclear.append(f"row {number:,}: no id")


def _parse_weight(weight: str) -> float | None:
    """Return the number of nodes that an audited node stands for; None for anything but a positive number."""
    try:
        stands_for = float(weight.replace(",", ".", 1))
    except ValueError:
        return None
    return stands_for if 0 < stands_for < float("inf") else None


def _read_ids(table: pa.Table, own: str | None, path: Path) -> list[Any]:
    """Return the node ids of a column that is named as in the graph's own table, or has one of the usual names."""
    title = own if own is not None and own in table.column_names else find_column(table, ID_NAMES, f"{path}")
    if title is None:
        raise no_column(table, ID_NAMES[0], f"{path}", f"Name the column of the node ids `{ID_NAMES[0]}`.")
    return _read_names(table, title, path)


def _read_names(table: pa.Table, title: str, path: Path) -> list[Any]:
    names = names_in(table.column(title), title, f"{path}", typed=False).to_pylist()
    return [unescape_formula(name) if isinstance(name, str) else name for name in names]


def _read_texts(table: pa.Table, name: str, path: Path) -> list[str]:
    title = find_column(table, (name,), f"{path}")
    if title is None:
        return [""] * table.num_rows
    return ["" if value is None else unescape_formula(str(value)) for value in table.column(title).to_pylist()]


def _read_doccano(thing: Mapping[str, Any], rows: Rows, where: str) -> None:
    """Read a line of doccano, which keeps the keys of an export that it does not know."""
    node = rows.node_in(thing, where)
    written = thing.get("label", {})
    labels = [each for each in (written if isinstance(written, list) else [written]) if each not in (None, "")]
    if len(labels) > 1 or not all(type(each) in (str, int) for each in labels):
        rows.unclear.append(f"{where}: the label is not a single class")
    elif node is not None:
        rows.add(where, node, labels[0] if labels else None, thing)


def _read_json(path: Path) -> list[dict[str, Any]]:
    """Return the objects in a file of JSON or JSON lines."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        try:
            content = json.loads(text)
        except ValueError:
            content = [json.loads(line) for line in text.split("\n") if line.strip()]
        found = content if isinstance(content, list) else [content]
        if not all(isinstance(each, dict) for each in found):
            raise ValueError("it contains values that are not objects")
        json.dumps(found, ensure_ascii=False).encode()  # JSON may hold halves of characters
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.", path=path) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is damaged, or not JSON: {quote_error(error)}.", path=path) from error
    return found


def _text(value: Any) -> str:
    return "" if value is None else str(value)
