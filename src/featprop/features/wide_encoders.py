"""Turn columns that hold many facts into features: texts, vectors, lists of items, and groups of numeric columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.features.encoders import Encoded, Encoder, FitOptions, UnusableColumnError
from featprop.features.parsing import as_mask, as_text, is_most, read_lists, read_numbers, trim_text
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
    """TF-IDF of the most frequent words, in rows of length 1.

    Attributes
    ----------
    words
        Words that have a feature.
    rarity
        Inverse document frequency of each.
    """

    kind: ClassVar[Kind] = Kind.TEXT
    has_dimensions: ClassVar[bool] = True

    words: tuple[str, ...]
    rarity: tuple[float, ...]

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

    def feature_names(self, name: str) -> list[str]:
        """Return the column and the word."""
        return [f"{name}: {word}" for word in self.words]

    def describe(self) -> str:
        """Return how many words count."""
        return f"TF-IDF of {len(self.words):,} words"

    def check(self) -> None:
        """Refuse words without a number, or twice."""
        if not 0 < len(self.words) == len(self.rarity) or len(set(self.words)) < len(self.words):
            raise ValueError("A text column has words without a weight, the same one twice, or none.")


def _fill_texts(values: pa.Array) -> list[str]:
    text = as_text(values)
    texts: list[str] = [""] * len(values) if text is None else pc.fill_null(text, "").to_pylist()
    return texts


@dataclass(frozen=True)
class VectorEncoder(Encoder):
    """Lists of numbers of one length, unchanged.

    Attributes
    ----------
    means
        Mean of each number, which replaces missing ones.
    """

    kind: ClassVar[Kind] = Kind.VECTOR
    has_dimensions: ClassVar[bool] = True

    means: tuple[float, ...]

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
            raise UnusableColumnError(Reason.TOO_LARGE)
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

    def feature_names(self, name: str) -> list[str]:
        """Return the column and the position in the list."""
        return [f"{name}[{place}]" for place in range(len(self.means))]

    def describe(self) -> str:
        """Return the length of the lists."""
        return f"{len(self.means):,} numbers unchanged"

    def check(self) -> None:
        """Refuse an empty vector."""
        if not self.means:
            raise ValueError("A vector column has no numbers.")


def _has_length(lists: pa.Array, width: int) -> NDArray[np.bool_]:
    return as_mask(pc.equal(pc.list_value_length(lists), width))


def _stack_lists(lists: pa.Array, width: int) -> NDArray[np.float64]:
    """Return lists as rows, NaN where a number is missing or a list has another length."""
    rows = np.full((len(lists), width), np.nan)
    has_length = _has_length(lists, width)
    numbers = pc.fill_null(lists.filter(pa.array(has_length)).flatten(), np.nan).to_numpy(zero_copy_only=False)
    rows[has_length] = numbers.reshape(-1, width)
    return rows


@dataclass(frozen=True)
class ItemsEncoder(Encoder):
    """How often each of the most frequent items occurs in the lists of a column.

    Attributes
    ----------
    items
        Items that have a feature.
    """

    kind: ClassVar[Kind] = Kind.ITEMS
    has_dimensions: ClassVar[bool] = True

    items: tuple[str, ...]

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        """Learn the most frequent items; of equally frequent ones the first in order."""
        _, found = _flatten_items(values)
        counts = {each["values"]: each["counts"] for each in pc.value_counts(found.drop_null()).to_pylist()}
        if not counts:
            raise UnusableColumnError(Reason.EMPTY)
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(tuple(sorted(ranked[: options.vocabulary or DEFAULT_ITEMS])))

    def transform(self, values: pa.Array) -> Encoded:
        """Return the counts of known items."""
        rows, found = _flatten_items(values)
        places = pc.fill_null(pc.index_in(found, pa.array(self.items)), -1).to_numpy(zero_copy_only=False)
        is_known = places >= 0
        entries = (np.ones(np.count_nonzero(is_known), dtype=np.float32), (rows[is_known], places[is_known]))
        return Encoded(sp.csr_array(entries, shape=(len(values), len(self.items))))

    def feature_names(self, name: str) -> list[str]:
        """Return the column and the item."""
        return [f"{name}: {item}" for item in self.items]

    def describe(self) -> str:
        """Return how many items count."""
        return f"counts of {len(self.items):,} items"

    def check(self) -> None:
        """Refuse an empty vocabulary and items twice."""
        if not self.items or len(set(self.items)) < len(self.items):
            raise ValueError("A column of items has the same item twice, or none.")


def _flatten_items(values: pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    """Return the row and the text of each item in a column of lists."""
    lists = read_lists(values, pa.string() if pa.types.is_string(values.type) else None)
    if lists is None:
        return np.empty(0, np.int64), pa.array([], pa.string())
    return pc.list_parent_indices(lists).to_numpy(), as_text(pc.list_flatten(lists))


@dataclass(frozen=True)
class GroupEncoder(Encoder):
    """Numeric columns that are parts of one thing, unchanged; a missing number is 0.

    The columns come as the fields of one struct column.

    Attributes
    ----------
    columns
        Names of the columns.
    is_sparse
        Whether the features are a sparse matrix.
    decimal
        Decimal mark of text that allows two readings.
    """

    kind: ClassVar[Kind] = Kind.GROUP
    has_dimensions: ClassVar[bool] = True

    columns: tuple[str, ...]
    is_sparse: bool
    decimal: str

    @classmethod
    def fit(cls, values: pa.Array, options: FitOptions) -> Self:
        """Learn the names, and whether most numbers are 0."""
        names, decimal = tuple(field.name for field in values.type), options.decimal or "."
        filled = sum(int(np.count_nonzero(_fill_numbers(values.field(name), decimal)[0])) for name in names)
        return cls(names, is_sparse_smaller(len(values), len(names), filled), decimal)

    def transform(self, values: pa.Array) -> Encoded:
        """Return the columns next to each other."""
        unread = np.zeros(len(values), dtype=bool)
        dense, sparse = [], []
        for name in self.columns:
            numbers, unread_here = _fill_numbers(values.field(name), self.decimal)
            unread |= unread_here
            if self.is_sparse:
                sparse.append(sp.csc_array(numbers[:, None]))
            else:
                dense.append(numbers)
        matrix = sp.csr_array(sp.hstack(sparse, format="csc")) if self.is_sparse else np.stack(dense, axis=1)
        return Encoded(matrix, unread)

    def feature_names(self, name: str) -> list[str]:  # noqa: ARG002
        """Return the names of the columns."""
        return list(self.columns)

    def describe(self) -> str:
        """Return how many columns there are."""
        return f"{len(self.columns):,} columns unchanged"

    def check(self) -> None:
        """Refuse a group of no columns."""
        if not self.columns or self.decimal not in (".", ","):
            raise ValueError("A group has no columns or an unknown decimal mark.")


def _fill_numbers(values: pa.Array, decimal: str) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return numbers, 0 where one is missing, and which values could not be read."""
    parsed = read_numbers(values, decimal, force=True)
    if parsed is None:
        return np.zeros(len(values), dtype=np.float32), as_mask(values.is_valid())
    with np.errstate(over="ignore"):
        return np.nan_to_num(parsed.values, nan=0.0).astype(np.float32), parsed.unread
