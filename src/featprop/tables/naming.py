"""Columns that name things: the ids of nodes and their classes, kept exactly as they were written."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Hashable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from featprop.errors import FileError, first_five
from featprop.tables.by_column import ByColumn
from featprop.tables.looks import plain_column
from featprop.tables.missing import is_no_class, told_no_classes
from featprop.tables.pieces import Pieces

__all__ = ["ID_NAMES", "check_distinct", "class_names", "find_column", "name_of", "names", "no_column"]

log = logging.getLogger(__name__)

ID_NAMES = ("id", "node_id", "nodeid", "node id", "node", "vertex", "vertex_id")
"""What the column that names nodes is usually called."""


def check_distinct(columns: Sequence[str], what: str) -> None:
    """Refuse a table of which two columns have one name."""
    repeated = [column for column, count in Counter(columns).items() if count > 1]
    if repeated:
        raise FileError(what, "must have distinct columns", f"{first_five(repeated)} repeated", "rename them")


def find_column(
    table: pa.Table | Pieces, usual: Sequence[str], what: str, asked: str | None = None, option: str = ""
) -> str | None:
    """Return the column that was asked for, else the first that has one of the usual names, in letters of any size.

    Parameters
    ----------
    table
        The table, whole or in pieces.
    usual
        The usual names, in small letters.
    what
        The table, for messages.
    asked
        The name that the user gave, if one was given: it must be there.
    option
        The option it was given by.
    """
    if asked is not None:
        if asked not in table.column_names:
            raise no_column(table, asked, what, f"name one of them with --{option}")
        return asked
    for name in usual:
        if name in table.column_names:
            return name
        alike = [column for column in table.column_names if column.strip().casefold() == name]
        if len(alike) > 1:
            raise FileError(what, f"must have one column {name!r}", first_five(alike), f"name one of them {name}")
        if alike:
            return str(alike[0])
    return None


def no_column(table: pa.Table | Pieces, name: str, what: str, cure: str) -> FileError:
    """Return the error about a column that is not there, which names those that are."""
    found = f"the columns {', '.join(table.column_names[:8])}{', …' if len(table.column_names) > 8 else ''}"
    return FileError(what, f"must have a column {name!r}", found, cure)


def names(table: ByColumn, name: str, what: str, *, typed: bool) -> pa.Array:
    """Return a column of ids or class names as 64-bit integers if they read back unchanged, as text otherwise.

    Parameters
    ----------
    what
        The table, for messages.
    typed
        Whether what is text in the table is meant to be text: a CSV file has no types to keep.
    """
    values = plain_column(table, name)
    try:
        return _names_of(values, typed=typed)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        rule, cure = "must hold text or whole numbers", "write one name in every row"
        raise FileError(f"Column {name!r} of {what}", rule, f"the type {values.type}", cure) from error


def class_names(table: ByColumn, name: str, what: str, *, typed: bool) -> list[Hashable | None]:
    """Return a column of class names, each a number or text by itself: a class has one name whatever the others are.

    What programs write for nothing is None, and a warning says so.
    """
    values = names(table, name, what, typed=typed)
    if pa.types.is_integer(values.type):
        return list(values.to_pylist())
    encoded = values.dictionary_encode()
    words, codes = encoded.dictionary.to_pylist(), encoded.indices.to_pylist()
    nothing = [is_no_class(word) for word in words]
    if any(nothing):
        told = told_no_classes(words[code] for code in codes if code is not None and nothing[code])
        log.warning("Column %r of %s: %s: write another word for what is a class", name, what, told)
    found = [None if gone else word if typed else name_of(word) for word, gone in zip(words, nothing, strict=True)]
    return [None if code is None else found[code] for code in codes]


def name_of(text: str) -> Hashable:
    """Return the 64-bit integer that is written so, or the text if none is: ``1`` is 1, ``007`` is text."""
    return int(text) if re.fullmatch("0|-?[1-9][0-9]{0,18}", text) and -(2**63) <= int(text) < 2**63 else text


def _names_of(values: pa.Array, *, typed: bool) -> pa.Array:
    """Return integers or text. Empty text is missing (null); text that is `typed` is never read as a number."""
    if pa.types.is_integer(values.type) and not pa.types.is_uint64(values.type):
        return values.cast(pa.int64())
    text = values.cast(pa.string())
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    if typed and pa.types.is_string(values.type):
        return text
    try:
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return text
    return integers if integers.cast(pa.string()).equals(text) else text
