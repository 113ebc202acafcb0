"""Categories: a feature for each value while they are few, features shared by all of them if they are many."""

from __future__ import annotations

import hashlib
import re
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
KEPT = 4096
"""How many values that share features are known again, each by a digest."""
LETTERS = 8
"""How long such a digest is: one of four thousand million values is taken for another."""
KNOWN = re.compile(rf"(?:[0-9a-f]{{{LETTERS}}}){{1,{KEPT}}}")
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
    known
        The digests of the values that share features, sorted, one after the other; None if they are too many.
    """

    kind: ClassVar[str] = "category"
    least_variance: ClassVar[float] = RAREST
    unread_are: ClassVar[str] = "values never seen before count as nothing"

    values: tuple[str, ...] | None
    marked: bool
    known: str | None = None

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:  # noqa: ARG003
        """Learn which values there are."""
        found = _keys(columns[0])
        values = pc.unique(found.drop_null()).to_pylist()
        marked = has_many_missing(np.asarray(found.is_null().to_numpy(zero_copy_only=False)))
        if len(values) + marked < 2:
            raise LeftOutError("the same everywhere" if values else "empty")
        if len(values) <= LIMIT:
            return cls(tuple(sorted(values)), marked)
        return cls(None, marked, "".join(sorted(map(_digest, values))) if len(values) <= KEPT else None)

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
            words = coded.dictionary.to_pylist()
            new = set(self._never_seen(words))
            buckets = np.array([-1 if word in new else _bucket(word) for word in words] or [-1], dtype=np.int64)
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

    def _never_seen(self, words: list[str]) -> list[str]:
        """Return the values that were not there to learn from, as far as that is known."""
        if self.values is not None:
            return sorted(set(words) - set(self.values))
        if self.known is None:
            return []
        known = {self.known[start : start + LETTERS] for start in range(0, len(self.known), LETTERS)}
        return sorted(word for word in words if _digest(word) not in known)

    def settings(self) -> dict[str, Any]:
        """Return all of it, but for digests where there are none."""
        return {name: value for name, value in super().settings().items() if name != "known" or value is not None}

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
        known = settings.get("known")
        if known is not None and (values is not None or not KNOWN.fullmatch(known)):
            raise ValueError("digests of categories that are none")
        return cls(None if values is None else tuple(values), marked, known)

    @property
    def words(self) -> str:
        """Say how many features there are."""
        what = f"{SHARED} features shared by hashing" if self.values is None else f"a feature for each of {self.width}"
        return what + (", missing marked" if self.marked else "")

    def unread(self, columns: Sequence[pa.Array | None]) -> list[str]:
        """Return values without a feature."""
        return [] if columns[0] is None else self._never_seen(pc.unique(_keys(columns[0]).drop_null()).to_pylist())


def _keys(values: pa.Array) -> pa.Array:
    return pc.utf8_lower(text_of(values))


def _bucket(value: str) -> int:
    return int.from_bytes(_hash(value)) % SHARED


def _digest(value: str) -> str:
    return _hash(value).hex()[:LETTERS]


def _hash(value: str) -> bytes:
    return hashlib.blake2b(value.encode(), digest_size=8).digest()
