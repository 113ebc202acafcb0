"""Turn a column that holds one fact into features: numbers, flags, categories and dates.

An encoder is a frozen dataclass of JSON values. `Encoder.fit` learns it from a column once; `Encoder.transform` turns
any other column into the same features, each row independently of the others.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.features.parsing import (
    DATE_FORMS,
    as_mask,
    as_text,
    is_missing,
    is_most,
    read_dates,
    read_numbers,
)
from featprop.features.profile import MAX_CATEGORIES, MIN_MISSING_SHARE, YES_NO, Kind, Reason
from featprop.matrix import Features

MISSING_VALUE = 0.5
"""Value of the feature that says a value is missing, next to features of deviation 1."""
QUARTILE_DISTANCE = 1.349
"""Distance between the quartiles of a normal distribution of deviation 1."""
HEAVY_TAIL = 4.0
"""Numbers have a heavy tail if one in a hundred is more than this many deviations from the median."""
MAX_DEVIATIONS = 6.0
SENTINELS = (-999.0, -9999.0, -99999.0, -99.0, 999.0, 9999.0, 99999.0, 999999.0, 9999999.0)
"""Numbers that people write where there is none."""
MIN_SENTINEL_SHARE = 0.01
RARE_VARIANCE = 0.01
"""Variance of a flag that is set once in a hundred rows, about."""
HASHED_FEATURES = 256
"""Number of features that share the values of a category with more than `MAX_CATEGORIES`."""
DAY_S = 86_400.0
CYCLES = {"month": 12, "weekday": 7, "hour": 24}
CYCLE_RADIUS = 0.3


class UnusableColumnError(Exception):
    """Raised by `Encoder.fit`, with a `Reason`, for a column that nothing can be learned from."""


class FitOptions(NamedTuple):
    """Options of `TablePreprocessor.fit` that encoders use."""

    decimal: str | None = None
    vocabulary: int | None = None


class Encoded(NamedTuple):
    """Features of a column, and which of its values could not be read."""

    matrix: Features
    unread: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Encoder(ABC):
    """How the values of a column become features; ``str(encoder)`` says it in a few words.

    Attributes
    ----------
    kind
        Kind of the columns it is for.
    min_variance
        Least variance the features count with when groups are weighted, so that a rare flag does not become huge.
    has_dimensions
        Whether a column holds more than one fact about a node, and counts by the number of dimensions it spans.
    """

    kind: ClassVar[Kind]
    min_variance: ClassVar[float] = 0.0
    has_dimensions: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        """Learn from a column; raise `UnusableColumnError` if there is nothing to learn."""

    @abstractmethod
    def transform(self, values: pa.Array) -> Encoded:
        """Return the features of a column; a column of nulls is all missing."""

    @property
    def parts(self) -> Sequence[str]:
        """What the name of each feature adds to that of the column."""
        return ("",)

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        """Return a name for each feature."""
        return [columns[0] + part for part in self.parts]

    @abstractmethod
    def is_valid(self) -> bool:
        """Return whether the settings are in range; those of a damaged file may not be."""

    def __post_init__(self) -> None:
        if not self.is_valid():
            raise ValueError(f"The settings of a {self.kind} column are out of range.")


@dataclass(frozen=True)
class MarkingEncoder(Encoder):
    """An encoder whose last feature marks missing values, if many are missing."""

    marks_missing: bool

    @property
    @abstractmethod
    def description(self) -> str:
        """What becomes of values that are not missing."""

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        return super().feature_names(columns) + [f"{columns[0]} is missing"] * self.marks_missing

    def __str__(self) -> str:
        return f"{self.description}, missing values marked" if self.marks_missing else self.description

    def stack(self, columns: list[NDArray[Any]], missing: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return columns next to each other, and last the one that marks missing values."""
        return np.stack([*columns, *[MISSING_VALUE * missing] * self.marks_missing], axis=1).astype(np.float32)


def has_many_missing(missing: NDArray[np.bool_]) -> bool:
    """Return whether so many values are missing that this is information."""
    return missing.size > 0 and bool(missing.mean() >= MIN_MISSING_SHARE)


