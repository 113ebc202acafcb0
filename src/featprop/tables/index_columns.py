"""Columns that only number the rows: what pandas, R and spreadsheets add to a table of their own accord."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from featprop.errors import first_five
from featprop.tables.by_column import ByColumn

__all__ = ["index_columns", "numbers_the_rows", "without_index"]

log = logging.getLogger(__name__)

ADDED = re.compile(r"__index_level_\d+__|Unnamed: 0|")
"""Names that pandas gives to an index that has none; its CSV files leave the name of the first column empty."""

POSSIBLE = re.compile(
    r"index|level_\d+|idx|row|rows?[ _.]?(?:id|names?|nr|num|number|no)|nr\.?|no\.|#|\.\.\.\d+|X(?:\.\d+)?|V1"
    r"|Unnamed: [\d.]+(?:_level_\d+)?",
)
"""Names that such a column may have, and a column of values too."""

Table = TypeVar("Table", bound=ByColumn)

FEWEST = 3
"""Rows that a column of such a name must number before it counts as an index."""


def without_index(table: Table, keep: Collection[str] = ()) -> tuple[Table, list[str]]:
    """Leave out the columns that only number the rows, and say which.

    A column without a name in the first place and ``__index_level_0__`` are left out whatever they hold; one named
    ``index``, ``row``, ``X`` and the like only if it holds 0, 1, 2, … or 1, 2, 3, ….

    Parameters
    ----------
    keep
        Columns that stay, such as the one of the ids.

    Returns
    -------
    tuple
        The other columns, and the names of those left out.
    """
    dropped = index_columns(table.column_names, lambda name: table.column(name).chunks, keep)
    return table.drop_columns(dropped) if dropped else table, dropped


def index_columns(
    names: Sequence[str], values_of: Callable[[str], Iterable[pa.Array]], keep: Collection[str] = ()
) -> list[str]:
    """Return the columns that only number the rows, and say which.

    Parameters
    ----------
    names
        All columns.
    values_of
        Returns the values of a column, piece by piece.
    keep
        Columns that stay, such as the one of the ids.
    """
    dropped = [
        name
        for place, name in enumerate(names)
        if name not in keep and (_is_added(name, place) or (_may_number(name) and numbers_the_rows(values_of(name))))
    ]
    if dropped:
        log.info("index columns left out: %s", first_five([name or "the unnamed one" for name in dropped]))
    return dropped


def _is_added(name: str, place: int) -> bool:
    return ADDED.fullmatch(name) is not None and (place == 0 or name.startswith("__"))


def _may_number(name: str) -> bool:
    return any(POSSIBLE.fullmatch(form) for form in (name, name.lower()))


def numbers_the_rows(pieces: Iterable[pa.Array]) -> bool:
    """Say whether a column counts the rows from 0 or 1."""
    first, rows = 0, 0
    for piece in pieces:
        if piece.null_count:
            return False
        try:
            numbers = piece.cast(pa.int64()).to_numpy()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return False
        if not rows and len(numbers):
            first = int(numbers[0])
        if not np.array_equal(numbers, np.arange(first + rows, first + rows + len(numbers))):
            return False
        rows += len(numbers)
    return rows >= FEWEST and first in (0, 1)
