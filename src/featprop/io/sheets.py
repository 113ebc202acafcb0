"""The tables people get: the labelling sheet and labels.

A labelling sheet has one row a picked node, what there is to say of it, and an empty ``label`` column for a person to
fill. Any table with the columns ``id`` and ``label`` can be read as labels (`featprop.io.labels`). Text that a
spreadsheet would take for a formula is shielded (`featprop.io.formulas`); whoever reads the table takes the shield off.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.io.atomic import replacing_file
from featprop.io.formulas import shielded, shielded_column
from featprop.io.overwriting import MADE_COLUMNS, make_way
from featprop.plain import as_array

__all__ = [
    "RESERVED",
    "Place",
    "cells",
    "significant",
    "write_header",
    "write_labels",
    "write_pick_table",
    "write_rows",
]

RESERVED = frozenset({"rank", "id", "label", *MADE_COLUMNS})
"""The names of a sheet's own columns."""

Place = Path | BinaryIO
"""A file to write, or an open stream such as standard output."""

PLAIN = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal),
    *(pa.types.is_date, pa.types.is_timestamp),
)
"""Types that a CSV file writes as people do."""


def write_pick_table(
    place: Place,
    nodes: NDArray[Any],
    columns: Mapping[str, pa.Array] = {},
    *,
    force: bool = False,
) -> None:
    """Write the labelling sheet: one row a node, best first, with an empty label column at the end.

    Parameters
    ----------
    place
        Where to.
    nodes
        The ids.
    columns
        What else to say of them, by title; those that featprop does not make itself (`RESERVED`) are the user's.
    force
        Write over labels that a person typed; the sheet with them is kept beside it (`make_way`).
    """
    if isinstance(place, Path):
        make_way(place, force=force, shown=set(columns) - RESERVED)
    titles = ["rank", "id", *columns, "label"]
    filled = [pa.array(np.arange(1, len(nodes) + 1)), cells(nodes.tolist()), *map(_readable, columns.values())]
    _write(place, titles, [*filled, pa.nulls(len(nodes), pa.string())])


def write_labels(path: Path, labels: Mapping[Hashable, Hashable], *, force: bool) -> None:
    """Write the label of each node: a sheet that `featprop.io.labels.read_labels` reads."""
    make_way(path, force=force)
    _write(path, ("id", "label"), [cells(list(labels)), cells(list(labels.values()))])


def significant(numbers: NDArray[Any]) -> pa.Array:
    """Return numbers with as many digits as a person reads, six."""
    wide = np.asarray(numbers, dtype=np.float64)
    sizes = np.where(np.isfinite(wide) & (wide != 0), np.abs(wide), 1.0)
    digits = np.clip(5 - np.floor(np.log10(sizes)).astype(int), -300, 300)
    up, down = 10.0 ** np.maximum(digits, 0), 10.0 ** np.maximum(-digits, 0)
    return pa.array(np.rint(wide * up / down) / up * down, pa.float64())


def cells(values: list[Any], *, text: bool = False) -> pa.Array:
    """Return ids or class names as a column: numbers if all are and `text` is not asked for, text otherwise."""
    numbers = as_array(values)
    if text or numbers.dtype == object:
        return pa.array([str(value) for value in values], pa.string())
    return pa.array(numbers)


def _readable(values: pa.Array) -> pa.Array:
    """Return a column of any type as one that can be written as CSV: numbers and dates, all else as text."""
    if any(is_kind(values.type) for is_kind in PLAIN):
        return values
    return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())


def _write(place: Place, titles: Sequence[str], columns: list[pa.Array]) -> None:
    if isinstance(place, Path):
        with replacing_file(place) as temporary, temporary.open("wb") as file:
            _write_csv(file, titles, columns)
        return
    whole = io.BytesIO()
    _write_csv(whole, titles, columns)
    place.write(whole.getvalue())
    place.flush()


def _write_csv(file: BinaryIO, titles: Sequence[str], columns: list[pa.Array]) -> None:
    write_header(file, titles)
    write_rows(file, pa.Table.from_arrays(columns, names=list(titles)))


def write_header(file: BinaryIO, titles: Sequence[str]) -> None:
    """Write the first line of a CSV file, shielded."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(map(shielded, titles))
    file.write(header.getvalue().encode())


def write_rows(file: BinaryIO, table: pa.Table) -> None:
    """Write further lines of a CSV file, shielded."""
    from pyarrow import csv as arrow_csv

    safe = pa.Table.from_arrays([shielded_column(column) for column in table.columns], names=table.column_names)
    arrow_csv.write_csv(safe, file, arrow_csv.WriteOptions(include_header=False))