def robust_scale(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the median and the usual distance from it, unaffected by outliers."""
    if values.size < 2:
        raise UnusableColumnError(Reason.EMPTY)
    with np.errstate(over="ignore", invalid="ignore"):
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        spread = (high - low) / QUARTILE_DISTANCE
        if not (spread > 0 and np.isfinite(spread)):
            inner = np.clip(values, *np.quantile(values, [0.01, 0.99]))
            spread = float(inner.std()) or float(np.clip(values, -1e150, 1e150).std())
    if not (spread > 0 and np.isfinite(spread)):
        raise UnusableColumnError(Reason.CONSTANT)
    return float(middle), float(spread)


def is_heavy_tailed(values: NDArray[np.float64], centre: float, spread: float) -> bool:
    """Return whether one number in a hundred lies far out, as with money."""
    return bool(np.quantile(np.abs((values - centre) / spread), 0.99) > HEAVY_TAIL)


@dataclass(frozen=True)
class NumberEncoder(MarkingEncoder):
    """Distance from the median in robust standard deviations."""

    kind: ClassVar[Kind] = Kind.NUMBER

    centre: float
    spread: float
    is_log: bool  # the logarithm (arcsinh) of distances, as for money; otherwise they are clipped
    decimal: str  # of text that allows two readings
    sentinel: float | None  # number that stands for a missing one, such as -999

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        parsed = read_numbers(values, options.decimal)
        if not parsed.is_mostly_read:
            raise UnusableColumnError(Reason.UNREADABLE)
        sentinel = _find_sentinel(parsed.values)
        missing = np.isnan(parsed.values) | (parsed.values == sentinel)
        known = parsed.values[~missing]
        centre, spread = robust_scale(known)
        is_log = is_heavy_tailed(known, centre, spread)
        return cls(has_many_missing(missing), centre, spread, is_log, parsed.form or options.decimal or ".", sentinel)

    def transform(self, values: pa.Array) -> Encoded:
        parsed = read_numbers(values, self.decimal, force=True)
        missing = np.isnan(parsed.values) | (parsed.values == self.sentinel)
        with np.errstate(over="ignore", invalid="ignore"):
            distances = (parsed.values - self.centre) / self.spread
            distances = np.arcsinh(distances) if self.is_log else np.clip(distances, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        scaled = np.where(missing, 0.0, np.clip(distances, -1e3, 1e3))
        return Encoded(self.stack([scaled], missing), parsed.unread)

    @property
    def description(self) -> str:
        text = f"{'logarithm of the distance from' if self.is_log else 'standardised around'} {self.centre:.4g}"
        return text if self.sentinel is None else f"{text}, {self.sentinel:g} counts as missing"

    def is_valid(self) -> bool:
        return self.spread > 0 and self.decimal in (".", ",")


def _find_sentinel(values: NDArray[np.float64]) -> float | None:
    """Return the number written for missing ones: one of `SENTINELS`, frequent, and far from all others."""
    for sentinel in SENTINELS:
        if np.mean(values == sentinel) < MIN_SENTINEL_SHARE:
            continue
        others = values[(values != sentinel) & ~np.isnan(values)]
        if others.size > 1 and not others.min() - np.ptp(others) <= sentinel <= others.max() + np.ptp(others):
            return sentinel
    return None


@dataclass(frozen=True)
class FlagEncoder(MarkingEncoder):
    """One of two values, in lower case: `high` is 1 and `low` is 0, less the share of `high`."""

    kind: ClassVar[Kind] = Kind.FLAG
    min_variance: ClassVar[float] = RARE_VARIANCE

    low: str
    high: str
    share: float

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        text = _flag_text(values)
        counts = pc.value_counts(text.drop_null()).to_pylist()
        found = {each["values"] for each in sorted(counts, key=lambda each: -each["counts"])[:2]}
        text = pc.if_else(pc.is_in(text, pa.array(found, pa.string())), text, pa.scalar(None, pa.string()))
        if not is_most(len(text) - text.null_count, sum(each["counts"] for each in counts)):
            raise UnusableColumnError(Reason.UNREADABLE if found else Reason.EMPTY)
        low, high = next((pair for pair in YES_NO if found <= set(pair)), _sort_pair(found))
        share = float(pc.mean(pc.equal(text, high).cast(pa.float64())).as_py())
        marks_missing = has_many_missing(as_mask(text.is_null()))
        if share in (0.0, 1.0) and not marks_missing:
            raise UnusableColumnError(Reason.CONSTANT)
        return cls(marks_missing, low, high, share)

    def transform(self, values: pa.Array) -> Encoded:
        text, pair = _flag_text(values), (self.low, self.high)
        is_low, is_high = (
            as_mask(pc.is_in(text, pa.array(words)))
            for words in zip(*(YES_NO if pair in YES_NO else [pair]), strict=True)
        )
        missing = ~(is_low | is_high)
        centred = np.where(missing, 0.0, is_high - self.share)
        return Encoded(self.stack([centred], missing), as_mask(text.is_valid()) & missing)

    @property
    def description(self) -> str:
        return f"1 for {self.high}, 0 for {self.low or 'others'}"

    def is_valid(self) -> bool:
        return 0 <= self.share <= 1


def _flag_text(values: pa.Array) -> pa.Array:
    """Return values as lower-case text in which two of them are compared."""
    text = as_text(values)
    if text is None:
        text = pc.if_else(values.is_valid(), str(values.type), pa.scalar(None, pa.string()))
    text = pc.if_else(is_missing(text), pa.scalar(None, pa.string()), text)
    return pc.replace_substring_regex(pc.utf8_lower(text), r"^(-?[0-9]+)\.0+$", r"\1")


def _sort_pair(found: set[str]) -> tuple[str, str]:
    """Return two values, the smaller first, as numbers if both are; a lone value is the second."""
    if len(found) < 2:
        return "", next(iter(found))
    try:
        low, high = sorted(found, key=float)
    except ValueError:
        low, high = sorted(found)
    return low, high


@dataclass(frozen=True)
class CategoryEncoder(MarkingEncoder):
    """A feature for each value while they are few, hashed features if they are many.

    A missing value is one more value, if many are missing.
    """

    kind: ClassVar[Kind] = Kind.CATEGORY
    min_variance: ClassVar[float] = RARE_VARIANCE

    values: tuple[str, ...] | None  # in lower case, sorted; None if features are hashed

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        text = as_text(values)
        if text is None:
            raise UnusableColumnError(Reason.UNSUPPORTED_TYPE)
        found = pc.unique(pc.utf8_lower(text.drop_null())).to_pylist()
        marks_missing = has_many_missing(as_mask(text.is_null()))
        if len(found) + marks_missing < 2:
            raise UnusableColumnError(Reason.CONSTANT if found else Reason.EMPTY)
        return cls(marks_missing, tuple(sorted(found)) if len(found) <= MAX_CATEGORIES else None)

    def transform(self, values: pa.Array) -> Encoded:
        text = as_text(values)
        keys = pa.nulls(len(values), pa.string()) if text is None else pc.utf8_lower(text)
        coded = keys.dictionary_encode()
        if self.values is None:
            known = pa.array([_hash(word) for word in coded.dictionary.to_pylist()], pa.int64())
        else:
            known = pc.index_in(coded.dictionary, pa.array(self.values, pa.string()))
        places = pc.fill_null(known.take(coded.indices), -1).to_numpy(zero_copy_only=False).astype(np.int64)
        unread = as_mask(values.is_valid() if text is None else text.is_valid()) & (places < 0)
        width = len(self.parts) + self.marks_missing
        if self.marks_missing:
            places[as_mask(keys.is_null())] = width - 1
        rows = np.flatnonzero(places >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        return Encoded(sp.csr_array((ones, (rows, places[rows])), shape=(len(values), width)), unread)

    @property
    def parts(self) -> list[str]:
        values = [f"#{place}" for place in range(HASHED_FEATURES)] if self.values is None else self.values
        return [f"={value}" for value in values]

    @property
    def description(self) -> str:
        return (
            f"{HASHED_FEATURES} hashed features"
            if self.values is None
            else f"one feature for each of {len(self.values)}"
        )

    def is_valid(self) -> bool:
        values = self.values or ()
        return len(set(values)) == len(values) <= MAX_CATEGORIES and len(self.parts) + self.marks_missing > 0


def _hash(value: str) -> int:
    return int.from_bytes(hashlib.blake2b(value.encode(), digest_size=8).digest()) % HASHED_FEATURES


@dataclass(frozen=True)
class DateEncoder(MarkingEncoder):
    """Position in time, and month, weekday and hour where these vary."""

    kind: ClassVar[Kind] = Kind.DATE

    form: str  # of dates in text, as `strptime` has it; empty for typed columns and ISO dates
    centre: float  # in seconds since 1970
    spread: float
    cycles: tuple[str, ...]  # which of month, weekday and hour vary: each is a point on a circle, two features

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        parsed = read_dates(values)
        if not parsed.is_mostly_read:
            raise UnusableColumnError(Reason.UNREADABLE)
        missing = np.isnan(parsed.values)
        known = parsed.values[~missing]
        centre, spread = robust_scale(known)
        cycles = tuple(name for name, turns in _turns(known).items() if np.ptp(turns) > 0)
        return cls(has_many_missing(missing), parsed.form, centre, spread, cycles)

    def transform(self, values: pa.Array) -> Encoded:
        parsed = read_dates(values, self.form)
        missing = np.isnan(parsed.values)
        known = np.where(missing, self.centre, parsed.values)
        columns = [np.clip((known - self.centre) / self.spread, -MAX_DEVIATIONS, MAX_DEVIATIONS)]
        turns = _turns(known)
        for name in self.cycles:
            angle = 2 * np.pi * turns[name] / CYCLES[name]
            columns += [np.where(missing, 0.0, CYCLE_RADIUS * part) for part in (np.sin(angle), np.cos(angle))]
        return Encoded(self.stack(columns, missing), parsed.unread)

    @property
    def parts(self) -> list[str]:
        return ["", *(f" {cycle} {part}" for cycle in self.cycles for part in ("sine", "cosine"))]

    @property
    def description(self) -> str:
        return ", ".join([f"position in time{f' ({self.form})' if self.form else ''}", *self.cycles])

    def is_valid(self) -> bool:
        return self.form in ("", *DATE_FORMS) and set(self.cycles) <= set(CYCLES) and self.spread > 0


def _turns(seconds: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return month, weekday and hour of each time, counted from 0."""
    days = np.floor(seconds / DAY_S)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return {"month": months % 12, "weekday": (days + 3) % 7, "hour": np.floor((seconds - days * DAY_S) / 3600)}
