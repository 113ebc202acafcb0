"""The unit that the numbers of a column are in, which text tells and a model remembers."""

from __future__ import annotations

import pyarrow as pa

from featprop.tables.currencies import currency_of
from featprop.tables.kinds import sample_of
from featprop.tables.numbers import Writing, numbers_of

__all__ = ["unit_in", "unit_in_words"]


def unit_in(values: pa.Array) -> str | None:
    """Return the unit, currency or sign of percent of a column; empty for plain numbers, None if it holds no value."""
    if numbers_of(values[:0]) is not None:
        return "" if values.null_count < len(values) else None
    writing = Writing.of([sample_of(values.drop_null())])
    if writing is None:
        return None
    if writing.percent:
        return "%"
    return writing.unit or ("" if writing.currency is None else currency_of(writing.currency))


def unit_in_words(unit: str) -> str:
    """Say what numbers are in."""
    return f"in {unit}" if unit else "without a unit"
