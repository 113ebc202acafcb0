"""Turn columns that hold many facts into features: texts, vectors, lists of items, and groups of numeric columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.features.encoders import (
    CategoryEncoder,
    DateEncoder,
    Encoded,
    Encoder,
    FitOptions,
    FlagEncoder,
    NumberEncoder,
    UnusableColumnError,
)
from featprop.features.parsing import as_floats, as_mask, as_text, is_most, read_lists, read_numbers, trim_text
from featprop.features.profile import Kind, Reason
from featprop.matrix import is_sparse_smaller

DEFAULT_WORDS = 1024
"""Number of words of a text column that have a feature, the most frequent ones."""
MAX_WORD_SHARE = 0.9
"""Words in more than this share of the texts say little."""
DEFAULT_ITEMS = 16_384
"""Number of items of a column of lists that have a feature, the most frequent ones."""


@dataclass(frozen=True)
class TextEncoder(Encoder):
    """TF-IDF of the most frequent words, in rows of length 1: scikit-learn's `TfidfVectorizer`."""

    kind: ClassVar[Kind] = Kind.TEXT
    has_dimensions: ClassVar[bool] = True

    words: tuple[str, ...]
    rarity: tuple[float, ...]  # inverse document frequency of each word

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        from sklearn.feature_extraction.text import TfidfVectorizer

        size = options.vocabulary or DEFAULT_WORDS
        vectorizer = TfidfVectorizer(strip_accents="unicode", min_df=2, max_df=MAX_WORD_SHARE, max_features=size)
        try:
            vectorizer.fit(_fill_texts(values))
        except ValueError:
            raise UnusableColumnError(Reason.NO_COMMON_WORDS) from None
        return cls(tuple(vectorizer.get_feature_names_out().tolist()), tuple(vectorizer.idf_.round(6).tolist()))

    def transform(self, values: pa.Array) -> Encoded:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            strip_accents="unicode", vocabulary=self.words, sublinear_tf=True, dtype=np.float32
        )
        vectorizer.idf_ = np.array(self.rarity)
        return Encoded(sp.csr_array(vectorizer.transform(_fill_texts(values)), dtype=np.float32))

    @property
    def parts(self) -> Sequence[str]:
        return [f": {word}" for word in self.words]

    def __str__(self) -> str:
        return f"TF-IDF of {len(self.words):,} words"

    def is_valid(self) -> bool:
        return 0 < len(self.words) == len(self.rarity) == len(set(self.words))


def _fill_texts(values: pa.Array) -> list[str]:
    text = as_text(values)
    texts: list[str] = [""] * len(values) if text is None else pc.fill_null(text, "").to_pylist()
    return texts


