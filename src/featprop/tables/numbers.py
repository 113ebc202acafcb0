"""Columns of numbers, whatever they are written like: ``1.234,50 €``, ``(12.50)``, ``12 %``, ``1'234.5``."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.tables.currencies import SIGNS, currency_of
from featprop.tables.missing import is_missing
from featprop.tables.numerals import cleaned, fitting, mask_of, undressed

__all__ = [
    "ENOUGH",
    "Numbers",
    "Writing",
    "are_enough",
    "are_most",
    "decimal_comma",
    "infinite_in",
    "numbers_in",
    "numbers_of",
]

ENOUGH = 0.9
"""The share of the values that must be numbers for a column of text to be one of numbers, or dates, or lists."""

FEW = 5
"""Values of which one may be odd, though that is more than the share."""

WITH_UNIT = r"^[-+−]?[0-9][0-9.,' ]*?\s?(?P<unit>[\p{L}µ°²³/]{1,6}\.?)$"
UNITS = 2000
"""Values that are looked at for a unit."""

NOT_FINITE = ("inf", "+inf", "-inf", "infinity", "-infinity", "+infinity", "-nan", "∞", "-∞")
"""Words for numbers that nothing can be computed with: they count as missing."""

PARTS_OF_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of each unit of time Arrow stores."""

