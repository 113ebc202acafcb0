"""What every kind of column has in common: it learns from values once, and turns values into numbers from then on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.matrix import Features
from featprop.tables.missing import is_blank
from featprop.tables.numbers import numbers_of

__all__ = [
    "MANY",
    "MARK",
    "Encoder",
    "LeftOutError",
    "counted",
    "has_many_missing",
    "named",
    "robust",
    "stacked",
    "text_of",
    "with_mark",
]

MANY = 0.2
"""From this share on missing values get a feature of their own."""
MARK = 0.5
"""What that feature is where a value is missing, beside values of a usual distance of 1."""
SPREAD = 1.349
"""The distance between the quartiles of a normal distribution of deviation 1."""
TRAILING = (r"(?:\.|(\.[0-9]*[1-9]))0+$", r"\1")
"""Zeros after the point of a time, which tell only what unit it is stored in."""


class LeftOutError(Exception):
    """Raised by `Encoder.learn` about values nothing can be learnt from; the message says why."""


class Encoder(ABC):
    """How the values of a column, or of a group of columns, become features.

    Attributes
    ----------
    kind
        Its name in tables and in JSON.
    least_variance
        What the variance of the block counts at least when blocks are weighed, so that a flag which hardly ever is
        set does not become a huge number where it is.
    says_much
        Whether it says more than one thing of a node, and so counts by how many dimensions it spans.
    unread_are
        What is said of values that cannot be read.
    """

    kind: ClassVar[str]
    least_variance: ClassVar[float] = 0.0
    says_much: ClassVar[bool] = False
    unread_are: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:
        """Learn from the values of the columns of the block, one for every kind but groups of columns."""

    @abstractmethod
    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return the features of the values; None stands for a column that is not there."""

    def parts(self, columns: Sequence[pa.Array | None], rows: int) -> Iterator[Features]:
        """Yield the features as matrices that stand side by side."""
        yield self.apply(columns, rows)

    @abstractmethod
    def titles(self, name: str) -> list[str]:
        """Return a name for each feature."""

    def settings(self) -> dict[str, Any]:
        """Return what was learnt, as `json` writes it: all fields, unless it says otherwise."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    @classmethod
    @abstractmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Return the encoder of `settings`; whatever is wrong with them is a ValueError, TypeError or KeyError."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What becomes of the values, in a few words."""

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:  # noqa: ARG002
        """Return values that cannot be read, as a message names them; what they count as is `unread_are`."""
        return []

    def otherwise(self, columns: Sequence[pa.Array | None]) -> str | None:  # noqa: ARG002
        """Say how values seem to be written otherwise than those that were learnt from; None if they do not."""
        return None


def has_many_missing(missing: NDArray[np.bool_]) -> bool:
    """Say whether values are missing so often that this tells something."""
    return bool(missing.mean() >= MANY) if missing.size else False


def robust(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the middle of some numbers and how far they usually are from it, whatever a few of them are."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        spread = (high - low) / SPREAD
    if not (spread > 0 and np.isfinite(spread)):
        inner = np.clip(values, *np.quantile(values, [0.01, 0.99]))
        with np.errstate(over="ignore", invalid="ignore"):
            spread = float(inner.std()) or float(np.clip(values, -1e150, 1e150).std())
    if not (spread > 0 and np.isfinite(spread)):
        raise LeftOutError("the same everywhere")
    return float(middle), float(spread)


def with_mark(name: str, marked: bool) -> list[str]:
    """Return the name of a feature, and of the one that says that it is missing if there is one."""
    return [name, f"{name} is missing"] if marked else [name]


def stacked(*columns: NDArray[Any]) -> NDArray[np.float32]:
    """Return columns side by side."""
    return np.stack(columns, axis=1).astype(np.float32)


def text_of(values: pa.Array) -> pa.Array:
    """Return values as text without spaces around it, None where there is nothing.

    Whole numbers have no point; durations are in seconds, and times of day have no more digits than they need.
    """
    if pa.types.is_nested(values.type) or pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        raise LeftOutError(f"of the type {values.type}")
    if pa.types.is_duration(values.type):
        values = pa.array(numbers_of(values), from_pandas=True)
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float64()) if pa.types.is_float16(values.type) else values  # Arrow rounds no half ones
        whole = pc.all(pc.or_kleene(pc.equal(values, pc.floor(values)), pc.is_null(values, nan_is_null=True))).as_py()
        if whole and (pc.max(pc.abs(values)).as_py() or 0) < 2**53:
            values = pc.if_else(pc.is_nan(values), None, values).cast(pa.int64())
    try:
        text = pc.utf8_trim_whitespace(values.cast(pa.string()))
    except pa.ArrowNotImplementedError:
        raise LeftOutError(f"of the type {values.type}") from None
    if pa.types.is_time(values.type):
        text = pc.replace_substring_regex(text, *TRAILING)
    return pc.if_else(is_blank(text), pa.scalar(None, pa.string()), text)


def named(values: pa.Array, places: NDArray[np.int64]) -> list[str]:
    """Return values, how often each is there and its first row, as a message names them."""
    return counted([repr(value) for value in values.take(pa.array(places)).to_pylist()], places)


def counted(found: list[str], places: NDArray[np.int64]) -> list[str]:
    """Return each of some words once, how often it is there and its first row."""
    first = dict(zip(reversed(found), reversed(places.tolist()), strict=True))
    often = [f"{count:,} times, first " if count > 1 else "" for count in Counter(found).values()]
    return [f"{value} {times}in row {first[value] + 1:,}" for value, times in zip(Counter(found), often, strict=True)]
