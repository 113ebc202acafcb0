"""Dates and times: where they lie in time, and the month, weekday and hour where these vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.matrix import Features
from featprop.tables.encoders.base import MARK, Encoder, LeftOutError, has_many_missing, named, robust, stacked, text_of
from featprop.tables.missing import is_missing
from featprop.tables.numbers import are_enough, are_most

__all__ = ["DateEncoder", "dates_in"]

FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d-%m-%Y", "%d %b %Y",
    "%b %d, %Y", "%d-%b-%Y", "%Y%m%dT%H%M%S", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%b-%y",
)  # fmt: skip
"""How dates are written; of two that fit alike the first counts, so days come before months."""
YEAR_FIRST = tuple(form for form in FORMATS if form.startswith("%Y"))
"""Those that can be read in one way only, so that they may stand beside one other."""
OTHERS = tuple(form for form in FORMATS if form not in YEAR_FIRST)
DAY = 86_400.0
YEAR_1000 = -30_610_224_000.0
"""In seconds since 1970."""
SHORT = r"^(?:[0-9]{2}[./][0-9]{2}[./]|[0-9]{1,2}-\p{L}+-)[0-9]{2}$"
"""A date with a year of two digits; ``1.2.0`` is a version."""
PARTS_OF_SECONDS = (r"([0-9]{2}:[0-9]{2}:[0-9]{2})[.,][0-9]+", r"\1")
ZONE = (r"([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)\s*(?:Z|[+-][0-9]{2}:?[0-9]{2})$", r"\1")
"""What is left out of times: it tells little, and is written in many ways."""
CYCLES = {"month": 12, "weekday": 7, "hour": 24}
LESSER = 0.3
"""How long the circle of a cycle is beside the usual distance in time."""
FARTHEST = 6.0


def dates_in(values: pa.Array, form: str | None = None) -> tuple[NDArray[np.float64], str] | None:
    """Return seconds since 1970, NaN where there is no date, and how they are written; None if many are no dates.

    Dates that begin with the year are read whatever the others are written like.

    Parameters
    ----------
    form
        How the others are written, where that is known already.
    """
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        whole = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return pc.fill_null(whole.cast(pa.float64(), safe=False), np.nan).to_numpy(zero_copy_only=False) / 1e6, ""
    if not pa.types.is_string(kind):
        return None
    text = _texts(values)
    seconds, found = _read(text, form)
    enough = are_most if form is None else are_enough
    return (seconds, found) if enough(_count(seconds), len(text) - text.null_count) else None


def _texts(values: pa.Array) -> pa.Array:
    """Return text without what is left out of times, None where a date is missing."""
    text = text_of(values)
    text = pc.if_else(is_missing(text), pa.scalar(None, pa.string()), text)
    for what, instead in PARTS_OF_SECONDS, ZONE:
        text = pc.replace_substring_regex(text, what, instead)
    return text


def _read(text: pa.Array, form: str | None) -> tuple[NDArray[np.float64], str]:
    """Return the seconds of dates that begin with the year and of the others in one way, and in which.

    Where there are both, the others count only if their form is known or can be no other.
    """
    seconds, year_form = _read_year_first(text)
    rest = pc.if_else(pa.array(np.isnan(seconds)), text, pa.scalar(None, pa.string()))
    others, found = _read_in_one_way(rest, form if form in OTHERS else None)
    if not found or (year_form and found != form and not _is_sure(rest, others, found)):
        return seconds, year_form
    return np.fmax(seconds, others), found


def _read_year_first(text: pa.Array) -> tuple[NDArray[np.float64], str]:
    """Return the seconds of dates that begin with the year, and how most of these are written."""
    counts, known = dict.fromkeys(("", *YEAR_FIRST), 0), len(text) - text.null_count
    seconds = np.full(len(text), np.nan)
    for each in YEAR_FIRST:
        found = _seconds(text, each)
        counts[each] = _count(found)
        seconds = np.fmax(seconds, found)
        if sum(counts.values()) == known:
            break
    return seconds, max(counts, key=counts.__getitem__)


def _read_in_one_way(text: pa.Array, form: str | None) -> tuple[NDArray[np.float64], str]:
    """Return the seconds of the dates that are written in one way, and in which: that of most."""
    known = len(text) - text.null_count
    best, best_form = np.full(len(text), np.nan), ""
    for each in OTHERS if form is None else (form, *OTHERS):
        if _count(best) == known or (best_form == form and are_most(_count(best), known)):
            break
        seconds = _seconds(text, each)
        if _count(seconds) > _count(best):
            best, best_form = seconds, each
    return best, best_form


def _is_sure(text: pa.Array, seconds: NDArray[np.float64], form: str) -> bool:
    """Say whether dates that were read so cannot have day and month swapped."""
    if "%m" not in form:
        return True
    swapped = form.translate(str.maketrans("dm", "md"))
    here, there = ~np.isnan(seconds), ~np.isnan(_seconds(text, swapped))
    if (there & ~here).any():
        return False
    return swapped not in OTHERS or bool((here & ~there).any())


def _count(seconds: NDArray[np.float64]) -> int:
    """Return how many are dates."""
    return int(np.count_nonzero(~np.isnan(seconds)))


def _seconds(text: pa.Array, form: str) -> NDArray[np.float64]:
    """Return the seconds of dates that are written so; a year of two digits is none of four."""
    found = pc.strptime(text, form, "s", error_is_null=True).cast(pa.int64()).cast(pa.float64(), safe=False)
    seconds = np.asarray(pc.fill_null(found, np.nan).to_numpy(zero_copy_only=False)).copy()
    seconds[seconds < YEAR_1000] = np.nan
    if form.endswith("%y"):
        seconds[~np.asarray(pc.fill_null(pc.match_substring_regex(text, SHORT), False))] = np.nan
    return seconds


@dataclass(frozen=True)
class DateEncoder(Encoder):
    """A date.

    Attributes
    ----------
    form
        How dates are written in text, as `strptime` has it; empty where the table has a type for them.
    centre, spread
        The middle date and the usual distance from it, in seconds.
    cycles
        Which of month, weekday and hour vary: each is a point on a circle, two features.
    marked
        Whether there is a last feature which says that the date is missing.
    """

    kind: ClassVar[str] = "date"
    unread_are: ClassVar[str] = "values that are no dates count as missing"

    form: str
    centre: float
    spread: float
    cycles: tuple[str, ...]
    marked: bool

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:
        """Learn how dates are written and where they lie."""
        found = dates_in(columns[0])
        if found is None:
            raise LeftOutError(_why_not(columns[0], names[0]))
        seconds, form = found
        missing = np.isnan(seconds)
        known = seconds[~missing]
        if known.size < 2:
            raise LeftOutError("empty")
        centre, spread = robust(known)
        varying = tuple(name for name, turns in _turns(known).items() if len(np.unique(turns)) > 1)
        return cls(form, centre, spread, varying, has_many_missing(missing))

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return the distance in time, the cycles, and the mark."""
        seconds = np.full(rows, np.nan)
        if columns[0] is not None and (found := dates_in(columns[0], self.form)) is not None:
            seconds = found[0]
        missing = np.isnan(seconds)
        known = np.where(missing, self.centre, seconds)
        features = [np.clip((known - self.centre) / self.spread, -FARTHEST, FARTHEST)]
        turns = _turns(known)
        for name in self.cycles:
            angle = 2 * np.pi * turns[name] / CYCLES[name]
            features += [np.where(missing, 0.0, LESSER * part) for part in (np.sin(angle), np.cos(angle))]
        return stacked(*features, *([MARK * missing] if self.marked else []))

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Return what is no date; many of them are an error, as the form of the others is not to be trusted."""
        values = columns[0]
        if values is None or values.null_count == len(values):
            return []
        found = dates_in(values, self.form)
        if not pa.types.is_string(values.type):
            there = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
            return named(values, there) if found is None else []
        text = _texts(values)
        seconds = _read(text, self.form)[0] if found is None else found[0]
        known = text.is_valid().to_numpy(zero_copy_only=False)
        odd = np.flatnonzero(known & np.isnan(seconds))
        if found is None and odd.size:
            count, first = np.count_nonzero(known), named(values, odd[:1])[0]
            others = ", and day and month of the others may be swapped" if odd.size < count else ""
            told = f"no date that can be read in {odd.size:,} of {count:,} rows, the first {first}{others}"
            raise LeftOutError(f"{told}: write dates as 2024-12-31")
        return named(values, odd)

    def titles(self, name: str) -> list[str]:
        """Return the name of the column and of each part."""
        parts = [f"{name} {cycle} {part}" for cycle in self.cycles for part in ("sine", "cosine")]
        return [name, *parts, *([f"{name} is missing"] if self.marked else [])]

    @classmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Check and take it."""
        found = cls(**settings | {"cycles": tuple(settings["cycles"])})
        if found.form not in ("", *FORMATS) or not set(found.cycles) <= set(CYCLES) or found.spread <= 0:
            raise ValueError("a date that cannot be scaled")
        if not (np.isfinite(found.centre) and isinstance(found.marked, bool)):
            raise ValueError("a date that cannot be scaled")
        return found

    @property
    def words(self) -> str:
        """Say what of it counts."""
        first = f"position in time{f' ({self.form})' if self.form else ''}"
        return ", ".join([first, *self.cycles, *(["missing marked"] if self.marked else [])])


def _why_not(values: pa.Array, name: str) -> str:
    """Say why a column is none of dates."""
    text = _texts(values) if pa.types.is_string(values.type) else pa.nulls(0, pa.string())
    count = _count(_read(text, None)[0])
    if not count:
        return f"{name} holds no dates"
    known = len(text) - text.null_count
    return f"dates in one form in {count:,} of {known:,} rows only (write all of them as 2024-12-31)"


def _turns(seconds: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return month, weekday and hour of each time."""
    days = np.floor(seconds / DAY)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return {"month": months % 12, "weekday": (days + 3) % 7, "hour": np.floor((seconds - days * DAY) / 3600)}
