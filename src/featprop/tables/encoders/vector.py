"""Lists of numbers, such as an embedding: one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.matrix import Features
from featprop.tables.encoders.base import Encoder, LeftOutError, text_of

__all__ = ["VectorEncoder", "lists_in", "matrix_of"]


def lists_in(values: pa.Array) -> pa.Array | None:
    """Return lists of numbers as they are, and text such as ``[0.5, 1]`` as lists; None for anything else."""
    kind = values.type
    if pa.types.is_string(kind):
        values = text_of(values)
        if not pc.all(pc.match_substring_regex(values, r"(?s)^\[.*\]$")).as_py():
            return None
        values = pc.split_pattern_regex(pc.utf8_trim(values, " \t\r\n[]"), r"\s*[,;\s]\s*")
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    try:
        return values.cast(pa.list_(pa.float64()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def matrix_of(lists: pa.Array, width: int | None = None) -> NDArray[np.float64] | None:
    """Return lists as rows, NaN where a list or a number is missing; None if they are not of one length.

    Parameters
    ----------
    width
        The length they must have, if one is known.
    """
    lengths = pc.unique(pc.list_value_length(lists).drop_null()).to_pylist()
    if len(lengths) > 1 or (width is not None and lengths not in ([], [width])):
        return None
    columns = lengths[0] if lengths else width or 0
    if not columns:
        return np.empty((len(lists), 0))
    rows = np.full((len(lists), columns), np.nan)
    there = lists.is_valid().to_numpy(zero_copy_only=False)
    flat = pc.fill_null(lists.drop_null().flatten(), np.nan).to_numpy(zero_copy_only=False)
    rows[there] = flat.reshape(-1, columns)
    return rows


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
    unread_are: ClassVar[str] = "lists of another length count as missing"

    fill: tuple[float, ...]

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:
        """Learn what missing lists count as."""
        lists = lists_in(columns[0])
        rows = None if lists is None else matrix_of(lists)
        if rows is not None and not rows.shape[1]:
            raise LeftOutError("empty lists")
        if rows is None:
            raise LeftOutError(
                f"{names[0]} holds lists of several lengths" if lists is not None else "no lists of numbers"
            )
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
        lists = None if columns[0] is None else lists_in(columns[0])
        found = None if lists is None else matrix_of(lists, len(self.fill))
        if found is None:
            found = np.full((rows, len(self.fill)), np.nan)
        with np.errstate(over="ignore"):  # the graph says which number is too large
            return np.where(np.isfinite(found), found, np.array(self.fill)).astype(np.float32)

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Say what lists there are, where they are not of the length that was learnt."""
        if columns[0] is None or columns[0].null_count == len(columns[0]):
            return []
        lists = lists_in(columns[0])
        if lists is not None and matrix_of(lists, len(self.fill)) is not None:
            return []
        return [f"the type {columns[0].type}" if lists is None else "all of them"]

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
