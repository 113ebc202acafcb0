"""CSV tables for people and spreadsheets: labelling sheets, labels, predictions, exports.

Text that a spreadsheet would take for a formula is escaped with a leading apostrophe, as people type it there.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import ParameterError, unknown_choice
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
    written = {
        "id": to_cells(nodes.tolist()),
        "label": pa.nulls(len(nodes), pa.string()),
        "rank": pa.array(np.arange(1, len(nodes) + 1)),
        **{title: _readable(values) for title, values in columns.items()},
    }
    write_chunks(out, csv_chunks([pa.table(written)]), force=force)


def check_columns(show: Sequence[str], graph: Graph) -> None:
    """Refuse columns that the graph's node table does not have, or that the sheet has already."""
    there = [] if graph.table is None else graph.table.column_names
    for name in show:
        if name in OWN_COLUMNS:
            message = f"`show` names {name!r}, a column that the sheet has already."
            raise ParameterError(message, parameter="show", value=name)
        if name not in there:
            raise unknown_choice("show", name, there)


def take_columns(show: Sequence[str], graph: Graph, positions: NDArray[np.intp]) -> dict[str, pa.Array]:
    """Return columns of the graph's node table for some nodes."""
    check_columns(show, graph)
    columns = {}
    for name in dict.fromkeys(show):
        values = graph.column(name)
        assert values is not None
        columns[name] = values.take(pa.array(positions))
    return columns


def write_chunks(out: Output, chunks: Iterable[bytes], *, force: bool = False, suffixes: Sequence[str] = ()) -> None:
    """Write the content of a file or stream; a file must have one of the suffixes, if any are given."""
    if isinstance(out, str | os.PathLike):
        with writing_output(Path(out), force=force, suffixes=suffixes) as temporary, temporary.open("wb") as file:
            file.writelines(chunks)
    else:
        out.writelines(chunks)
        out.flush()


def csv_chunks(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Yield the content of a CSV file, formulas escaped: the header, then the rows of each table."""
    from pyarrow import csv as arrow_csv

    for number, table in enumerate(tables):
        content = io.BytesIO()
        if number == 0:
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(map(escape_formula, table.column_names))
            content.write(header.getvalue().encode())
        safe = pa.Table.from_arrays([_escape_column(column) for column in table.columns], names=table.column_names)
        arrow_csv.write_csv(safe, content, arrow_csv.WriteOptions(include_header=False))
        yield content.getvalue()


def round_numbers(numbers: NDArray[Any]) -> pa.Array:
    """Return numbers with six significant digits."""
    wide = np.asarray(numbers, dtype=np.float64)
    sizes = np.where(np.isfinite(wide) & (wide != 0), np.abs(wide), 1.0)
    digits = np.clip(5 - np.floor(np.log10(sizes)).astype(int), -300, 300)
    up, down = 10.0 ** np.maximum(digits, 0), 10.0 ** np.maximum(-digits, 0)
    return pa.array(np.rint(wide * up / down) / up * down)


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
    """Return a column as one that CSV can hold and whose formulas are escaped: numbers and dates, all else as text."""
    if pa.types.is_primitive(values.type) and not pa.types.is_interval(values.type):
        return values
    return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())
