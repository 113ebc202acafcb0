"""What files say about nodes, as it is written: tables, JSON of Label Studio, JSON lines of doccano."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from featprop.errors import FileError, quote_error
from featprop.ids import from_jsonable
from featprop.labels.annotation import AUDIT, SAID, Annotation, Kind, parse_time
from featprop.labels.sheets import unescape_formula
from featprop.sources.naming import ID_NAMES, find_column, names_in, no_column
from featprop.sources.tables import read_table

log = logging.getLogger(__name__)

PROBABILITY = "probability_"
RECORD = ("annotator", "time", "kind", "note")
"""What every exchange format says of an annotation besides its node and label."""
NODE_KEYS = ("node_id", "node", "nodeid")
MAX_FILE_BYTES = 200 << 20
MAX_NAME_CHARS = 500
"""Longest id, class or annotator."""
MAX_NOTE_CHARS = 10_000
SPACE = re.compile(r"\s*")


@dataclass
class Rows:
    """What a file says.

    Attributes
    ----------
    path
        The file.
    annotations
        Answers, notes and audit draws. A cell of a sheet has the kind ``""`` until `Vocabulary` interprets it.
    blank
        Nodes listed without an answer.
    unclear
        Rows that could not be read, each in a few words.
    unknown_nodes
        Ids that the graph does not have; None for a label without an id.
    unknown_classes
        Labels that are not among the allowed classes.
    typed
        Whether the file distinguishes text from numbers, as Parquet does.
    numbered
        Annotators that the file knows by a number only.
    is_ranked
        Whether the file is a labelling sheet.
    is_log
        Whether the file is a label log.
    """

    path: Path
    annotations: list[Annotation] = field(default_factory=list)
    blank: list[Hashable] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    unknown_nodes: list[Hashable] = field(default_factory=list)
    unknown_classes: list[Annotation] = field(default_factory=list)
    typed: bool = False
    numbered: set[str] = field(default_factory=set)
    is_ranked: bool = False
    is_log: bool = False

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
        stands_for = parse_weight(weight)
        if stands_for is None:
            self.unclear.append(f"{where}: the audit weight {weight!r} is not a positive number")
            return False
        self.add(Annotation(node, None, Kind.AUDIT, text=repr(stands_for)), where)
        return True

    def add_record(
        self,
        node: Hashable,
        label: Hashable | None,
        record: Mapping[str, Any],
        where: str,
        *,
        source: str = "",
        key: str = "",
        word: Kind = Kind.LABEL,
    ) -> None:
        """Add what a row says: a label or a skip, and a note.

        Parameters
        ----------
        node, label
            The node, and the label or None.
        record
            The columns `RECORD`, those that are there.
        where
            Place in the file, for messages.
        source, key
            Source and key of the annotation.
        word
            What a label is if the row does not say: a class, or a word to interpret.
        """
        kind, who, note = (_text(record.get(name)) for name in ("kind", "annotator", "note"))
        kind, who, when = kind.strip().casefold(), who.strip(), parse_time(record.get("time"))
        is_export = kind in SAID
        note = note if is_export else note.strip()
        if label is not None:
            means = Kind(kind) if kind in (Kind.LABEL, Kind.VERDICT) else word
            self.add(Annotation(node, label, means, who, when, source=source, key=key), where)
        elif kind == Kind.SKIP:
            self.add(Annotation(node, None, Kind.SKIP, who, when, source=source, key=key, text=note), where)
        elif kind != Kind.NOTE:
            self.blank.append(node)
        if note and kind != Kind.SKIP:
            self.add(Annotation(node, None, Kind.NOTE, who, when if is_export else None, text=note), where)

    def node_in(self, thing: Mapping[str, Any], where: str) -> Hashable | None:
        """Return the node that a JSON object is about; None, noted as unclear, if it names none."""
        try:
            node: Hashable | None = next((from_jsonable(thing[key]) for key in NODE_KEYS if key in thing), None)
        except (ValueError, KeyError, TypeError, AttributeError):
            node = None
        if node is None or node == "":
            self.unclear.append(f"{where}: no node_id")
            return None
        return node


def read_rows(path: Path, id_column: str | None = None) -> Rows:
    """Read a file of any supported format.

    Parameters
    ----------
    path
        The file.
    id_column
        Name of the id column in the graph's own table, if it has one.
    """
    from featprop.labels import label_studio

    if not path.is_file():
        reason = "it is a folder" if path.is_dir() else "there is no such file"
        raise FileError(f"Cannot read {path}: {reason}.", path=path)
    if (size := path.stat().st_size) > MAX_FILE_BYTES:
        message = f"{path} has {size / 1e6:,.0f} MB; a file with labels may have {MAX_FILE_BYTES / 1e6:,.0f} MB."
        raise FileError(message, hint="Split it into several files.", path=path)
    if path.suffix.lower() not in (".json", ".jsonl"):
        return _read_table(path, id_column)
    rows = Rows(path)
    for number, thing in enumerate(_read_json(path), 1):
        where = f"number {number:,}"
        if not label_studio.read_object(thing, rows, where):
            _read_doccano(thing, rows, where)
    return rows


def read_id_rows(path: Path, id_column: str | None = None) -> Rows:
    """Read the ids of a table into the `blank` rows."""
    table = read_table(path)
    rows = Rows(path, typed=path.suffix.lower() == ".parquet")
    rows.blank = [node for node in _read_ids(table, id_column, rows) if node is not None]
    return rows


def parse_weight(weight: Any) -> float | None:
    """Return a positive number, written with a decimal point or comma; None for anything else."""
    try:
        number = float(weight.replace(",", ".", 1) if isinstance(weight, str) else weight)
    except (TypeError, ValueError):
        return None
    return number if 0 < number < float("inf") else None


def _read_table(path: Path, id_column: str | None) -> Rows:
    """Read a table with the columns ``id`` and ``label``, or an export of Label Studio."""
    from featprop.labels import label_studio

    table = read_table(path)
    rows = Rows(path, typed=path.suffix.lower() == ".parquet", is_ranked="rank" in table.column_names)
    if {"annotation_id", "node_id", label_studio.CONTROL} <= set(table.column_names):
        for number, row in enumerate(table.to_pylist(), 1):
            label_studio.read_object(row, rows, f"row {number:,}")
        return rows
    nodes = _read_ids(table, id_column, rows)
    title = find_column(table, ("label",), f"{path}")
    if title is None:
        raise no_column(table, "label", f"{path}", "name a column label")
    labels = names_in(table.column(title), title, f"{path}", typed=rows.typed).to_pylist()
    columns = {name: _read_texts(table, name, path) for name in (*RECORD, AUDIT)}
    weights = [text.strip() for text in columns.pop(AUDIT)]
    if not any(map(parse_weight, weights)):  # a column of the user's own
        weights = [""] * len(nodes)
    is_copy = any(name.strip().casefold().startswith(PROBABILITY) for name in table.column_names)
    source = "" if is_copy and not rows.is_ranked else str(path)
    n_ordinary = 0
    for place, (node, written) in enumerate(zip(nodes, labels, strict=True)):
        where = f"row {place + 1:,}"
        label = unescape_formula(written).strip() or None if isinstance(written, str) else written
        if node is None:
            if label is not None:
                rows.unclear.append(f"{where}: no id")
        elif rows.add_draw(node, weights[place], where):
            record = {name: texts[place] for name, texts in columns.items()}
            rows.add_record(node, label, record, where, source=AUDIT if weights[place] else source, word=Kind.CELL)
            n_ordinary += label is not None and not weights[place]
    if n_ordinary and any(weights):
        log.info("%s: %d labelled rows have no audit weight; models learn from them", path, n_ordinary)
    return rows


def _read_ids(table: pa.Table, own: str | None, rows: Rows) -> list[Any]:
    """Return the node ids of a column that is named as in the graph's own table, or has one of the usual names."""
    title = own if own is not None and own in table.column_names else find_column(table, ID_NAMES, f"{rows.path}")
    if title is None:
        raise no_column(table, ID_NAMES[0], f"{rows.path}", f"name a column {ID_NAMES[0]}")
    found: list[Any] = names_in(table.column(title), title, f"{rows.path}", typed=rows.typed).to_pylist()
    if not rows.typed:
        return found
    values = table.column(title).to_pylist()
    return [
        value if isinstance(value, Hashable) and name is not None else name
        for value, name in zip(values, found, strict=True)
    ]


