"""Usual names of columns, and ids and class names kept exactly as they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from featprop.errors import FileError

ID_NAMES = ("id", "node_id", "nodeid", "node id", "node", "vertex", "vertex_id", "name:id", ":id")
LABEL_NAME = "label"
END_NAMES = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("source_id", "target_id"), ("from_id", "to_id"),
    ("src_id", "dst_id"), ("source_node", "target_node"), ("sourcenodeid", "targetnodeid"), ("node1", "node2"),
    ("node_1", "node_2"), ("id1", "id2"), ("id_1", "id_2"), ("sender", "receiver"), ("head", "tail"),
    ("start", "end"), ("node_from", "node_to"), (":start_id", ":end_id"),
)  # fmt: skip
WEIGHT_NAMES = ("weight",)
NEO4J_TYPES = (
    "byte|short|int|integer|long|float|double|boolean|char|string|point|date|localtime|time|localdatetime|datetime"
)
NEO4J_HEADER = re.compile(
    rf"(?P<name>.*):(?:(?P<role>ID|LABEL|START_ID|END_ID|TYPE)(?:\(.*\))?|({NEO4J_TYPES})(\[\])?)"
)
"""The columns of Neo4j's import files: ``personId:ID(Person)``, ``age:int``, ``:LABEL``."""


def neo4j_name(header: str) -> str:
    """Return the plain name of a column of a Neo4j import file, and any other name unchanged."""
    found = NEO4J_HEADER.fullmatch(header)
    if not found:
        return header
    roles = {"ID": "id", "LABEL": "type", "START_ID": "source", "END_ID": "target", "TYPE": "edge_type"}
    return roles[found["role"]] if found["role"] else found["name"]


def find_column(
    table: pa.Table | Sequence[str], usual: Sequence[str], name: str, asked: str | None = None, parameter: str = ""
) -> str | None:
    """Return the column that `asked` names, else the first with a usual name in letters of any case, else None.

    `table` is the table or the names of its columns, `name` its name in messages, and `parameter` what the user named
    the column with.
    """
    columns = table.column_names if isinstance(table, pa.Table) else table
    if asked is not None:
        if asked not in columns:
            raise no_column(columns, asked, name, f"Name one of them with `{parameter}`.")
        return asked
    for title in usual:
        alike = [column for column in columns if column == title] or [
            column for column in columns if column.strip().casefold() == title
        ]
        if len(alike) > 1:
            message = f"{name} has several columns named {title!r}: {', '.join(alike)}."
            raise FileError(message, hint="Rename all but one, or name one in graph.toml.", path=name, column=title)
        if alike:
            return alike[0]
    return None


def find_ends(columns: Sequence[str], name: str, source: str | None, target: str | None) -> tuple[str, str]:
    """Return the columns of the two ends of an edge: asked for, with usual names, or the only two."""
    if source is not None or target is not None:
        if source is None or target is None:
            raise FileError(
                "Only one end of the edges is named; name both, `source` and `target`, or neither.",
                parameter="target" if target is None else "source",
                path=name,
            )
        find_column(columns, (), name, source, "source")
        find_column(columns, (), name, target, "target")
        return source, target
    spelled = {column.strip().casefold(): column for column in reversed(columns)}
    for usual in END_NAMES:
        if set(usual) <= set(spelled):
            return spelled[usual[0]], spelled[usual[1]]
    if len(columns) == 2 and not any(column.startswith("Unnamed: ") for column in columns):
        return columns[0], columns[1]
    raise FileError(
        f"{name} has no columns that look like the two ends of an edge; it has {shown_columns(columns)}.",
        hint="Name them with `source` and `target`; for files, `featprop init` writes them to a graph.toml.",
        path=name,
        parameter="source",
    )


def no_column(table: pa.Table | Sequence[str], column: str, name: str, hint: str = "") -> FileError:
    """Return the error about a column that is missing, with the columns that are there."""
    columns = table.column_names if isinstance(table, pa.Table) else table
    return FileError(
        f"{name} has no column {column!r}; its columns are {shown_columns(columns)}.",
        hint=hint,
        path=name,
        column=column,
        choices=columns[:8],
    )


def shown_columns(columns: Collection[str]) -> str:
    """Return the first columns of a table for a message."""
    return ", ".join(list(columns)[:8]) + (", …" if len(columns) > 8 else "")


def name_of(text: str) -> Hashable:
    """Return the 64-bit integer that is written so, or the text if there is none: ``1`` is 1, ``007`` is text."""
    return int(text) if re.fullmatch("0|-?[1-9][0-9]{0,18}", text) and -(2**63) <= int(text) < 2**63 else text


def names_in(values: pa.Array | pa.ChunkedArray, column: str, table: str, *, typed: bool) -> pa.Array:
    """Return ids or class names as 64-bit integers if they read back unchanged, as text otherwise.

    Text is text by intention if the table is `typed`; a CSV file has no types.
    """
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_dictionary(whole.type):
        whole = whole.cast(whole.type.value_type)
    if pa.types.is_boolean(whole.type) or pa.types.is_nested(whole.type) or pa.types.is_binary(whole.type):
        message = f"Column {column!r} of {table} holds values of type {whole.type}, not names."
        hint = "Ids and labels are text or whole numbers, one per row."
        raise FileError(message, hint=hint, path=table, column=column)
    if pa.types.is_integer(whole.type) and not pa.types.is_uint64(whole.type):
        return whole.cast(pa.int64())
    if pa.types.is_floating(whole.type):
        with suppress(pa.ArrowInvalid):
            whole = whole.cast(pa.int64())  # pandas writes integers with gaps as floats
    text = whole.cast(pa.string())
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    if typed and (pa.types.is_string(whole.type) or pa.types.is_large_string(whole.type)):
        return text
    try:
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return text
    return integers if integers.cast(pa.string()).equals(text) else text