@dataclass(frozen=True)
class VectorEncoder(Encoder):
    """Lists of numbers of one length, unchanged."""

    kind: ClassVar[Kind] = Kind.VECTOR
    has_dimensions: ClassVar[bool] = True

    means: tuple[float, ...]  # replace missing numbers

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        lists = read_lists(values, pa.float64())
        if lists is None or lists.null_count == len(lists):
            raise UnusableColumnError(Reason.UNREADABLE)
        usual = pc.mode(pc.list_value_length(lists))[0]
        if not is_most(usual["count"].as_py(), len(lists) - lists.null_count):
            raise UnusableColumnError(Reason.UNEVEN_LISTS)
        rows, _ = _stack_lists(lists, usual["mode"].as_py())
        known = np.isfinite(rows)
        if not known.any():
            raise UnusableColumnError(Reason.EMPTY)
        with np.errstate(over="ignore"):
            means = np.where(known, rows, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
        if not np.isfinite(means).all():
            raise UnusableColumnError(Reason.UNREADABLE)
        return cls(tuple(means.tolist()))

    def transform(self, values: pa.Array) -> Encoded:
        lists = read_lists(values, pa.float64())
        if lists is None:
            lists = pa.nulls(len(values), pa.list_(pa.float64()))
        rows, has_length = _stack_lists(lists, len(self.means))
        known = trim_text(values) if pa.types.is_string(values.type) else values
        with np.errstate(over="ignore"):
            filled = np.where(np.isfinite(rows), rows, np.array(self.means)).astype(np.float32)
        return Encoded(filled, as_mask(known.is_valid()) & ~has_length)

    @property
    def parts(self) -> Sequence[str]:
        return [f"[{place}]" for place in range(len(self.means))]

    def __str__(self) -> str:
        return f"{len(self.means):,} numbers unchanged"

    def is_valid(self) -> bool:
        return bool(self.means)


def _stack_lists(lists: pa.Array, width: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return lists as rows, NaN where a number is missing or a list has another length, and which have this length."""
    rows = np.full((len(lists), width), np.nan)
    has_length = as_mask(pc.equal(pc.list_value_length(lists), width))
    numbers = as_floats(lists.filter(pa.array(has_length)).flatten())
    rows[has_length] = numbers.reshape(np.count_nonzero(has_length), width)
    return rows, has_length


@dataclass(frozen=True)
class ItemsEncoder(Encoder):
    """How often each of the most frequent items occurs in the lists of a column, or its value in maps."""

    kind: ClassVar[Kind] = Kind.ITEMS
    has_dimensions: ClassVar[bool] = True

    items: tuple[str, ...]

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        counts = pc.value_counts(_flatten_items(values).texts.drop_null()).to_pylist()
        if not counts:
            raise UnusableColumnError(Reason.EMPTY)
        ranked = sorted(counts, key=lambda each: (-each["counts"], each["values"]))
        return cls(tuple(sorted(each["values"] for each in ranked[: options.vocabulary or DEFAULT_ITEMS])))

    def transform(self, values: pa.Array) -> Encoded:
        found = _flatten_items(values)
        places = pc.fill_null(pc.index_in(found.texts, pa.array(self.items)), -1).to_numpy(zero_copy_only=False)
        is_known = places >= 0
        entries = (found.amounts[is_known], (found.rows[is_known], places[is_known]))
        return Encoded(sp.csr_array(entries, shape=(len(values), len(self.items))))

    @property
    def parts(self) -> Sequence[str]:
        return [f": {item}" for item in self.items]

    def __str__(self) -> str:
        return f"counts or values of {len(self.items):,} items"

    def is_valid(self) -> bool:
        return 0 < len(self.items) == len(set(self.items))


class _Items(NamedTuple):
    """The items of a column, one after the other: their rows, their texts, and their values, which are 1 in lists."""

    rows: NDArray[np.int64]
    texts: pa.Array
    amounts: NDArray[np.float32]


def _flatten_items(values: pa.Array) -> _Items:
    if pa.types.is_map(values.type):
        offsets = values.offsets.to_numpy()
        part = slice(offsets[0], offsets[-1])
        amounts = np.nan_to_num(as_floats(values.items[part]), nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)
        return _Items(np.repeat(np.arange(len(values)), np.diff(offsets)), as_text(values.keys[part]), amounts)
    lists = read_lists(values, pa.string() if pa.types.is_string(values.type) else None)
    if lists is None:
        lists = pa.nulls(len(values), pa.list_(pa.string()))
    texts = as_text(pc.list_flatten(lists))
    assert texts is not None
    return _Items(pc.list_parent_indices(lists).to_numpy(), texts, np.ones(len(texts), dtype=np.float32))


@dataclass(frozen=True)
class GroupEncoder(Encoder):
    """Numeric columns that are parts of one thing, the fields of a struct, unchanged; a missing number is 0."""

    kind: ClassVar[Kind] = Kind.GROUP
    has_dimensions: ClassVar[bool] = True

    is_sparse: bool
    decimal: str  # of text that allows two readings

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        columns, decimal = values.flatten(), options.decimal or "."
        filled = sum(int(np.count_nonzero(_fill_numbers(column, decimal)[0])) for column in columns)
        return cls(is_sparse_smaller(len(values), len(columns), filled), decimal)

    def transform(self, values: pa.Array) -> Encoded:
        unread = np.zeros(len(values), dtype=bool)
        columns, rows = [], []
        for column in values.flatten():
            numbers, unread_here = _fill_numbers(column, self.decimal)
            unread |= unread_here
            rows.append(np.flatnonzero(numbers) if self.is_sparse else np.arange(0))
            columns.append(numbers[rows[-1]] if self.is_sparse else numbers)
        if not self.is_sparse:
            return Encoded(np.stack(columns, axis=1), unread)
        starts = np.cumsum([0, *map(len, rows)])
        entries = (np.concatenate(columns), np.concatenate(rows), starts)
        return Encoded(sp.csr_array(sp.csc_array(entries, shape=(len(values), len(columns)))), unread)

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        return list(columns)

    def __str__(self) -> str:
        return "unchanged"

    def is_valid(self) -> bool:
        return self.decimal in (".", ",")


def _fill_numbers(values: pa.Array, decimal: str) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return numbers, 0 where one is missing, and which values could not be read."""
    parsed = read_numbers(values, decimal, force=True)
    with np.errstate(over="ignore"):
        return np.nan_to_num(parsed.values, nan=0.0).astype(np.float32), parsed.unread


UNCHANGED_KINDS = (Kind.VECTOR, Kind.ITEMS, Kind.GROUP)
"""Kinds of columns that stay unchanged if a table has no others."""
ENCODERS: dict[Kind, type[Encoder]] = {
    encoder.kind: encoder
    for encoder in (
        NumberEncoder, FlagEncoder, CategoryEncoder, DateEncoder, TextEncoder, VectorEncoder, ItemsEncoder, GroupEncoder
    )
}  # fmt: skip
