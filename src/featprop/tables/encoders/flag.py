"""Two values: yes and no, true and false, 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featprop.matrix import Features
from featprop.tables.encoders.base import (
    MARK,
    Encoder,
    LeftOutError,
    has_many_missing,
    named,
    stacked,
    text_of,
    with_mark,
)
from featprop.tables.missing import is_missing
from featprop.tables.numbers import numbers_in

__all__ = ["PAIRS", "FlagEncoder", "flag_values"]

PAIRS = (
    ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("0", "1"), ("off", "on"), ("nein", "ja"), ("non", "oui"),
    ("no", "sí"), ("no", "si"), ("nee", "ja"), ("falsch", "wahr"), ("faux", "vrai"), ("falso", "verdadero"),
    ("falso", "vero"),
)  # fmt: skip
"""What people write for no and yes, in small letters."""
RAREST = 0.01
"""The variance of a flag that is set once in a hundred times, about."""


def flag_values(values: pa.Array) -> pa.Array:
    """Return values in the form in which two of them are compared: text in small letters."""
    text = text_of(values)
    text = pc.if_else(is_missing(text), pa.scalar(None, pa.string()), text)
    return pc.replace_substring_regex(pc.utf8_lower(text), r"^(-?[0-9]+)\.0+$", r"\1")


@dataclass(frozen=True)
class FlagEncoder(Encoder):
    """A flag.

    Attributes
    ----------
    low, high
        The two values; the second is 1.
    share
        How often it is the second: that is taken off, and stands for missing ones.
    marked
        Whether there is a second feature which says that it is missing.
    """

    kind: ClassVar[str] = "flag"
    least_variance: ClassVar[float] = RAREST
    unread_are: ClassVar[str] = "values that are neither of the two count as missing"

    low: str
    high: str
    share: float
    marked: bool

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:  # noqa: ARG003
        """Learn which two values there are."""
        values = flag_values(columns[0])
        if pc.count_distinct(values).as_py() > 2 and (numbers := numbers_in(columns[0])) is not None:
            values = pc.if_else(pa.array(np.isnan(numbers.values)), pa.scalar(None, pa.string()), values)
        found = set(pc.unique(values.drop_null()).to_pylist())
        if len(found) > 2:
            raise LeftOutError(f"{len(found):,} values")
        pair = next((pair for pair in PAIRS if found <= set(pair)), None)
        if pair is None:
            pair = _sorted({*found, *([""] if len(found) < 2 else [])})
        missing = np.asarray(values.is_null().to_numpy(zero_copy_only=False))
        marked = has_many_missing(missing)
        if not found:
            raise LeftOutError("empty")
        share = float(pc.mean(pc.equal(values, pair[1]).cast(pa.float64())).as_py())
        if share in (0.0, 1.0) and not marked:
            raise LeftOutError("the same everywhere")
        return cls(*pair, share, marked)

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return one feature, or two."""
        if columns[0] is None:
            flags = np.full(rows, np.nan)
        else:
            values = self._known(columns[0])
            places = pc.index_in(values, pa.array([self.low, self.high])).cast(pa.float64())
            flags = pc.fill_null(places, np.nan).to_numpy(zero_copy_only=False)
        missing = np.isnan(flags)
        centred = np.where(missing, 0.0, flags - self.share)
        return stacked(centred, MARK * missing) if self.marked else stacked(centred)

    def _known(self, values: pa.Array) -> pa.Array:
        """Return values in the words that were learnt, where these are among those for no and yes."""
        values = flag_values(values)
        if (self.low, self.high) not in PAIRS:
            return values
        for place, word in enumerate((self.low, self.high)):
            same = pa.array(sorted({pair[place] for pair in PAIRS} - {pair[1 - place] for pair in PAIRS}))
            values = pc.if_else(pc.fill_null(pc.is_in(values, same), False), word, values)
        return values

    def titles(self, name: str) -> list[str]:
        """Return the name of the column, and that of the mark."""
        return with_mark(name, self.marked)

    @classmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Check and take it."""
        found = cls(**settings)
        if not (isinstance(found.low, str) and isinstance(found.high, str) and isinstance(found.marked, bool)):
            raise TypeError("a flag of other types")
        if not 0 <= found.share <= 1:
            raise ValueError("a flag that is set more than always")
        return found

    @property
    def words(self) -> str:
        """Say which value counts."""
        return f"1 for {self.high}, 0 for {self.low}" + (", missing marked" if self.marked else "")

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Return values that are neither."""
        if columns[0] is None:
            return []
        values = self._known(columns[0])
        neither = pc.invert(pc.is_in(values, pa.array([None, self.low, self.high], pa.string())))
        return named(values, np.flatnonzero(neither.to_numpy(zero_copy_only=False)))


def _sorted(found: set[str]) -> tuple[str, str]:
    """Return two values, the smaller first: as numbers if both are; no value at all is the smallest."""
    if len(found) < 2:
        return "", ""
    try:
        low, high = sorted(found, key=float)
    except ValueError:
        low, high = sorted(found)
    return low, high
