"""A table that is asked for one column at a time: one in memory, or one whose columns are files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import pyarrow as pa

__all__ = ["ByColumn"]


class ByColumn(Protocol):
    """What of a `pyarrow.Table` is needed to prepare it and to keep it."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""

    @property
    def num_rows(self) -> int:
        """How many rows there are."""

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column; who asks holds it no longer than it is needed."""

    def drop_columns(self, names: Sequence[str]) -> Any:
        """Return a table of the other columns."""

    def to_batches(self) -> Iterable[pa.RecordBatch]:
        """Return all columns, some rows at a time."""
