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
    clean_text,
    find_date_form,
    find_decimal_mark,
    read_dates,
    read_numbers,
)
from featprop.features.profile import MAX_CATEGORIES, YES_NO, Kind, Reason
from featprop.matrix import Features

QUARTILE_DISTANCE = 1.349
"""Distance between the quartiles of a normal distribution of deviation 1."""
HEAVY_TAIL = 4.0
"""Numbers have a heavy tail if one in a hundred is more than this many deviations from the median."""
MAX_DEVIATIONS = 6.0
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
    """Features of a column, and which of its values are missing or could not be read."""

    matrix: Features
    missing: NDArray[np.bool_]


@dataclass(frozen=True)
class Encoder(ABC):
    """How the values of a column become features; ``str(encoder)`` says it in a few words."""

    kind: ClassVar[Kind]
    missing_value: ClassVar[float] = 0.0
    """Value of the further feature that marks missing values, if many are missing; 0 for no such feature."""
    min_variance: ClassVar[float] = 0.0
    """Least variance the features count with when groups are weighted, so that a rare flag does not become huge."""
    has_dimensions: ClassVar[bool] = False
    """Whether a column holds more than one fact about a node, and counts by the number of dimensions it spans."""

    @classmethod
    @abstractmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        """Learn from a column; raise `UnusableColumnError` if there is nothing to learn."""

    @abstractmethod
    def transform(self, values: pa.Array) -> Encoded:
        """Return the features of a column; a column of nulls is all missing."""

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        """Return a name for each feature."""
        return [columns[0]]