def _read_texts(table: pa.Table, name: str, path: Path) -> Sequence[str]:
    title = find_column(table, (name,), f"{path}")
    if title is None:
        return [""] * table.num_rows
    return ["" if value is None else unescape_formula(str(value)) for value in table.column(title).to_pylist()]


def _read_doccano(thing: Mapping[str, Any], rows: Rows, where: str) -> None:
    """Read a line of doccano, which keeps the keys of an export that it does not know."""
    node = rows.node_in(thing, where)
    if node is None or not rows.add_draw(node, thing.get(AUDIT), where):
        return
    written = thing.get("label", thing.get("labels"))
    labels = [each for each in (written if isinstance(written, list) else [written]) if each not in (None, "")]
    if len(labels) > 1:
        rows.unclear.append(f"{where}: {len(labels):,} labels for one node")
    elif labels and isinstance(labels[0], list | dict | bool):
        rows.unclear.append(f"{where}: the label is not a class")
    else:
        key = f"doccano {thing['id']}" if isinstance(thing.get("id"), int) else ""
        rows.add_record(node, labels[0] if labels else None, thing, where, source=str(rows.path), key=key)
    comments = thing.get("Comments", thing.get("comments"))
    for comment in comments if isinstance(comments, list) else []:
        text = _text(comment.get("text") if isinstance(comment, Mapping) else comment).strip()
        if text:
            who = _text(thing.get("annotator")).strip()
            rows.add(Annotation(node, None, Kind.NOTE, who, text=text), where)


def _read_json(path: Path) -> list[dict[str, Any]]:
    """Return the objects in a file of JSON or JSON lines."""
    content, decoder = path.read_bytes(), json.JSONDecoder()
    found: list[Any] = []
    try:
        text = content.decode(json.detect_encoding(content))
        place = _skip_space(text, 0)
        while place < len(text):
            value, end = decoder.raw_decode(text, place)
            found += value if isinstance(value, list) else [value]
            place = _skip_space(text, end)
        strange = [number for number, each in enumerate(found, 1) if not isinstance(each, dict)]
        if strange:
            raise ValueError(f"number {strange[0]:,} is not an object")
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is damaged, or not JSON: {quote_error(error)}.", path=path) from error
    return found


def _skip_space(text: str, start: int) -> int:
    found = SPACE.match(text, start)
    return start if found is None else found.end()


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)


def _is_encodable(text: str) -> bool:
    """Return whether text can be stored: JSON may hold halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
