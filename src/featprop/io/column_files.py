"""A table of a file as columns on disk: what `featprop.io.tables.read_table` would give, a column in memory at a time.

Columns are read some at a time and written to files that are mapped when a column is asked for. Of a CSV file PyArrow
has to see all values of a column to tell its type, and holds all columns meanwhile: so its columns are first divided
among files of their own, as text.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from featprop.io.csv_files import Layout, text_columns, thousands_columns, typed_csv, without_dots
from featprop.io.table_pieces import CsvPieces
from featprop.io.tables import check_text, empty_rows_at_the_end, is_empty, read_table, reading_file
from featprop.progress import tracked
from featprop.tables.by_column import ByColumn
from featprop.tables.naming import check_distinct

__all__ = ["ColumnFiles", "read_by_column"]

TOGETHER = 1 << 26
"""Bytes of columns that are read together; a table of fewer stays in memory."""

MOST = 128
"""Files that are written at once, at most."""

ROWS = 1 << 19
"""Rows that are handed out together."""

UTF_8 = Layout("utf-8", ",", 0)

T = TypeVar("T")


class ColumnFiles:
    """A table whose columns are files; pages of a column count as memory as long as somebody holds it.

    Parameters
    ----------
    files
        Arrow files, each with some of the columns.
    schema
        All columns, in their order.
    num_rows
        How many rows count; files may have more.
    """

    def __init__(self, files: Sequence[tuple[Path, list[str]]], schema: pa.Schema, num_rows: int) -> None:
        self.files, self.schema, self.num_rows = files, schema, num_rows
        self.column_names: list[str] = list(schema.names)
        self._places = {name: (path, place) for path, names in files for place, name in enumerate(names)}

    def column(self, name: str) -> pa.ChunkedArray:
        """Map a column."""
        path, place = self._places[name]
        return _mapped(path).column(place).slice(0, self.num_rows)

    def drop_columns(self, names: Sequence[str]) -> ColumnFiles:
        """Return the other columns."""
        kept = [field for field in self.schema if field.name not in set(names)]
        return ColumnFiles(self.files, pa.schema(kept, self.schema.metadata), self.num_rows)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all columns, some rows at a time."""
        there = set(self.column_names)
        used = [path for path, names in self.files if there & set(names)]
        for start in range(0, self.num_rows, ROWS):
            parts = [_mapped(path).slice(start, min(ROWS, self.num_rows - start)) for path in used]
            columns = {
                name: values for part in parts for name, values in zip(part.schema.names, part.columns, strict=True)
            }
            yield from pa.table([columns[name] for name in self.column_names], schema=self.schema).to_batches()


def read_by_column(path: Path, text: Collection[str], folder: Path, sheet: str | None = None) -> ByColumn:
    """Return the table of a file, its columns in files of a folder if it is large.

    Parameters
    ----------
    path, text, sheet
        As for `featprop.io.tables.read_table`.
    folder
        An empty folder.
    """
    size = _size(path)
    if size <= TOGETHER:
        whole: ByColumn = read_table(path, text, sheet)
        return whole
    return _parquet(path, size, folder) if path.suffix.lower() == ".parquet" else _csv(path, text, size, folder)


def _size(path: Path) -> int:
    """Return how many bytes a table takes, about: none for a workbook, which holds no more than a million rows."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return 0
    with reading_file(path):
        if suffix != ".parquet":
            return path.stat().st_size
        import pyarrow.parquet as pq

        found = pq.read_metadata(path)
        return sum(found.row_group(number).total_byte_size for number in range(found.num_row_groups))


def _parquet(path: Path, size: int, folder: Path) -> ByColumn:
    import pyarrow.parquet as pq

    with reading_file(path), pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    check_distinct(schema.names, f"{path}")
    divided = _divided(schema.names, size)
    files: list[tuple[Path, list[str]]] = []
    for names in tracked(divided, "reading nodes", len(divided)):
        with reading_file(path), pq.ParquetFile(path) as file:
            found = file.read(columns=names).select(names)
        check_text(found, path)
        files.append(_written(found, folder / f"{len(files)}.arrow"))
    return ColumnFiles(files, schema, rows)


def _csv(path: Path, text: Collection[str], size: int, folder: Path) -> ByColumn:
    pieces = CsvPieces(path)
    divided = _divided(range(len(pieces.written)), size)
    with reading_file(path):
        dotted = set(thousands_columns(path, pieces.layout, text))
        as_text = dotted.union(text_columns(path, pieces.layout, text))
    files: list[tuple[Path, list[str]]] = []
    fields: list[pa.Field] = []
    rows = empty = 0
    for part, places in zip(_split(pieces, divided, folder), divided, strict=True):
        with reading_file(path):
            found = typed_csv(part, UTF_8, [f"{place}" for place in places if pieces.written[place] in as_text])
        part.unlink()
        found = without_dots(found, [f"{place}" for place in places if pieces.written[place] in dotted])
        rows = len(found)
        found = found.rename_columns([pieces.titles[place] for place in places])
        found = found.drop_columns(
            [
                pieces.titles[place]
                for place in places
                if not pieces.written[place].strip() and is_empty(found.column(pieces.titles[place]))
            ]
        )
        if found.num_columns:
            empty = empty_rows_at_the_end(found, empty if files else rows)
            files.append(_written(found, folder / f"{len(files)}.arrow"))
            fields += list(found.schema)
    return ColumnFiles(files, pa.schema(fields), rows - empty)


def _split(pieces: CsvPieces, divided: Sequence[Sequence[int]], folder: Path) -> list[Path]:
    """Divide the columns of a CSV file among others, in which their places are their names."""
    from pyarrow import csv

    paths = [folder / f"{number}.csv" for number in range(len(divided))]
    with ExitStack() as stack:
        writers = [
            stack.enter_context(csv.CSVWriter(path, pa.schema([(f"{place}", pa.string()) for place in places])))
            for path, places in zip(paths, divided, strict=True)
        ]
        for piece in tracked(pieces.rows_of(range(len(pieces.written))), "reading nodes", pieces.expected):
            for writer, places in zip(writers, divided, strict=True):
                writer.write_table(piece.select(list(places)).rename_columns([f"{place}" for place in places]))
    return paths


def _divided(columns: Sequence[T], size: int) -> list[Sequence[T]]:
    """Divide the columns of a table of so many bytes into groups of columns one after the other."""
    count = min(max(1, math.ceil(size / TOGETHER)), MOST, max(1, len(columns)))
    ends = [len(columns) * number // count for number in range(count + 1)]
    return [columns[start:end] for start, end in pairwise(ends)]


def _written(table: pa.Table, path: Path) -> tuple[Path, list[str]]:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return path, list(table.column_names)


def _mapped(path: Path) -> pa.Table:
    """Map a file; asked for some columns only, PyArrow would read these into memory."""
    with pa.memory_map(str(path)) as file:
        return pa.ipc.open_file(file).read_all()
