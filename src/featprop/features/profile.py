"""Decide what each column of a table is.

The first rule that holds:

- nothing in it, or one value everywhere: **ignored**
- the type says it: dates are **date**, lists of numbers **vector**, other lists **items**, true and false **flag**
- two values, or yes and no: **flag**
- text written as numbers nearly everywhere: as numbers below
- text of lists: **vector** or **items**; text of dates: **date**
- numbers: named like a code (``postcode``, ``country_id``) **category**; one for each row and consecutive, named like
  an id, or long and of equal length, **ignored**; otherwise **number**
- text: three words and more, or several items (``python, sql``), and seldom the same twice, **text**; one for each row
  **ignored**, because it is a name; otherwise **category**
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import shorten
from featprop.features.parsing import (
    MISSING_WORDS,
    as_text,
    holds_numbers,
    is_blank,
    is_missing,
    is_most,
    read_dates,
    read_lists,
    read_numbers,
    sample,
    trim_text,
)

log = logging.getLogger(__name__)

MIN_MISSING_SHARE = 0.2
"""Share of missing values from which on they get a feature."""
MAX_CATEGORIES = 64
"""Number of values of a category that get a feature each."""
UNIQUE_SHARE = 0.9
"""Share of distinct values from which on a column names the rows."""
MIN_TEXT_WORDS = 3.0
MAX_REPEATED_SHARE = 0.05
"""Texts with at most this share of distinct values are categories."""
MIN_TEXTS = 20
"""Fewer distinct texts are categories, and fewer numbers may be consecutive by chance."""
MIN_SEPARATORS = 0.5
ITEM_SEPARATOR = r"\S[,;|]\s*\S"
MIN_CODE_DIGITS = 8
"""Numbers of equal length with at least this many digits look like account and telephone numbers."""
CODE_NAMES = frozenset(
    {
        "zip", "zipcode", "postcode", "postal", "plz", "code", "codes", "iban", "bic", "phone", "tel", "telephone",
        "mobile", "fax", "ssn", "isbn", "issn", "doi", "sku", "ean", "gtin", "cusip", "isin", "id", "ids", "uuid",
        "guid", "key", "hash", "token", "account", "url", "uri", "email", "mail",
    }
)  # fmt: skip
"""Last words of the names of columns whose numbers are not quantities."""
NUMBER_WORDS = frozenset({"number", "nr", "no", "num"})
YES_NO = (
    ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("0", "1"), ("off", "on"),
    ("nein", "ja"), ("non", "oui"), ("no", "sí"), ("no", "si"),
)  # fmt: skip
INDEX_NAMES = re.compile(r"__index_level_\d+__|Unnamed: 0|")
"""Names that pandas gives to an index without a name; its CSV files leave the name of the first column empty."""


class Kind(StrEnum):
    """What a column is; a group is several columns that are parts of one thing."""

    NUMBER = "number"
    FLAG = "flag"
    CATEGORY = "category"
    DATE = "date"
    TEXT = "text"
    VECTOR = "vector"
    ITEMS = "items"
    GROUP = "group"
    IGNORED = "ignore"


class Reason(StrEnum):
    """Why a column has its kind."""

    REQUESTED = "as requested"
    TYPE = "by its type"
    VALUES = "by its values"
    NAME = "by its name"
    EMPTY = "no values"
    CONSTANT = "constant"
    UNIQUE = "unique to nearly every row"
    INDEX = "row numbers"
    UNSUPPORTED_TYPE = "unsupported type"
    UNREADABLE = "other values"
    UNEVEN_LISTS = "lists of different lengths"
    NO_COMMON_WORDS = "no informative words"


@dataclass(frozen=True)
class ColumnProfile:
    """What a column, or a group of columns, is and what it becomes."""

    name: str  # of the column; first and last name of a group
    columns: tuple[str, ...]  # names of all its columns
    kind: Kind  # `Kind.IGNORED` if it is not used
    reason: Reason  # why it has this kind
    transformation: str  # what becomes of the values, in a few words
    missing: float  # share of missing values
    examples: str  # typical values, in a few words
    n_features: int  # number of features it becomes


class Inference(NamedTuple):
    """Kind of a column, and why."""

    kind: Kind
    reason: Reason


def ignored(reason: Reason) -> Inference:
    """Return the inference that a column is not used."""
    return Inference(Kind.IGNORED, reason)


def infer_kind(name: str, values: pa.Array, decimal: str | None = None) -> Inference:
    """Decide what a column is, and warn if its values allow two readings.

    Parameters
    ----------
    name
        Name of the column.
    values
        The column, from `plain_array`.
    decimal
        Decimal mark of text whose values do not show it.
    """
    kind = values.type
    if pa.types.is_null(kind) or values.null_count == len(values):
        return ignored(Reason.EMPTY)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_boolean(kind):
        is_flag = pa.types.is_boolean(kind)
        may_be_constant = not is_flag or values.null_count < MIN_MISSING_SHARE * len(values)
        if may_be_constant and pc.count_distinct(values).as_py() < 2:
            return ignored(Reason.CONSTANT)
        return Inference(Kind.FLAG if is_flag else Kind.DATE, Reason.TYPE)
    if pa.types.is_string(kind):
        return _infer_from_text(name, values, decimal)
    if pa.types.is_map(kind):
        return Inference(Kind.ITEMS, Reason.TYPE)
    lists = read_lists(values)
    if lists is not None:
        return _infer_from_lists(lists)
    return _infer_from_numbers(name, values, decimal) if holds_numbers(kind) else ignored(Reason.UNSUPPORTED_TYPE)


def _infer_from_lists(lists: pa.Array) -> Inference:
    lengths = pc.mode(pc.list_value_length(lists))
    if not len(lengths):
        return ignored(Reason.EMPTY)
    is_numeric = pa.types.is_floating(lists.type.value_type)
    is_even = is_most(lengths[0]["count"].as_py(), len(lists) - lists.null_count)
    if is_numeric and is_even and lengths[0]["mode"].as_py():
        return Inference(Kind.VECTOR, Reason.TYPE)
    items = pc.list_flatten(lists)
    if not len(items):
        return ignored(Reason.EMPTY)
    is_whole = not is_numeric or pc.all(pc.equal(items, pc.floor(items))).as_py()
    return Inference(Kind.ITEMS, Reason.TYPE) if is_whole else ignored(Reason.UNEVEN_LISTS)


def _infer_from_numbers(name: str, values: pa.Array, decimal: str | None) -> Inference:
    parsed = read_numbers(values, decimal)
    known = parsed.values[~np.isnan(parsed.values)]
    if not known.size:
        return ignored(Reason.EMPTY)
    distinct = len(np.unique(known))
    if distinct == 1 and known.size > (1 - MIN_MISSING_SHARE) * len(values):
        return ignored(Reason.CONSTANT)
    if distinct <= 2:
        return Inference(Kind.FLAG, Reason.VALUES)
    if (known == np.floor(known)).all():
        is_code = _is_code_name(name)
        looks_like_id = (distinct == known.size and np.ptp(known) == known.size - 1) or _has_equal_length(known)
        if distinct >= UNIQUE_SHARE * known.size and (is_code or (known.size >= MIN_TEXTS and looks_like_id)):
            return ignored(Reason.UNIQUE)
        if is_code:
            return Inference(Kind.CATEGORY, Reason.NAME)
    if parsed.is_ambiguous:
        log.warning("Column %s: its numbers allow two decimal marks; they are read with '.' (see `decimal`)", name)
    return Inference(Kind.NUMBER, Reason.VALUES)


def _infer_from_text(name: str, values: pa.Array, decimal: str | None) -> Inference:
    text = trim_text(values)
    known = text.drop_null()
    if not len(known):
        return ignored(Reason.EMPTY)
    counts = pc.value_counts(pc.utf8_lower(known))
    distinct = len(counts)
    if distinct == 1 and text.null_count < MIN_MISSING_SHARE * len(text):
        return ignored(Reason.CONSTANT)
    few = set(counts.field("values").to_pylist()) - MISSING_WORDS if distinct <= MIN_TEXTS else set()
    if few and any(few <= set(pair) for pair in YES_NO):
        return Inference(Kind.FLAG if len(few) == 2 or distinct == 1 else Kind.CATEGORY, Reason.VALUES)
    has_leading_zeros = pc.any(pc.match_substring_regex(known, r"^0[0-9]+$")).as_py()
    if not has_leading_zeros and read_numbers(sample(known), decimal).is_mostly_read:
        return _infer_from_numbers(name, text, decimal)
    lists = read_lists(sample(known))
    if lists is not None:
        return _infer_from_lists(lists)
    dates = read_dates(sample(known))
    if dates.is_mostly_read:
        if dates.is_ambiguous:
            log.warning("Column %s: days and months may be swapped; its dates are read as %s", name, dates.form)
        return Inference(Kind.DATE, Reason.VALUES)
    words, separators, letters = (
        pc.mean(pc.count_substring_regex(known, pattern)).as_py() for pattern in (r"\S+", ITEM_SEPARATOR, r"\p{L}")
    )
    is_long = words >= MIN_TEXT_WORDS or (separators >= MIN_SEPARATORS and distinct > MAX_CATEGORIES)
    if is_long and letters >= MIN_TEXT_WORDS and distinct > max(MIN_TEXTS, MAX_REPEATED_SHARE * len(known)):
        return Inference(Kind.TEXT, Reason.VALUES)
    if distinct >= UNIQUE_SHARE * len(known):
        return ignored(Reason.UNIQUE)
    return Inference(Kind.FLAG if distinct == 2 and not text.null_count else Kind.CATEGORY, Reason.VALUES)


def _is_code_name(name: str) -> bool:
    """Return whether the name says that numbers are not quantities: ``branch_id``, ``accountNo``."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    if len(words) > 1 and words[-1] in NUMBER_WORDS:
        words.pop()
    return bool(words) and words[-1] in CODE_NAMES


