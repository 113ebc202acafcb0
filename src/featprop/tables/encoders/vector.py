"""Lists of numbers, such as an embedding: one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import shorten
from featprop.matrix import Features
from featprop.tables.encoders.base import Encoder, LeftOutError, counted, text_of
from featprop.tables.missing import is_missing
from featprop.tables.numbers import ENOUGH, are_enough

__all__ = ["VectorEncoder", "lists_in"]

BRACKETS = r"(?s)^\[.*\]$"
NUMBER = r"(?i)^[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|nan|inf|infinity)$"
LONGEST = 20
"""Letters of a value in a message."""


def lists_in(values: pa.Array, least: float = ENOUGH) -> pa.Array | None:
    """Return lists of numbers as they are, and text such as ``[0.5, 1]`` as lists; None if these are too few.

    What is neither missing nor a list of numbers is a null, too.

    Parameters
    ----------
    least
        The share of the values that must be lists; one of a few may be none all the same.
    """
    kind, known = values.type, int(np.count_nonzero(_known(values)))
    if pa.types.is_string(kind):
        text = text_of(values)
        is_list = pc.fill_null(pc.match_substring_regex(text, BRACKETS), False)
        if not are_enough(pc.sum(is_list).as_py() or 0, known, least):
            return None
        text = pc.if_else(is_list, text, pa.scalar(None, pa.string()))
        values = pc.split_pattern_regex(pc.utf8_trim(text, " \t\r\n[]"), r"\s*[,;\s]\s*")
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    lists = _of_numbers(values)
    return lists if lists is not None and are_enough(len(lists) - lists.null_count, known, least) else None


def _known(values: pa.Array) -> NDArray[np.bool_]:
    """Say which values are there."""
    missing = is_missing(values) if pa.types.is_string(values.type) else values.is_null()
    return ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)


def _of_numbers(lists: pa.Array) -> pa.Array | None:
    """Return lists with numbers for texts, null where one is a word; None for lists of anything else."""
    kind = lists.type.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        lists = lists.cast(pa.list_(pa.string()))
        is_word = pc.invert(pc.fill_null(pc.match_substring_regex(pc.list_flatten(lists), NUMBER), True))
        wrong = np.zeros(len(lists), dtype=bool)
        wrong[pc.list_parent_indices(lists).filter(is_word).to_numpy()] = True
        if wrong.any():
            lists = pc.if_else(pa.array(wrong), pa.scalar(None, lists.type), lists)
    try:
        return lists.cast(pa.list_(pa.float64()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _matrix_of(lists: pa.Array, width: int) -> NDArray[np.float64]:
    """Return lists as rows, NaN where a list or a number is missing, or a list has another length."""
    rows = np.full((len(lists), width), np.nan)
    there = _of_length(lists, width)
    flat = pc.fill_null(lists.filter(pa.array(there)).flatten(), np.nan).to_numpy(zero_copy_only=False)
    rows[there] = flat.reshape(-1, width)
    return rows


def _of_length(lists: pa.Array, width: int) -> NDArray[np.bool_]:
    same = pc.fill_null(pc.equal(pc.list_value_length(lists), width), False)
    return np.asarray(same.to_numpy(zero_copy_only=False), dtype=bool)


def _usual_length(lists: pa.Array) -> int | None:
    """Return the length that nearly all lists have; None if there is none."""
    lengths = pc.mode(pc.list_value_length(lists))
    if not len(lengths) or not are_enough(lengths[0]["count"].as_py(), len(lists) - lists.null_count):
        return None
    return int(lengths[0]["mode"].as_py())


@dataclass(frozen=True)
class VectorEncoder(Encoder):
    """Lists of one length, as they are.

    Attributes
    ----------
    fill
        The mean of each number: what a missing one counts as.
    """

    kind: ClassVar[str] = "vector"
    says_much: ClassVar[bool] = True
    unread_are: ClassVar[str] = "lists of another length and what is no list of numbers count as missing"

    fill: tuple[float, ...]

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:
        """Learn what missing lists count as."""
        lists = lists_in(columns[0])
        if lists is None:
            raise LeftOutError("no lists of numbers")
        width = _usual_length(lists)
        if width is None:
            raise LeftOutError(f"{names[0]} holds lists of several lengths")
        if not width:
            raise LeftOutError("empty lists")
        rows = _matrix_of(lists, width)
        there = np.isfinite(rows)
        if not there.any():
            raise LeftOutError("empty")
        with np.errstate(over="ignore"):
            means = np.where(there, rows, 0.0).sum(axis=0) / np.maximum(1, there.sum(axis=0))
        if not np.isfinite(means).all():
            raise LeftOutError("numbers too large to add up")
        return cls(tuple(means.tolist()))

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return the lists as rows."""
        lists = None if columns[0] is None else lists_in(columns[0], least=0.0)
        width = len(self.fill)
        found = np.full((rows, width), np.nan) if lists is None else _matrix_of(lists, width)
        with np.errstate(over="ignore"):  # the graph says which number is too large
            return np.where(np.isfinite(found), found, np.array(self.fill)).astype(np.float32)

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Return what is no list, and the lengths of lists that are not of the one that was learnt."""
        values = columns[0]
        if values is None or not _known(values).any():
            return []
        lists = lists_in(values, least=0.0)
        if lists is None:
            return [f"the type {values.type}"]
        places = np.flatnonzero(_known(values) & ~_of_length(lists, len(self.fill)))
        lengths = pc.list_value_length(lists).take(pa.array(places)).to_pylist()
        found = [
            _in_short(values[int(place)].as_py()) if length is None else f"a list of {length:,}"
            for place, length in zip(places, lengths, strict=True)
        ]
        return counted(found, places)

    def titles(self, name: str) -> list[str]:
        """Return the column and the place in the list."""
        return [f"{name}[{place}]" for place in range(len(self.fill))]

    def settings(self) -> dict[str, Any]:
        """Return all of it."""
        return {"fill": list(self.fill)}

    @classmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Check and take it."""
        fill = np.array(settings["fill"], dtype=np.float64)
        if fill.ndim != 1 or not fill.size or not np.isfinite(fill).all():
            raise ValueError("no list of numbers")
        return cls(tuple(fill.tolist()))

    @property
    def words(self) -> str:
        """Say how long they are."""
        return f"{len(self.fill):,} numbers as they are"


def _in_short(value: object) -> str:
    short = shorten(str(value), LONGEST)
    return repr(short) if isinstance(value, str) else short
