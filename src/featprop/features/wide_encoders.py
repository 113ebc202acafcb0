"""Turn columns that hold many facts into features: texts, vectors, lists of items, and groups of numeric columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

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
from featprop.matrix import is_sparse_smaller, unit_rows

DEFAULT_WORDS = 1024
"""Number of words of a text column that have a feature, the most frequent ones."""
MAX_WORD_SHARE = 0.9
"""Words in more than this share of the texts say little."""
DEFAULT_ITEMS = 16_384
"""Number of items of a column of lists that have a feature, the most frequent ones."""


@dataclass(frozen=True)
class TextEncoder(Encoder):
    """TF-IDF of the most frequent words, in rows of length 1."""

    kind: ClassVar[Kind] = Kind.TEXT
    has_dimensions: ClassVar[bool] = True

    words: tuple[str, ...]
    rarity: tuple[float, ...]  # inverse document frequency of each word

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        """Learn the words and their inverse document frequencies."""
        from sklearn.feature_extraction.text import CountVectorizer

        texts = _fill_texts(values)
        counter = CountVectorizer(
            strip_accents="unicode", min_df=2, max_df=MAX_WORD_SHARE, max_features=options.vocabulary or DEFAULT_WORDS
        )
        try:
            counts = counter.fit_transform(texts)
        except ValueError:
            raise UnusableColumnError(Reason.NO_COMMON_WORDS) from None
        rarity = np.log((1 + len(texts)) / (1 + np.bincount(counts.indices, minlength=counts.shape[1]))) + 1
        return cls(tuple(counter.get_feature_names_out().tolist()), tuple(np.round(rarity, 6).tolist()))

    def transform(self, values: pa.Array) -> Encoded:
        """Return TF-IDF rows, zeros where there is no known word."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(strip_accents="unicode", vocabulary=list(self.words))
        counts = sp.csr_array(counter.transform(_fill_texts(values)), dtype=np.float32)
        counts.data = (1 + np.log(counts.data)) * np.array(self.rarity, dtype=np.float32)[counts.indices]
        return Encoded(unit_rows(counts))

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        """Return the column and the word."""
        return [f"{columns[0]}: {word}" for word in self.words]

    def __str__(self) -> str:
        return f"TF-IDF of {len(self.words):,} words"

    def __post_init__(self) -> None:
        if not 0 < len(self.words) == len(self.rarity) or len(set(self.words)) < len(self.words):
            raise ValueError("A text column has words without a weight, the same one twice, or none.")


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
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:  # noqa: ARG003
        """Learn the length and the means."""
        lists = read_lists(values, pa.float64())
        if lists is None or lists.null_count == len(lists):
            raise UnusableColumnError(Reason.UNREADABLE)
        lengths = pc.mode(pc.list_value_length(lists))
        if not is_most(lengths[0]["count"].as_py(), len(lists) - lists.null_count):
            raise UnusableColumnError(Reason.UNEVEN_LISTS)
        rows = _stack_lists(lists, int(lengths[0]["mode"].as_py()))
        known = np.isfinite(rows)
        if not known.any():
            raise UnusableColumnError(Reason.EMPTY)
        with np.errstate(over="ignore"):
            means = np.where(known, rows, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
        if not np.isfinite(means).all():
            raise UnusableColumnError(Reason.UNREADABLE)
        return cls(tuple(means.tolist()))

    def transform(self, values: pa.Array) -> Encoded:
        """Return the lists as rows."""
        lists, width = read_lists(values, pa.float64()), len(self.means)
        rows = np.full((len(values), width), np.nan) if lists is None else _stack_lists(lists, width)
        has_list = np.zeros(len(values), dtype=bool) if lists is None else _has_length(lists, width)
        known = trim_text(values) if pa.types.is_string(values.type) else values
        with np.errstate(over="ignore"):
            filled = np.where(np.isfinite(rows), rows, np.array(self.means)).astype(np.float32)
        return Encoded(filled, as_mask(known.is_valid()) & ~has_list)

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        """Return the column and the position in the list."""
        return [f"{columns[0]}[{place}]" for place in range(len(self.means))]

    def __str__(self) -> str:
        return f"{len(self.means):,} numbers unchanged"

    def __post_init__(self) -> None:
        if not self.means:
            raise ValueError("A vector column has no numbers.")


def _has_length(lists: pa.Array, width: int) -> NDArray[np.bool_]:
    return as_mask(pc.equal(pc.list_value_length(lists), width))


def _stack_lists(lists: pa.Array, width: int) -> NDArray[np.float64]:
    """Return lists as rows, NaN where a number is missing or a list has another length."""
    rows = np.full((len(lists), width), np.nan)
    has_length = _has_length(lists, width)
    numbers = pc.fill_null(lists.filter(pa.array(has_length)).flatten(), np.nan).to_numpy(zero_copy_only=False)
    rows[has_length] = numbers.reshape(np.count_nonzero(has_length), width)
    return rows


@dataclass(frozen=True)
class ItemsEncoder(Encoder):
    """How often each of the most frequent items occurs in the lists of a column, or its value in maps."""

    kind: ClassVar[Kind] = Kind.ITEMS
    has_dimensions: ClassVar[bool] = True

    items: tuple[str, ...]

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        """Learn the most frequent items; of equally frequent ones the first in order."""
        _, found, _ = _flatten_items(values)
        counts = {each["values"]: each["counts"] for each in pc.value_counts(found.drop_null()).to_pylist()}
        if not counts:
            raise UnusableColumnError(Reason.EMPTY)
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(tuple(sorted(ranked[: options.vocabulary or DEFAULT_ITEMS])))

    def transform(self, values: pa.Array) -> Encoded:
        """Return the counts or values of known items."""
        rows, found, amounts = _flatten_items(values)
        places = pc.fill_null(pc.index_in(found, pa.array(self.items)), -1).to_numpy(zero_copy_only=False)
        is_known = places >= 0
        entries = (amounts[is_known], (rows[is_known], places[is_known]))
        return Encoded(sp.csr_array(entries, shape=(len(values), len(self.items))))

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        """Return the column and the item."""
        return [f"{columns[0]}: {item}" for item in self.items]

    def __str__(self) -> str:
        return f"counts or values of {len(self.items):,} items"

    def __post_init__(self) -> None:
        if not self.items or len(set(self.items)) < len(self.items):
            raise ValueError("A column of items has the same item twice, or none.")


def _flatten_items(values: pa.Array) -> tuple[NDArray[np.int64], pa.Array, NDArray[np.float32]]:
    """Return the row, the text and the value of each item in a column of lists or maps; in lists all values are 1."""
    if pa.types.is_map(values.type):
        offsets = values.offsets.to_numpy()
        part = slice(offsets[0], offsets[-1])
        amounts = np.nan_to_num(as_floats(values.items[part]), nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)
        return np.repeat(np.arange(len(values)), np.diff(offsets)), as_text(values.keys[part]), amounts
    lists = read_lists(values, pa.string() if pa.types.is_string(values.type) else None)
    if lists is None:
        return np.empty(0, np.int64), pa.array([], pa.string()), np.empty(0, np.float32)
    items = as_text(pc.list_flatten(lists))
    assert items is not None
    return pc.list_parent_indices(lists).to_numpy(), items, np.ones(len(items), dtype=np.float32)


@dataclass(frozen=True)
class GroupEncoder(Encoder):
    """Numeric columns that are parts of one thing, the fields of a struct, unchanged; a missing number is 0."""

    kind: ClassVar[Kind] = Kind.GROUP
    has_dimensions: ClassVar[bool] = True

    is_sparse: bool
    decimal: str  # of text that allows two readings

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        """Learn whether most numbers are 0."""
        columns, decimal = values.flatten(), options.decimal or "."
        filled = sum(int(np.count_nonzero(_fill_numbers(column, decimal)[0])) for column in columns)
        return cls(is_sparse_smaller(len(values), len(columns), filled), decimal)

    def transform(self, values: pa.Array) -> Encoded:
        """Return the columns next to each other."""
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
        """Return the names of the columns."""
        return list(columns)

    def __str__(self) -> str:
        return "unchanged"

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise ValueError("A group has an unknown decimal mark.")


def _fill_numbers(values: pa.Array, decimal: str) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return numbers, 0 where one is missing, and which values could not be read."""
    parsed = read_numbers(values, decimal, force=True)
    if parsed is None:
        return np.zeros(len(values), dtype=np.float32), as_mask(values.is_valid())
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
