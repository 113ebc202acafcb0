"""CSV tables for people and spreadsheets: labelling sheets, labels, and what other writers share.

Text that a spreadsheet would take for a formula is escaped with a leading apostrophe, as people type it there.
"""

from __future__ import annotations

import csv
import difflib
import io
import os
import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.files import writing_output
from featprop.graph import Graph
from featprop.ids import as_array

Output = str | os.PathLike[str] | BinaryIO
"""A file to write, or an open binary stream such as standard output."""
OWN_COLUMNS = frozenset(
    {"rank", "id", "label", "represents", "spread", "prediction", "confidence", "neighbours", "audit"}
)
"""Columns that featprop itself writes into a sheet."""
FORMULA = re.compile(r"^'*[=+\-@\t\r]")
"""The start of text that may be taken for a formula, with any number of apostrophes before it."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
CSV_TYPES = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal),
    *(pa.types.is_date, pa.types.is_timestamp),
)
"""Types that CSV writes as people do."""


def write_sheet(out: Output, nodes: NDArray[Any], columns: Mapping[str, pa.Array] = {}, *, force: bool = False) -> None:
    """Write a labelling sheet: one row per node, best first, with an empty label column for a person to fill.

    Parameters
    ----------
    out
        File or stream to write.
    nodes
        Ids of the nodes.
    columns
        Further columns, by title.
    force
        Whether to overwrite an existing file.
    """
    titles = ["id", "label", "rank", *columns]
    empty = pa.nulls(len(nodes), pa.string())
    ranks = pa.array(np.arange(1, len(nodes) + 1))
    write_csv(out, titles, [to_cells(nodes.tolist()), empty, ranks, *map(_readable, columns.values())], force=force)


def check_columns(show: Sequence[str], graph: Graph) -> None:
    """Refuse columns that the graph's node table does not have, or that the sheet has already."""
    there = [] if graph.table is None else graph.table.column_names
    named = [title for title in there if title not in OWN_COLUMNS]
    for name in show:
        if name in there and name not in OWN_COLUMNS:
            continue
        close = difflib.get_close_matches(name, named, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Leave it out, or rename the column."
        if name in OWN_COLUMNS:
            message = f"`show` names {name!r}, a column that the sheet has already."
        else:
            message = f"`show` names {name!r}, which is not a column of the nodes."
        raise ParameterError(message, hint=hint, parameter="show", value=name, choices=named, column=name)


def take_columns(show: Sequence[str], graph: Graph, positions: NDArray[np.intp]) -> dict[str, pa.Array]:
    """Return columns of the graph's node table for some nodes."""
    check_columns(show, graph)
    columns = {}
    for name in dict.fromkeys(show):
        values = graph.column(name)
        assert values is not None
        columns[name] = values.take(pa.array(positions))
    return columns


def write_labels(out: Output, labels: Mapping[Hashable, Hashable], *, force: bool = False) -> None:
    """Write the label of each node as a sheet that `featprop.labels.read` reads."""
    write_csv(out, ["id", "label"], [to_cells(list(labels)), to_cells(list(labels.values()))], force=force)


def write_csv(out: Output, titles: Sequence[str], columns: Sequence[pa.Array], *, force: bool = False) -> None:
    """Write columns as CSV, with formulas escaped."""
    table = pa.Table.from_arrays(list(columns), names=list(titles))
    write_bytes(out, csv_header(titles) + csv_rows(table), force=force)


def write_bytes(out: Output, content: bytes, *, force: bool = False) -> None:
    """Write the content of a file or stream at once."""
    if isinstance(out, str | os.PathLike):
        with writing_output(Path(out), force=force) as temporary:
            temporary.write_bytes(content)
    else:
        out.write(content)
        out.flush()


def csv_header(titles: Sequence[str]) -> bytes:
    """Return the first line of a CSV file."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(map(escape_formula, titles))
    return header.getvalue().encode()


def csv_rows(table: pa.Table) -> bytes:
    """Return the rows of a table as CSV."""
    from pyarrow import csv as arrow_csv

    safe = pa.Table.from_arrays([_escape_column(column) for column in table.columns], names=table.column_names)
    content = io.BytesIO()
    arrow_csv.write_csv(safe, content, arrow_csv.WriteOptions(include_header=False))
    return content.getvalue()


def round_significant(numbers: NDArray[Any]) -> pa.Array:
    """Return numbers with six significant digits."""
    wide = np.asarray(numbers, dtype=np.float64)
    sizes = np.where(np.isfinite(wide) & (wide != 0), np.abs(wide), 1.0)
    digits = np.clip(5 - np.floor(np.log10(sizes)).astype(int), -300, 300)
    up, down = 10.0 ** np.maximum(digits, 0), 10.0 ** np.maximum(-digits, 0)
    return pa.array(np.rint(wide * up / down) / up * down, pa.float64())


def to_cells(values: list[Any], *, text: bool = False) -> pa.Array:
    """Return ids or class names as a column of numbers if all are numbers and `text` is false, else of text."""
    numbers = as_array(values)
    if text or numbers.dtype == object:
        return pa.array([str(value) for value in values], pa.string())
    return pa.array(numbers)


def escape_formula(text: str) -> str:
    """Return text as a cell that no spreadsheet takes for a formula; numbers stay unchanged."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unescape_formula(text: str) -> str:
    """Return the text of a cell that `escape_formula` wrote."""
    return text[1:] if text.startswith("'") and escape_formula(text[1:]) == text else text


def _escape_column(values: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_string(values.type) or not pc.any(pc.match_substring_regex(values, FORMULA.pattern)).as_py():
        return values
    escaped = [None if text is None else escape_formula(text) for text in values.to_pylist()]
    return pa.chunked_array([escaped], values.type)


def _readable(values: pa.Array) -> pa.Array:
    """Return a column as one that CSV can hold: numbers and dates, all else as text."""
    if any(is_kind(values.type) for is_kind in CSV_TYPES):
        return values
    return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())