@dataclass(frozen=True)
class IgnoredColumn(Encoder):
    """No feature at all."""

    kind: ClassVar[Kind] = Kind.IGNORED

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        return cls()

    def transform(self, values: pa.Array) -> Encoded:
        return Encoded(np.zeros((len(values), 0), dtype=np.float32), np.ones(len(values), dtype=bool))

    def feature_names(self, columns: Sequence[str]) -> list[str]:  # noqa: ARG002
        return []


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
class NumberEncoder(Encoder):
    """Distance from the median in robust standard deviations."""

    kind: ClassVar[Kind] = Kind.NUMBER
    missing_value: ClassVar[float] = 0.5

    centre: float
    spread: float
    is_log: bool  # the logarithm (arcsinh) of distances, as for money; otherwise they are clipped
    decimal: str  # of text that allows two readings

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        decimal = find_decimal_mark(values, options.decimal).text
        numbers = read_numbers(values, decimal)
        known = numbers[~np.isnan(numbers)]
        centre, spread = robust_scale(known)
        return cls(centre, spread, is_heavy_tailed(known, centre, spread), decimal)

    def transform(self, values: pa.Array) -> Encoded:
        numbers = read_numbers(values, self.decimal)
        missing = np.isnan(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            distances = (numbers - self.centre) / self.spread
            distances = np.arcsinh(distances) if self.is_log else np.clip(distances, -MAX_DEVIATIONS, MAX_DEVIATIONS)
        return _stack([np.where(missing, 0.0, np.clip(distances, -1e3, 1e3))], missing)

    def __str__(self) -> str:
        return f"{'logarithm of the distance from' if self.is_log else 'standardised around'} {self.centre:.4g}"


def _stack(columns: list[NDArray[Any]], missing: NDArray[np.bool_]) -> Encoded:
    return Encoded(np.stack(columns, axis=1).astype(np.float32), missing)


@dataclass(frozen=True)
class FlagEncoder(Encoder):
    """One of two values, in lower case: `high` is 1 and `low` is 0, less the share of `high`."""

    kind: ClassVar[Kind] = Kind.FLAG
    missing_value: ClassVar[float] = 0.5
    min_variance: ClassVar[float] = RARE_VARIANCE

    low: str  # empty if there is only one value
    high: str
    share: float

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        text = _flag_text(values).drop_null()
        counts = sorted(pc.value_counts(text).to_pylist(), key=lambda each: -each["counts"])
        found = {each["values"] for each in counts[:2]}
        if not found:
            raise UnusableColumnError(Reason.EMPTY)
        read = text.filter(pc.is_in(text, pa.array(found, pa.string())))
        own_pair = sorted(found) if len(found) == 2 else ["", *found]
        low, high = next((pair for pair in YES_NO if found <= set(pair)), own_pair)
        return cls(low, high, float(pc.mean(pc.equal(read, high).cast(pa.float64())).as_py()))

    def transform(self, values: pa.Array) -> Encoded:
        text, pair = _flag_text(values), (self.low, self.high)
        is_low, is_high = (
            as_mask(pc.is_in(text, pa.array(words)))
            for words in zip(*(YES_NO if pair in YES_NO else [pair]), strict=True)
        )
        missing = ~(is_low | is_high)
        return _stack([np.where(missing, 0.0, is_high - self.share)], missing)

    def __str__(self) -> str:
        return f"1 for {self.high}, 0 for {self.low or 'others'}"


def _flag_text(values: pa.Array) -> pa.Array:
    """Return values as lower-case text in which two of them are compared."""
    text = as_text(values)
    if text is None:
        return pa.nulls(len(values), pa.string())
    return pc.replace_substring_regex(pc.utf8_lower(clean_text(text)), r"^(-?[0-9]+)\.0+$", r"\1")


@dataclass(frozen=True)
class CategoryEncoder(Encoder):
    """A feature for each value while they are few, hashed features if they are many."""

    kind: ClassVar[Kind] = Kind.CATEGORY
    missing_value: ClassVar[float] = 1.0  # a missing value is one more value
    min_variance: ClassVar[float] = RARE_VARIANCE

    values: tuple[str, ...]  # in lower case, sorted; empty if features are hashed

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        text = as_text(values)
        if text is None:
            raise UnusableColumnError(Reason.UNSUPPORTED_TYPE)
        found = pc.unique(pc.utf8_lower(text.drop_null())).to_pylist()
        if not found:
            raise UnusableColumnError(Reason.EMPTY)
        return cls(tuple(sorted(found)) if len(found) <= MAX_CATEGORIES else ())

    def transform(self, values: pa.Array) -> Encoded:
        text = as_text(values)
        coded = (pa.nulls(len(values), pa.string()) if text is None else pc.utf8_lower(text)).dictionary_encode()
        if self.values:
            known = pc.index_in(coded.dictionary, pa.array(self.values))
        else:
            known = pa.array([_hash(word) for word in coded.dictionary.to_pylist()], pa.int32())
        places = pc.fill_null(known.take(coded.indices), -1).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(places >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        matrix = sp.csr_array((ones, (rows, places[rows])), shape=(len(values), len(self.values) or HASHED_FEATURES))
        return Encoded(matrix, places < 0)

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        return [f"{columns[0]}={value}" for value in self.values or (f"#{place}" for place in range(HASHED_FEATURES))]

    def __str__(self) -> str:
        return f"one feature for each of {len(self.values)}" if self.values else f"{HASHED_FEATURES} hashed features"


def _hash(value: str) -> int:
    return int.from_bytes(hashlib.blake2b(value.encode(), digest_size=8).digest()) % HASHED_FEATURES


@dataclass(frozen=True)
class DateEncoder(Encoder):
    """Position in time, and month, weekday and hour where these vary."""

    kind: ClassVar[Kind] = Kind.DATE
    missing_value: ClassVar[float] = 0.5

    form: str  # of dates in text, as `strptime` has it; empty for typed columns and ISO dates
    centre: float  # in seconds since 1970
    spread: float
    cycles: tuple[str, ...]  # which of month, weekday and hour vary: each is a point on a circle, two features

    def __post_init__(self) -> None:
        if self.form not in ("", *DATE_FORMS) or not CYCLES.keys() >= set(self.cycles):
            raise ValueError(f"{self.form!r} is not a date format, or {self.cycles} are not cycles")

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        form = find_date_form(values).text
        seconds = read_dates(values, form)
        known = seconds[~np.isnan(seconds)]
        centre, spread = robust_scale(known)
        return cls(form, centre, spread, tuple(name for name, turns in _turns(known).items() if np.ptp(turns) > 0))

    def transform(self, values: pa.Array) -> Encoded:
        seconds = read_dates(values, self.form)
        missing = np.isnan(seconds)
        known = np.where(missing, self.centre, seconds)
        columns = [np.clip((known - self.centre) / self.spread, -MAX_DEVIATIONS, MAX_DEVIATIONS)]
        turns = _turns(known)
        for name in self.cycles:
            angle = 2 * np.pi * turns[name] / CYCLES[name]
            columns += [np.where(missing, 0.0, CYCLE_RADIUS * part) for part in (np.sin(angle), np.cos(angle))]
        return _stack(columns, missing)

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        return [columns[0], *(f"{columns[0]} {cycle} {part}" for cycle in self.cycles for part in ("sine", "cosine"))]

    def __str__(self) -> str:
        return ", ".join([f"position in time{f' ({self.form})' if self.form else ''}", *self.cycles])


def _turns(seconds: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return month, weekday and hour of each time, counted from 0."""
    days = np.floor(seconds / DAY_S)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return {"month": months % 12, "weekday": (days + 3) % 7, "hour": np.floor((seconds - days * DAY_S) / 3600)}