CODE = r"^[-+]?0[0-9]+$"


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of text that was read as numbers.

    Parameters
    ----------
    values
        The numbers, NaN where a value is missing or odd.
    odd
        Positions of the values that are neither a number nor missing.
    how
        What was done to read them, in a word or two each: ``"decimal comma"``, ``"currency €"``, ``"percent"``.
    """

    values: NDArray[np.float64]
    odd: NDArray[np.int64]
    how: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Writing:
    """How the numbers of a column of text are written, which its values tell together.

    Parameters
    ----------
    unit
        What stands behind nearly all of them.
    comma
        Whether a comma is the decimal one.
    units
        The currencies and signs of percent that numbers may have; None for any.
    percent
        Whether they are percent.
    currency
        The currency that most amounts have.
    """

    unit: str | None
    comma: bool
    units: tuple[str, ...] | None
    percent: bool
    currency: str | None

    @classmethod
    def of(cls, pieces: Iterable[pa.Array], comma: bool | None = None) -> Self | None:
        """Look at a column piece by piece; None if it holds no value at all.

        Parameters
        ----------
        comma
            Whether a comma is a decimal one where the values do not tell, None if nothing is known.
        """
        texts = (found for piece in pieces if (found := _texts(piece)) is not None)
        first: list[pa.Array] = []
        while sum(map(len, first)) < UNITS and (piece := next(texts, None)) is not None:
            first.append(piece)
        unit = _unit_of(pa.concat_arrays(first)) if first else None
        tells: Counter[bool] = Counter()
        counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        is_empty = True
        for piece in itertools.chain(first, texts):
            bare = _bare(piece, unit)
            missing = _missing(bare)
            bodies, signs, units = undressed(bare, missing)
            fits = {way: fitting(bodies, way) for way in (False, True)}
            tells.update({way: int(np.count_nonzero(fits[way] & ~fits[not way])) for way in fits})
            for way in fits:
                counts[way].update(units[fits[way] & ~np.isnan(signs)].tolist())
            is_empty = is_empty and bool(missing.all())
        if is_empty:
            return None
        has_comma = bool(comma) if tells[True] == tells[False] else tells[True] > tells[False]
        return cls(unit, has_comma, *_common_units(counts[has_comma]))

    @property
    def sign(self) -> str | None:
        """The sign of the currency, or of percent."""
        return "%" if self.percent else self.currency

    def numbers(self, values: pa.Array, least: float = 0.0) -> Numbers | None:
        """Read values; None if fewer than the share `least` of them are numbers so written."""
        texts = _bare(_texts(values), self.unit)
        missing = _missing(texts)
        bodies, signs, units = undressed(texts, missing)
        fits = fitting(bodies, self.comma)
        digits, grouped = cleaned(bodies.filter(pa.array(fits)), self.comma)
        numbers = np.full(len(texts), np.nan)
        numbers[fits] = digits.cast(pa.float64()).to_numpy(zero_copy_only=False)
        numbers *= signs
        if self.units is not None:
            numbers[~np.isnan(numbers) & ~np.isin(units, self.units) & (numbers != 0)] = np.nan
        numbers[~np.isfinite(numbers)] = np.nan
        known, found = (int(np.count_nonzero(~each)) for each in (missing, np.isnan(numbers)))
        if known and not are_enough(found, known, least):
            return None
        how = {
            "decimal comma": self.comma and bool(pc.any(pc.match_substring(bodies, ",")).as_py()),
            "thousands separators": grouped,
            f"currency {self.currency}": self.currency is not None,
            "percent": self.percent,
            f"unit {self.unit}": self.unit is not None,
        }
        return Numbers(
            values=numbers / 100 if self.percent else numbers,
            odd=np.flatnonzero(np.isnan(numbers) & ~missing),
            how=tuple(words for words, done in how.items() if done),
        )


def are_most(found: int, known: int, least: float = ENOUGH) -> bool:
    """Say whether so many of the known values are nearly all, the share `least` of them."""
    return known > 0 and found >= least * known


def are_enough(found: int, known: int, least: float = ENOUGH) -> bool:
    """Say whether so many of the known values are nearly all, or all but one of a few."""
    return are_most(found, known, least) or (known >= FEW and found == known - 1)


def numbers_of(values: pa.Array) -> NDArray[Any] | None:
    """Return a numeric or boolean column, or one of durations or times of day, as float64; None if it is none of these.

    Missing values are NaN; durations and times of day are in seconds, whatever the unit they are stored in.
    """
    kind, parts = values.type, 1
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    elif pa.types.is_duration(kind) or pa.types.is_time(kind):
        values, parts = (
            values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()),
            PARTS_OF_A_SECOND[kind.unit],
        )
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    filled = pc.fill_null(values.cast(pa.float64(), safe=False), float("nan"))
    numbers = np.asarray(filled.to_numpy(zero_copy_only=False))
    return numbers if parts == 1 else numbers / parts


def numbers_in(
    values: pa.Array, comma: bool | None = None, *, padded: bool = False, least: float = ENOUGH
) -> Numbers | None:
    """Read a column of numbers, or of text as numbers; None if it is one of words, or of codes such as ``01234``.

    Whether a comma is the decimal one or stands between thousands is decided for the whole column: by the values that
    can be read in one way only (``3,5``, ``1,234,567``, ``1.234,5``), then by the hint, then for thousands.
    Amounts may lack the sign of the currency, but the rarer of two currencies, of percent and plain numbers, is odd.

    Parameters
    ----------
    comma
        Whether a comma is a decimal one where the values do not tell, None if nothing is known.
    padded
        Whether digits after a leading zero are a number all the same.
    least
        The share of the values that must be numbers.
    """
    plain = numbers_of(values)
    if plain is not None:
        finite = np.where(np.isfinite(plain), plain, np.nan)
        return Numbers(finite, np.empty(0, np.int64), ())
    texts = _texts(values)
    if texts is None:
        return None
    if not padded and mask_of(pc.match_substring_regex(_bare(texts, _unit_of(texts)), CODE)).any():
        return None
    writing = Writing.of([values], comma)
    return None if writing is None else writing.numbers(values, least)


def infinite_in(values: pa.Array) -> NDArray[np.int64]:
    """Return where a column holds infinite numbers, or words for them."""
    if pa.types.is_floating(values.type):
        return np.flatnonzero(np.isinf(np.asarray(numbers_of(values))))
    texts = _texts(values)
    return np.empty(0, np.int64) if texts is None else np.flatnonzero(_is_infinite(texts))


def decimal_comma(values: pa.Array) -> bool | None:
    """Say whether a column of numbers as text has decimal commas; None if it holds none or they do not tell.

    What one column tells is a hint for the others of its file.
    """
    texts = _texts(values)
    if texts is None or numbers_in(texts, padded=True) is None:
        return None
    return _told(undressed(texts, mask_of(is_missing(texts)))[0])


def _texts(values: pa.Array) -> pa.Array | None:
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return None
    return pc.utf8_trim_whitespace(values.cast(pa.large_string()))


def _unit_of(texts: pa.Array) -> str | None:
    """Return the unit that nearly all numbers have, as in ``343 S.`` or ``-70 dBm``."""
    with_unit = pc.drop_null(pc.extract_regex(texts[:UNITS], WITH_UNIT))
    if len(with_unit) < ENOUGH * (len(texts[:UNITS]) - texts[:UNITS].null_count) or not len(with_unit):
        return None
    (unit, _), *others = Counter(with_unit.field("unit").to_pylist()).most_common(2)
    return None if unit in SIGNS or (others and others[0][1] > (1 - ENOUGH) * len(with_unit)) else str(unit)


def _bare(texts: pa.Array, unit: str | None) -> pa.Array:
    """Take the unit off."""
    if unit is None:
        return texts
    return pc.replace_substring_regex(texts, rf"(^[-+−]?[0-9].*?)\s*{re.escape(unit)}$", r"\1")


def _missing(texts: pa.Array) -> NDArray[np.bool_]:
    return mask_of(is_missing(texts)) | _is_infinite(texts)


def _is_infinite(texts: pa.Array) -> NDArray[np.bool_]:
    return mask_of(pc.is_in(pc.utf8_lower(texts), pa.array(NOT_FINITE, texts.type)))


def _told(bodies: pa.Array) -> bool | None:
    """Say whether the comma is the decimal one, by the values that can be read in one way only; None if none tells."""
    point, comma = (fitting(bodies, way) for way in (False, True))
    for_comma, for_point = np.count_nonzero(comma & ~point), np.count_nonzero(point & ~comma)
    return None if for_comma == for_point else bool(for_comma > for_point)


def _common_units(counts: Counter[str]) -> tuple[tuple[str, ...] | None, bool, str | None]:
    """Return the units that numbers may have, whether they are percent, and their currency, by how often each is."""
    if not counts.keys() - {""}:
        return None, False, None
    is_percent = 2 * counts["%"] > counts.total()
    amounts: Counter[str] = Counter()
    for unit in counts.keys() - {"", "%"}:
        amounts[currency_of(unit)] += counts[unit]
    common = amounts.most_common(1)[0][0] if amounts and not is_percent else None
    same: list[str] = [unit for unit in counts if common and currency_of(unit) == common]
    fitting = ("%",) if is_percent else (*same, "")
    return fitting, is_percent, max(same, key=counts.__getitem__) if same else None
