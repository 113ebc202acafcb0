"""Columns that are parts of one thing, the words of a bag or the numbers of an embedding: taken as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.matrix import Features, is_sparse_smaller, side_by_side
from featprop.tables.encoders.base import Encoder, LeftOutError, named
from featprop.tables.numbers import numbers_in, numbers_of

__all__ = ["GroupEncoder"]

TOGETHER = 1 << 24
"""Numbers of a matrix, at most."""


@dataclass(frozen=True)
class GroupEncoder(Encoder):
    """Numeric columns, as they are; a missing number counts as 0.

    Attributes
    ----------
    names
        The columns.
    """

    kind: ClassVar[str] = "columns"
    says_much: ClassVar[bool] = True
    unread_are: ClassVar[str] = "values that are no numbers count as 0"

    names: tuple[str, ...]

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:
        """Take the names down."""
        if not columns:
            raise LeftOutError("no column")
        return cls(tuple(names))

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return the columns: thousands of mostly empty ones without a dense matrix."""
        return side_by_side(list(self.parts(columns, rows)))

    def parts(self, columns: Sequence[pa.Array | None], rows: int) -> Iterator[Features]:
        """Yield some columns a matrix."""
        step = max(1, TOGETHER // max(1, rows))
        for start in range(0, len(columns), step):
            yield _matrix(columns, range(start, min(start + step, len(columns))), rows)

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Return words, and the columns they are in."""
        found = []
        for name, values in zip(self.names, columns, strict=True):
            if values is None or numbers_of(values) is not None:
                continue
            numbers = numbers_in(values, padded=True, least=0.0)
            places = np.arange(len(values)) if numbers is None else numbers.odd
            found += [f"{each} of {name}" for each in named(values, places)]
        return found

    def titles(self, name: str) -> list[str]:  # noqa: ARG002
        """Return the names of the columns."""
        return list(self.names)

    def settings(self) -> dict[str, Any]:
        """Return nothing: the names are those of the block."""
        return {}

    @classmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Take the names, which the block puts in."""
        return cls(tuple(settings["names"]))

    @property
    def words(self) -> str:
        """Say that nothing becomes of them."""
        return "as they are"


def _matrix(columns: Sequence[pa.Array | None], places: range, rows: int) -> Features:
    parts = [_filled(columns[place], rows) for place in places]
    if not is_sparse_smaller(rows, len(parts), sum(map(np.count_nonzero, parts))):
        return np.stack(parts, axis=1)
    filled = [np.flatnonzero(part) for part in parts]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in filled])])
    data = np.concatenate([part[each] for part, each in zip(parts, filled, strict=True)])
    return sp.csr_array(sp.csc_array((data, np.concatenate(filled), starts), shape=(rows, len(parts))))


def _filled(values: pa.Array | None, rows: int) -> NDArray[np.float32]:
    found = None if values is None else numbers_in(values, padded=True, least=0.0)
    if found is None:
        return np.zeros(rows, dtype=np.float32)
    with np.errstate(over="ignore"):
        return np.nan_to_num(found.values, nan=0.0, posinf=np.inf, neginf=-np.inf).astype(np.float32)
