"""Columns that are parts of one thing: the words of a bag, the numbers of an embedding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.tables.encoders.base import LeftOutError, robust
from featprop.tables.encoders.number import HEAVY
from featprop.tables.kinds import Kind
from featprop.tables.numbers import numbers_of

__all__ = ["groups_in"]

GROUP = 8
"""Columns that are numbered, from this many on, are parts of one thing."""
BAG = 50
"""Columns of mostly zeros, from this many on, are the words of a bag."""
ZEROS = 0.8
"""The share of zeros in such a column."""
FAR = 30.0
"""How many times their spread numbers may be from 0 and be taken as they are."""
ALIKE = 30.0
"""How many times as far spread as usual a column may be and still be a part of the others' thing."""


def groups_in(kinds: Mapping[str, Kind], arrays: Mapping[str, pa.Array]) -> list[tuple[str, ...]]:
    """Return the columns that are parts of one thing.

    Those are numeric columns of one name with numbers at its end (``w_0``, ``w_1``, …), if they are spread alike, and
    numeric columns of mostly zeros and nothing below, if they are many: words that were counted.
    """
    numeric: dict[str, _Spread] = {}
    for name, kind in kinds.items():
        if (kind.kind in ("number", "flag") or kind.reason == "the same everywhere") and kind.reason != "as asked for":
            numbers = numbers_of(arrays[name])
            if numbers is not None and not np.isnan(numbers).any():
                numeric[name] = _Spread.of(numbers)
    numbered: dict[str, list[str]] = {}
    for name in numeric:
        if (stem := _stem(name)) is not None:
            numbered.setdefault(stem, []).append(name)
    groups = [
        tuple(names)
        for names in numbered.values()
        if len(names) >= GROUP and _are_alike([numeric[name] for name in names])
    ]
    taken = {name for group in groups for name in group}
    bag = [name for name, spread in numeric.items() if name not in taken and spread.are_counts]
    return [*groups, tuple(bag)] if len(bag) >= BAG else groups


class _Spread(NamedTuple):
    """How the numbers of a column are spread: by how much, how far from 0, over magnitudes or not, as counts or not."""

    spread: float
    offset: float
    is_heavy: bool
    are_counts: bool

    @classmethod
    def of(cls, column: NDArray[np.float64]) -> _Spread:
        with np.errstate(over="ignore", invalid="ignore"):
            spread, offset = float(column.std()), float(abs(column.mean()))
        are_counts = _are_counts(column)
        return cls(spread, offset, spread > 0 and _is_heavy(column), are_counts)


def _are_alike(columns: list[_Spread]) -> bool:
    """Say whether columns are spread alike, or all are counts, those of rare words being spread less."""
    if all(column.are_counts for column in columns):
        return True
    spreads = np.array([column.spread for column in columns])
    offsets = np.array([column.offset for column in columns])
    varies = spreads > 0
    if not varies.any() or not np.isfinite(spreads).all():
        return False
    spread = float(np.median(spreads[varies]))
    is_heavy = [column.is_heavy for column, varying in zip(columns, varies, strict=True) if varying]
    return bool(spreads.max() <= ALIKE * spread and np.median(offsets) <= FAR * spread and np.mean(is_heavy) <= 0.5)


def _is_heavy(column: NDArray[np.float64]) -> bool:
    """Say whether numbers are spread over magnitudes, as money is."""
    try:
        centre, spread = robust(column)
    except LeftOutError:
        return False
    return bool(np.quantile(np.abs(column - centre) / spread, 0.99) > HEAVY)


def _are_counts(column: NDArray[np.float64]) -> bool:
    """Say whether numbers are mostly 0 and never below."""
    return bool(column.min(initial=0) >= 0 and np.count_nonzero(column) <= (1 - ZEROS) * len(column))


def _stem(name: str) -> str | None:
    """Return what a column with a number at the end belongs to, ``w_`` of ``w_17``; None for any other."""
    found = re.fullmatch(r"(.*?[^0-9]?)\[?([0-9]+)\]?", name)
    return found[1] if found else None
