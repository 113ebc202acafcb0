"""Tables of any file, CSV, Parquet or workbook, with ids and class names kept exactly as they were written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featprop.errors import FileError, ParameterError, quote_error
from featprop.io.csv_files import read_csv, uneven_row
from featprop.io.workbooks import read_sheet, sheet_names
from featprop.tables.naming import check_distinct

__all__ = [
    "SUFFIXES",
    "check_text",
    "empty_rows_at_the_end",
    "find_table",
    "is_empty",
    "read_table",
    "reading_file",
    "sheet_names",
    "titles_of",
]

SUFFIXES = (".csv", ".parquet", ".xlsx")


def find_table(folder: Path, stem: str) -> Path:
    """Return ``stem.csv``, ``stem.parquet`` or ``stem.xlsx`` in `folder`."""
    possible = [f"{stem}{suffix}" for suffix in SUFFIXES]
    found = [name for name in possible if (folder / name).exists()]
    if len(found) == 1:
        return folder / found[0]
    what = f"{folder}"
    if found:
        raise FileError(what, f"must hold one file of {stem}", " and ".join(found), "remove one of them")
    there = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "an empty folder"
    rule = f"must hold {', '.join(possible[:-1])} or {possible[-1]}"
    raise FileError(what, rule, there, f"add the file of {stem}")


def read_table(path: Path, text: Collection[str] | None = (), sheet: str | None = None) -> pa.Table:
    """Read a CSV or Parquet file or a sheet of an Excel workbook.

    A CSV file may have any common delimiter and encoding. Columns without a name and without a value are left out, and
    so are empty rows at the end.

    Parameters
    ----------
    text
        The columns of a CSV file or workbook to read as text, so that an id such as ``007`` stays as it is; None for
        all. The other columns get the type their values have; numbers with leading zeros stay text.
    sheet
        The sheet of a workbook; None for the first.
    """
    suffix = path.suffix.lower()
    if sheet is not None and suffix != ".xlsx":
        raise ParameterError("sheet", "must be left out for a file without sheets", f"{sheet!r} for {path}", "drop it")
    with reading_file(path):
        if suffix == ".parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(path)
        else:
            table = read_sheet(path, text, sheet) if suffix == ".xlsx" else read_csv(path, text)
            table = _without_empty(table)
    check_distinct(table.column_names, f"{path}")
    check_text(table, path)
    return table


@contextmanager
def reading_file(path: Path) -> Iterator[None]:
    """Say of a file that cannot be read what it must be."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise FileError(f"{path}", "must be a file", found, "check the path")
    if not path.stat().st_size:
        raise FileError(f"{path}", "must hold a table", "an empty file", "export it again")
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if uneven := uneven_row(path, error):
            raise uneven from error
        kind = "a Parquet file" if path.suffix.lower() == ".parquet" else "a CSV file in UTF-8"
        cure = "save it again in that format"
        raise FileError(f"{path}", f"must be {kind}", f"this: {quote_error(error)}", cure) from error


def titles_of(written: Sequence[str]) -> list[str]:
    """Return what columns are called: those without a name, but for the first, by their place."""
    return [name.strip() or (f"Unnamed: {place}" if place else "") for place, name in enumerate(written)]


def _without_empty(table: pa.Table) -> pa.Table:
    """Leave out what a spreadsheet adds around a table."""
    titles = titles_of(table.column_names)
    unnamed = [place for place, name in enumerate(table.column_names) if not name.strip()]
    empty = {place for place in unnamed if is_empty(table.column(place))}
    table = table.rename_columns(titles).select([place for place in range(len(titles)) if place not in empty])
    return table.slice(0, table.num_rows - empty_rows_at_the_end(table, table.num_rows))


def empty_rows_at_the_end(table: pa.Table, most: int) -> int:
    """Return how many rows at the end have no value, no more than `most`."""
    for values in table.columns:
        if not most or not is_empty(values.slice(len(values) - 1)):
            return 0
        there = pc.not_equal(values, "") if pa.types.is_string(values.type) else values.is_valid()
        filled = np.flatnonzero(pc.fill_null(there, False).to_numpy())
        most = min(most, len(values) - (int(filled[-1]) + 1 if len(filled) else 0))
    return most


def is_empty(values: pa.ChunkedArray) -> bool:
    """Say whether there is no value."""
    if pa.types.is_string(values.type):
        return all(not text for text in pc.unique(values).to_pylist()[:3])
    return bool(values.null_count == len(values))


def check_text(table: pa.Table, path: Path) -> None:
    """Refuse text that is not UTF-8: Parquet stores whatever bytes it was given."""
    for name, values in zip(table.column_names, table.columns, strict=True):
        try:
            values.validate(full=True)
        except pa.ArrowInvalid as error:
            what, found = f"Column {name!r} of {path}", f"this: {quote_error(error)}"
            raise FileError(what, "must hold text in UTF-8", found, "write it again in that encoding") from error
