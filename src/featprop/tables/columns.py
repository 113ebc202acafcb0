"""The columns of a table as arrays, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from featprop.tables.by_column import ByColumn
from featprop.tables.looks import plain_column

__all__ = ["Columns", "Several"]


class Columns(Mapping[str, pa.Array]):
    """The columns of a table, each made one array when it is asked for: never all of them at once."""

    def __init__(self, table: ByColumn, names: Sequence[str]) -> None:
        self.table, self.names = table, tuple(names)

    def __getitem__(self, name: str) -> pa.Array:
        return plain_column(self.table, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class Several(Sequence[pa.Array]):
    """Some columns in a row, each made one array when its turn comes."""

    def __init__(self, columns: Mapping[str, pa.Array], names: Sequence[str]) -> None:
        self.columns, self.names = columns, names

    def __getitem__(self, place: Any) -> Any:
        return self.columns[self.names[place]]

    def __len__(self) -> int:
        return len(self.names)
