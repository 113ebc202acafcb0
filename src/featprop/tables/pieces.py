"""Tables that are read piece by piece, as often as they are needed: edges may be more than memory holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import pyarrow as pa

__all__ = ["Pieces", "WholeTable"]


class Pieces(ABC):
    """A table of which some columns are read at a time, some rows at a time.

    Attributes
    ----------
    column_names
        Its columns.
    rows
        About how many rows it has.
    expected
        About how many pieces that is.
    semicolons
        Whether values are text between semicolons, as where people write decimal commas.
    """

    column_names: list[str]
    rows: int
    expected: int
    semicolons: bool = False

    @abstractmethod
    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns piece by piece, in the order of the rows."""

    def values(self, name: str) -> Iterator[pa.Array]:
        """Yield the values of a column, piece by piece."""
        for piece in self.read([name]):
            yield from piece.column(0).chunks


class WholeTable(Pieces):
    """A table in memory, which is one piece.

    Parameters
    ----------
    table
        The table.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.column_names = table.column_names
        self.rows, self.expected = table.num_rows, 1

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the columns."""
        yield self.table.select([self.column_names.index(name) for name in columns])
