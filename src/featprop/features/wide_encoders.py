"""Turn columns that hold many facts into features: texts, vectors, lists of items, and groups of numeric columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

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
    IgnoredColumn,
    NumberEncoder,
    UnusableColumnError,
)
from featprop.features.parsing import as_floats, as_mask, as_text, has_value, read_lists, read_numbers
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
        vectorizer = _vectorizer(min_df=2, max_df=MAX_WORD_SHARE, max_features=options.vocabulary or DEFAULT_WORDS)
        try:
            vectorizer.fit(_fill_texts(values))
        except ValueError:
            raise UnusableColumnError(Reason.NO_COMMON_WORDS) from None
        return cls(tuple(vectorizer.get_feature_names_out().tolist()), tuple(vectorizer.idf_.round(6).tolist()))

    def transform(self, values: pa.Array) -> Encoded:
        vectorizer = _vectorizer(vocabulary=self.words, dtype=np.float32)
        vectorizer.idf_ = np.array(self.rarity)
        texts = _fill_texts(values)
        return Encoded(sp.csr_array(vectorizer.transform(texts)), np.array([not text for text in texts], dtype=bool))

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        return [f"{columns[0]}: {word}" for word in self.words]

    def __str__(self) -> str:
        return f"TF-IDF of {len(self.words):,} words"


def _vectorizer(**options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(strip_accents="unicode", sublinear_tf=True, **options)


def _fill_texts(values: pa.Array) -> list[str]:
    text = as_text(values)
    return [""] * len(values) if text is None else [each or "" for each in text.to_pylist()]


@dataclass(frozen=True)
class VectorEncoder(Encoder):
    """Lists of numbers of one length, unchanged; a missing number is 0."""

    kind: ClassVar[Kind] = Kind.VECTOR
    has_dimensions: ClassVar[bool] = True

    length: int

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        lengths = pc.mode(pc.list_value_length(read_lists(values, pa.float64())))
        if not len(lengths) or lengths[0]["mode"].as_py() == 0:
            raise UnusableColumnError(Reason.EMPTY)
        return cls(lengths[0]["mode"].as_py())

    def transform(self, values: pa.Array) -> Encoded:
        lists = read_lists(values, pa.float64())
        has_length = as_mask(pc.equal(pc.list_value_length(lists), self.length))
        rows = np.zeros((len(lists), self.length), dtype=np.float32)
        numbers = as_floats(lists.filter(pa.array(has_length)).flatten())
        rows[has_length] = _to_float32(numbers).reshape(-1, self.length)
        return Encoded(rows, ~has_length)

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        return [f"{columns[0]}[{place}]" for place in range(self.length)]

    def __str__(self) -> str:
        return f"{self.length:,} numbers unchanged"


@dataclass(frozen=True)
class ItemsEncoder(Encoder):
    """How often each of the most frequent items occurs in the lists of a column, or its value in maps."""

    kind: ClassVar[Kind] = Kind.ITEMS
    has_dimensions: ClassVar[bool] = True

    items: tuple[str, ...]

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        counts = pc.value_counts(_flatten_items(values)[1].drop_null()).to_pylist()
        if not counts:
            raise UnusableColumnError(Reason.EMPTY)
        ranked = sorted(counts, key=lambda each: (-each["counts"], each["values"]))
        return cls(tuple(sorted(each["values"] for each in ranked[: options.vocabulary or DEFAULT_ITEMS])))

    def transform(self, values: pa.Array) -> Encoded:
        rows, texts, amounts = _flatten_items(values)
        places = pc.fill_null(pc.index_in(texts, pa.array(self.items)), -1).to_numpy(zero_copy_only=False)
        is_known = places >= 0
        entries = (amounts[is_known], (rows[is_known], places[is_known]))
        return Encoded(sp.csr_array(entries, shape=(len(values), len(self.items))), as_mask(values.is_null()))

    def feature_names(self, columns: Sequence[str]) -> list[str]:
        return [f"{columns[0]}: {item}" for item in self.items]

    def __str__(self) -> str:
        return f"counts or values of {len(self.items):,} items"


def _flatten_items(values: pa.Array) -> tuple[NDArray[np.int64], pa.Array, NDArray[np.float32]]:
    """Return the rows, the texts and the values, which are 1 in lists, of all items of a column."""
    if pa.types.is_map(values.type):
        offsets = values.offsets.to_numpy()
        part = slice(offsets[0], offsets[-1])
        amounts = _to_float32(as_floats(values.items[part]))
        return np.repeat(np.arange(len(values)), np.diff(offsets)), as_text(values.keys[part]), amounts
    lists = read_lists(values, pa.string() if pa.types.is_string(values.type) else None)
    texts = as_text(pc.list_flatten(lists))
    assert texts is not None
    return pc.list_parent_indices(lists).to_numpy(), texts, np.ones(len(texts), dtype=np.float32)


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
        filled = sum(int(np.count_nonzero(_to_float32(read_numbers(column, decimal)))) for column in columns)
        return cls(is_sparse_smaller(len(values), len(columns), filled), decimal)

    def transform(self, values: pa.Array) -> Encoded:
        unread = np.zeros(len(values), dtype=bool)
        columns, rows = [], []
        for column in values.flatten():
            read = read_numbers(column, self.decimal)
            if np.isnan(read).any():
                unread |= np.isnan(read) & has_value(column)
            numbers = _to_float32(read)
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


def _to_float32(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return numbers in single precision, 0 where one is missing or infinite."""
    with np.errstate(over="ignore"):
        return np.nan_to_num(numbers.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)


UNCHANGED_KINDS = (Kind.VECTOR, Kind.ITEMS, Kind.GROUP)
"""Kinds of columns that stay unchanged if a table has no others."""
ENCODERS: dict[Kind, type[Encoder]] = {
    encoder.kind: encoder
    for encoder in (
        NumberEncoder, FlagEncoder, CategoryEncoder, DateEncoder, TextEncoder, VectorEncoder, ItemsEncoder,
        GroupEncoder, IgnoredColumn,
    )
}  # fmt: skip
