"""Numbers: their distance from the middle in units of how far numbers usually are from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.matrix import Features
from featprop.tables.encoders.base import (
    MARK,
    Encoder,
    LeftOutError,
    has_many_missing,
    named,
    robust,
    stacked,
    with_mark,
)
from featprop.tables.numbers import Numbers, infinite_in, numbers_in

__all__ = ["NumberEncoder"]

HEAVY = 4.0
"""Numbers are spread over magnitudes if one in a hundred is more than this many usual distances from the middle."""
FARTHEST = 6.0
"""Distances beyond this count as this."""


STAND_INS = (-999.0, -9999.0, -99999.0, -99.0, 999.0, 9999.0, 99999.0, 999999.0, 9999999.0)
"""Numbers that are written where there is none."""
OFTEN = 0.01


@dataclass(frozen=True)
class NumberEncoder(Encoder):
    """A number.

    Attributes
    ----------
    centre, spread
        The middle, and how far numbers usually are from it.
    logarithm
        Whether distances are taken to their logarithm, as of money; farther ones are cut off where they are not.
    marked
        Whether there is a second feature which says that the number is missing.
    comma
        Whether a comma in text is a decimal one.
    stand_in
        A number that stands for a missing one, such as -999, if there is one.
    whole
        Whether all numbers were whole ones.
    """

    kind: ClassVar[str] = "number"
    unread_are: ClassVar[str] = "values that are no numbers count as missing"

    centre: float
    spread: float
    logarithm: bool
    marked: bool
    comma: bool = False
    stand_in: float | None = None
    whole: bool = False

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str], comma: bool = False) -> Self:
        """Learn middle and usual distance; `comma` says that other columns of the table have decimal commas."""
        found = numbers_in(columns[0], comma, padded=True)
        if found is None:
            raise LeftOutError(f"{names[0]} holds words")
        stand_in = _stand_in(found.values)
        missing = np.isnan(found.values) | (found.values == stand_in)
        known = found.values[~missing]
        if known.size < 2:
            raise LeftOutError("empty")
        centre, spread = robust(known)
        heavy = bool(np.quantile(np.abs((known - centre) / spread), 0.99) > HEAVY)
        marked, has_comma = has_many_missing(missing), comma or "decimal comma" in found.how
        return cls(centre, spread, heavy, marked, has_comma, stand_in, bool((known % 1 == 0).all()))

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return one feature, or two."""
        values = np.full(rows, np.nan)
        if columns[0] is not None and (found := self._read(columns[0])) is not None:
            values = found.values
        return self.scaled(values)

    def _read(self, values: pa.Array) -> Numbers | None:
        return numbers_in(values, self.comma, padded=True, least=0.0)

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Return words, and infinite numbers."""
        if columns[0] is None:
            return []
        found = self._read(columns[0])
        if found is not None:
            return named(columns[0], np.union1d(found.odd, infinite_in(columns[0])))
        return [] if columns[0].null_count == len(columns[0]) else [f"the type {columns[0].type}"]

    def otherwise(self, columns: Sequence[pa.Array | None]) -> str | None:
        """Name a number with a dot before three digits where all were whole: it may stand between thousands."""
        found = None if columns[0] is None or not self.whole else self._read(columns[0])
        values = np.empty(0) if found is None else found.values[found.values % 1 != 0]
        values = values[~np.isnan(values)]
        parts = np.round(np.abs(values) * 1000, 6)
        dotted = (np.abs(values) >= 1) & (np.abs(values) < 1000) & (parts % 1 == 0)
        if not values.size or not dotted.all() or 2 * np.count_nonzero(parts % 10) < values.size:
            return None
        cure = f"write {values[0] * 1000:.0f} if its dot stands between thousands"
        return f"was learnt from whole numbers and holds {values[0]:.3f} now: {cure}"

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the features of numbers, NaN where one is missing."""
        missing = np.isnan(values) | (values == self.stand_in)
        with np.errstate(over="ignore", invalid="ignore"):
            distances = (values - self.centre) / self.spread
            distances = np.arcsinh(distances) if self.logarithm else np.clip(distances, -FARTHEST, FARTHEST)
        distances = np.where(missing, 0.0, np.clip(distances, -1e3, 1e3))
        return stacked(distances, MARK * missing) if self.marked else stacked(distances)

    def titles(self, name: str) -> list[str]:
        """Return the name of the column, and that of the mark."""
        return with_mark(name, self.marked)

    @classmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Check and take it."""
        found = cls(**settings)
        if not all(isinstance(number, int | float) for number in (found.centre, found.spread, found.stand_in or 0)):
            raise TypeError("a number of another type")
        flags = all(isinstance(each, bool) for each in (found.logarithm, found.marked, found.comma, found.whole))
        if not (flags and np.isfinite(found.centre) and found.spread > 0):
            raise ValueError("a number that cannot be scaled")
        return found

    @property
    def words(self) -> str:
        """Say how it is scaled."""
        how = "logarithm of the distance from" if self.logarithm else "standardised around"
        stand_in = f", {self.stand_in:g} taken for missing" if self.stand_in is not None else ""
        return f"{how} {self.centre:.4g}{stand_in}" + (", missing marked" if self.marked else "")


def _stand_in(values: NDArray[np.float64]) -> float | None:
    """Return the number that is written for missing ones: one of the usual, often there, and far from all others."""
    for each in STAND_INS:
        others = values[(values != each) & ~np.isnan(values)]
        if np.mean(values == each) >= OFTEN and others.size > 1:
            room = np.ptp(others)
            if each < others.min() - room or each > others.max() + room:
                return each
    return None
