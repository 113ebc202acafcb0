"""Categories: a feature for each value while they are few, features shared by all of them if they are many."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from featprop.matrix import Features
from featprop.tables.encoders.base import Encoder, LeftOutError, has_many_missing, text_of

__all__ = ["CategoryEncoder"]

LIMIT = 64
"""How many values may have a feature of their own."""
SHARED = 256
"""How many features more values than that share."""
MISSING = "(missing)"
RAREST = 0.01


@dataclass(frozen=True)
class CategoryEncoder(Encoder):
    """A category.

    Attributes
    ----------
    values
        The values that have a feature each, in small letters, sorted; None where features are shared by hashing.
    marked
        Whether a missing value is one more value.
    """

    kind: ClassVar[str] = "category"
    least_variance: ClassVar[float] = RAREST
    unread_are: ClassVar[str] = "values never seen before count as nothing"

    values: tuple[str, ...] | None
    marked: bool

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:  # noqa: ARG003
        """Learn which values there are."""
        found = _keys(columns[0])
        values = pc.unique(found.drop_null()).to_pylist()
        marked = has_many_missing(np.asarray(found.is_null().to_numpy(zero_copy_only=False)))
        if len(values) + marked < 2:
            raise LeftOutError("the same everywhere" if values else "empty")
        return cls(tuple(sorted(values)) if len(values) <= LIMIT else None, marked)

    @property
    def width(self) -> int:
        """How many features there are."""
        return (SHARED if self.values is None else len(self.values)) + self.marked

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return a 1 in each row, or nothing for a value that was never seen."""
        if columns[0] is None:
            return sp.csr_array((rows, self.width), dtype=np.float32)
        keys = _keys(columns[0])
        if self.values is None:
            coded = keys.dictionary_encode()
            buckets = np.array([_bucket(value) for value in coded.dictionary.to_pylist()] or [0], dtype=np.int64)
            codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
            places = np.where(codes < 0, -1, buckets[codes])
        else:
            found = pc.index_in(keys, pa.array(self.values, pa.string()))
            places = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        if self.marked:
            places = np.where(keys.is_null().to_numpy(zero_copy_only=False), self.width - 1, places)
        there = np.flatnonzero(places >= 0)
        ones = np.ones(len(there), dtype=np.float32)
        return sp.csr_array((ones, (there, places[there])), shape=(rows, self.width))

    def titles(self, name: str) -> list[str]:
        """Return the column and its value."""
        values = [f"#{place}" for place in range(SHARED)] if self.values is None else list(self.values)
        return [f"{name}={value}" for value in values + [MISSING] * self.marked]

    @classmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Check and take it."""
        values, marked = settings["values"], settings["marked"]
        if values is not None and (len(values) > LIMIT or any(not isinstance(value, str) for value in values)):
            raise ValueError("categories of another type, or too many")
        if not isinstance(marked, bool):
            raise TypeError("a mark of another type")
        return cls(None if values is None else tuple(values), marked)

    @property
    def words(self) -> str:
        """Say how many features there are."""
        what = f"{SHARED} features shared by hashing" if self.values is None else f"a feature for each of {self.width}"
        return what + (", missing marked" if self.marked else "")

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Return values without a feature."""
        if columns[0] is None or self.values is None:
            return []
        return sorted(set(pc.unique(_keys(columns[0]).drop_null()).to_pylist()) - set(self.values))


def _keys(values: pa.Array) -> pa.Array:
    return pc.utf8_lower(text_of(values))


def _bucket(value: str) -> int:
    return int.from_bytes(hashlib.blake2b(value.encode(), digest_size=8).digest()) % SHARED