def _has_equal_length(numbers: NDArray[np.float64]) -> bool:
    low, high = int(numbers.min()), int(numbers.max())
    return low >= 10 ** (MIN_CODE_DIGITS - 1) and len(str(low)) == len(str(high))


def is_index(name: str, position: int) -> bool:
    """Return whether a column is the index that pandas writes before the others."""
    return INDEX_NAMES.fullmatch(name) is not None and (position == 0 or name.startswith("__"))


def describe_values(values: pa.Array) -> str:
    """Return typical values in a few words: the range of numbers and dates, the most frequent texts."""
    text = as_text(values)
    if text is None:
        return str(values.type)
    known = text.drop_null()
    if pa.types.is_string(values.type) or pa.types.is_boolean(values.type):
        counts = pc.value_counts(known)
        order = pc.sort_indices(counts.field("counts"), sort_keys=[("", "descending")])
        first = [shorten(value, 20) for value in counts.field("values").take(order[:3]).to_pylist()]
        return f"{len(counts):,}: {', '.join(first)}{', …' if len(counts) > 3 else ''}" if first else ""
    if holds_numbers(values.type):
        numbers = read_numbers(values).values
        numbers = numbers[~np.isnan(numbers)]
        ends = [f"{end:,.6g}" for end in (numbers.min(), numbers.max())] if numbers.size else []
    else:
        ends = [str(end) for end in pc.min_max(known).as_py().values()] if len(known) else []
    return " to ".join(dict.fromkeys(ends))


def missing_share(values: pa.Array, kind: Kind) -> float:
    """Return the share of missing values; among text, words count as missing if the column is not one of words."""
    if pa.types.is_string(values.type):
        missing = is_missing(values) if kind in (Kind.NUMBER, Kind.FLAG, Kind.DATE) else is_blank(values)
    elif pa.types.is_floating(values.type):
        missing = pc.invert(pc.fill_null(pc.is_finite(values.cast(pa.float64())), False))
    else:
        missing = values.is_null()
    return float(pc.mean(missing.cast(pa.float64())).as_py() or 0.0)
