"""Files of tables read piece by piece: what `featprop.io.tables.read_table` would give, never whole in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.io.csv_files import layout_of
from featprop.io.quotes import check_quotes
from featprop.io.tables import check_text, read_table, reading_file, titles_of
from featprop.tables.naming import check_distinct
from featprop.tables.pieces import Pieces, WholeTable

__all__ = ["CsvPieces", "ParquetPieces", "Portion", "pieces_of", "portions_of"]

ROWS = 1 << 19
"""Rows of a piece, at most."""

BLOCKS = (1 << 23, 1 << 27)
"""Bytes of a CSV file that are read at once; the second is for files whose rows are longer than the first."""


def pieces_of(path: Path) -> Pieces:
    """Return the table of a file, all of whose values are text if it is a CSV file or a workbook.

    A workbook is read whole: it holds no more than a million rows.
    """
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return WholeTable(read_table(path, text=None))
    return ParquetPieces(path) if suffix == ".parquet" else CsvPieces(path)


@dataclass(frozen=True)
class Portion:
    """Some rows of a table, for another process to read.

    Attributes
    ----------
    path
        The file.
    columns
        What to read.
    row_group
        Which rows of a Parquet file; None for all rows of an Arrow file, which was written for this.
    """

    path: Path
    columns: tuple[str, ...]
    row_group: int | None = None

    def read(self) -> Iterator[pa.Table]:
        """Yield the rows, piece by piece."""
        if self.row_group is not None:
            yield from _parquet_pieces(self.path, self.columns, [self.row_group])
            return
        with pa.memory_map(str(self.path)) as file:
            yield pa.ipc.open_file(file).read_all()

    def remove(self) -> None:
        """Remove the file, if it was written for this."""
        if self.row_group is None:
            self.path.unlink()


def portions_of(pieces: Pieces, columns: Sequence[str], folder: Path) -> Iterator[Portion] | None:
    """Return columns of a table for other processes to read, in the order of the rows; None for one in memory.

    Those of a Parquet file are read by its row groups; those of a CSV file are read here and written to a folder.
    """
    if isinstance(pieces, ParquetPieces):
        return (Portion(pieces.path, tuple(columns), number) for number in range(pieces.row_groups))
    return _written_portions(pieces, columns, folder) if isinstance(pieces, CsvPieces) else None


def _written_portions(pieces: Pieces, columns: Sequence[str], folder: Path) -> Iterator[Portion]:
    for number, piece in enumerate(pieces.read(columns)):
        path = folder / f"{number}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, piece.schema) as writer:
            writer.write_table(piece)
        yield Portion(path, tuple(columns))


class ParquetPieces(Pieces):
    """A Parquet file.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.path = path
        with reading_file(path), pq.ParquetFile(path) as file:
            self.column_names = list(file.schema_arrow.names)
            self.rows, self.row_groups = file.metadata.num_rows, file.metadata.num_row_groups
        self.expected = math.ceil(self.rows / ROWS)
        check_distinct(self.column_names, f"{path}")

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the columns; pages are read as they are needed, so that row groups may be of any size."""
        yield from _parquet_pieces(self.path, columns)


def _parquet_pieces(path: Path, columns: Sequence[str], row_groups: list[int] | None = None) -> Iterator[pa.Table]:
    import pyarrow.parquet as pq

    with reading_file(path), pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
        for batch in file.iter_batches(ROWS, row_groups, columns=list(columns)):
            piece = pa.Table.from_batches([batch]).select(list(columns))
            check_text(piece, path)
            yield piece


class CsvPieces(Pieces):
    """A CSV file, all values of which are text.

    Columns without a name and without a value are left out, and so are empty rows at the end.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading_file(path):
            self.layout = layout_of(path)
            check_quotes(path, self.layout)
            self.written, first = self._start()
            blocks = max(1.0, path.stat().st_size / BLOCKS[0])
        self.rows, self.expected = int(blocks * first), math.ceil(blocks) * max(1, math.ceil(first / ROWS))
        self.semicolons = self.layout.delimiter == ";"
        self.layout.tell(path)
        self.titles = titles_of(self.written)
        unnamed = [place for place, name in enumerate(self.written) if not name.strip()]
        empty = set(unnamed)
        for piece in self.rows_of(unnamed) if unnamed else ():
            empty -= {
                place for place, values in zip(unnamed, piece.columns, strict=True) if not _is_blank(values).all()
            }
            if not empty:
                break
        self.places = [place for place in range(len(self.written)) if place not in empty]
        self.column_names = [self.titles[place] for place in self.places]
        check_distinct(self.column_names, f"{path}")

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the columns."""
        places = [self.places[self.column_names.index(name)] for name in columns]
        held = 0
        for piece in self.rows_of(places):
            filled = np.flatnonzero(~_are_blank(piece))
            if not len(filled):
                held += piece.num_rows
                continue
            if held:
                yield from self._blank(columns, held)
            held = piece.num_rows - int(filled[-1]) - 1
            yield piece.slice(0, piece.num_rows - held).rename_columns(list(columns))
        if held:
            yield from self._blank(columns, held - self._empty_at_the_end())

    def _start(self) -> tuple[list[str], int]:
        """Return the header and how many rows the first block has."""
        from pyarrow import csv

        for block in BLOCKS:
            try:
                with csv.open_csv(self.path, *self.layout.options(block)) as file:
                    first = next(iter(file), None)
                    return file.schema.names, 0 if first is None else first.num_rows
            except pa.ArrowInvalid:
                if block == BLOCKS[-1] or self.path.stat().st_size <= block:
                    raise
        raise AssertionError

    def _empty_at_the_end(self) -> int:
        """Return how many rows at the end have no value in any column."""
        empty = 0
        for piece in self.rows_of(self.places):
            filled = np.flatnonzero(~_are_blank(piece))
            empty = empty + piece.num_rows if not len(filled) else piece.num_rows - int(filled[-1]) - 1
        return empty

    def _blank(self, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
        for start in range(0, rows, ROWS):
            blank = pa.array([""] * min(ROWS, rows - start))
            yield pa.table([blank] * len(columns), names=list(columns))

    def rows_of(self, places: Sequence[int]) -> Iterator[pa.Table]:
        """Yield all rows of the columns at these places; once more, from where it was, if a row is too long."""
        done = 0
        with reading_file(self.path):
            for block in BLOCKS:
                try:
                    for piece in self._from_row(places, done, block):
                        done += piece.num_rows
                        yield piece
                    return
                except pa.ArrowInvalid:
                    if block == BLOCKS[-1] or self.path.stat().st_size <= block:
                        raise

    def _from_row(self, places: Sequence[int], first: int, block: int) -> Iterator[pa.Table]:
        from pyarrow import csv

        wanted = [self.written[place] for place in places]
        by_name = len(set(self.written)) == len(self.written)
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(self.written, pa.string()),
            strings_can_be_null=False,
            include_columns=wanted if by_name else None,
        )
        with csv.open_csv(self.path, *self.layout.options(block), convert) as file:
            for batch in file:
                skipped = min(first, batch.num_rows)
                first -= skipped
                table = pa.Table.from_batches([batch.slice(skipped)])
                table = table if by_name else table.select(list(places))
                for start in range(0, table.num_rows, ROWS):
                    yield table.slice(start, ROWS)


def _is_blank(values: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.equal(pc.binary_length(values), 0).to_numpy(), dtype=bool)


def _are_blank(piece: pa.Table) -> NDArray[np.bool_]:
    """Say of each row whether it has no value."""
    blank = np.ones(piece.num_rows, dtype=bool)
    for values in piece.columns:
        if not blank.any():
            break
        blank &= _is_blank(values)
    return blank
