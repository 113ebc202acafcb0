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
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featprop.errors import shorten
from featprop.features.parsing import (
    BLANKS,
    MISSING_WORDS,
    as_text,
    clean_text,
    find_date_form,
    find_decimal_mark,
    holds_numbers,
    is_most,
    is_mostly_read,
    read_dates,
    read_lists,
    read_numbers,
    sample,
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
MIN_LONG_CODE = 10_000_000
"""Whole numbers of equal length from here on look like account and telephone numbers."""
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
MAX_EXAMPLES = 2
MAX_EXAMPLE_CHARS = 20
INDEX_NAMES = re.compile(r"__index_level_\d+__|Unnamed: 0|")
"""Names that pandas gives to an index without a name; its CSV files leave the name of the column empty."""


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
    DETECTED = "detected"
    EMPTY = "no usable values"
    CONSTANT = "constant"
    UNIQUE = "unique to nearly every row"
    INDEX = "row numbers"
    UNSUPPORTED_TYPE = "unsupported type"
    UNREADABLE = "other values"
    UNEVEN_LISTS = "lists of different lengths"
    NO_COMMON_WORDS = "no informative words"


def infer_kind(name: str, values: pa.Array, decimal: str | None = None) -> Kind | Reason:
    """Return what a column from `plain_array` is, or why it is not used; warn if its values allow two readings.

    The mark `decimal` is for text whose values do not show it.
    """
    kind = values.type
    if INDEX_NAMES.fullmatch(name):
        return Reason.INDEX
    if values.null_count == len(values):
        return Reason.EMPTY
    if pa.types.is_string(kind):
        return _infer_from_text(name, values, decimal)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        is_constant = pc.count_distinct(values).as_py() < 2
        return Reason.CONSTANT if is_constant else Kind.DATE
    if pa.types.is_map(kind):
        return Kind.ITEMS
    if holds_numbers(kind):
        return _infer_from_numbers(name, values, decimal)
    return _infer_from_lists(read_lists(values)) or Reason.UNSUPPORTED_TYPE


def _infer_from_lists(lists: pa.Array) -> Kind | Reason | None:
    """Decide what a column of lists is; None if there are no lists."""
    lengths = pc.mode(pc.list_value_length(lists))
    if not len(lengths):
        return None
    is_numeric = pa.types.is_floating(lists.type.value_type)
    is_even = is_most(lengths[0]["count"].as_py(), len(lists) - lists.null_count)
    if is_numeric and is_even and lengths[0]["mode"].as_py():
        return Kind.VECTOR
    items = pc.list_flatten(lists)
    if not len(items):
        return Reason.EMPTY
    is_whole = not is_numeric or pc.all(pc.equal(items, pc.floor(items))).as_py()
    return Kind.ITEMS if is_whole else Reason.UNEVEN_LISTS


def _infer_from_numbers(name: str, values: pa.Array, decimal: str | None) -> Kind | Reason:
    mark, is_ambiguous = find_decimal_mark(values, decimal)
    numbers = read_numbers(values, mark)
    known = numbers[~np.isnan(numbers)]
    if not known.size:
        return Reason.EMPTY
    distinct = len(np.unique(known))
    if distinct == 1 and known.size > (1 - MIN_MISSING_SHARE) * len(values):
        return Reason.CONSTANT
    if distinct <= 2:
        return Kind.FLAG
    if (known == np.floor(known)).all():
        is_code = _is_code_name(name)
        is_sequence = distinct == known.size and np.ptp(known) == known.size - 1
        low, high = int(known.min()), int(known.max())
        looks_like_id = is_sequence or (low >= MIN_LONG_CODE and len(str(low)) == len(str(high)))
        if distinct >= UNIQUE_SHARE * known.size and (is_code or (known.size >= MIN_TEXTS and looks_like_id)):
            return Reason.UNIQUE
        if is_code:
            return Kind.CATEGORY
    if is_ambiguous:
        log.warning("Column %s: its numbers allow two decimal marks; they are read with '.' (see `decimal`)", name)
    return Kind.NUMBER


def _infer_from_text(name: str, values: pa.Array, decimal: str | None) -> Kind | Reason:
    text = clean_text(values, BLANKS)
    known = text.drop_null()
    if not len(known):
        return Reason.EMPTY
    counts = pc.value_counts(pc.utf8_lower(known))
    distinct = len(counts)
    if distinct == 1 and text.null_count < MIN_MISSING_SHARE * len(text):
        return Reason.CONSTANT
    few = set(counts.field("values").to_pylist()) - MISSING_WORDS if distinct <= MIN_TEXTS else set()
    if few and any(few <= set(pair) for pair in YES_NO):
        return Kind.FLAG
    has_leading_zeros = pc.any(pc.match_substring_regex(known, r"^0[0-9]+$")).as_py()
    few_rows = sample(known)
    if not has_leading_zeros and is_mostly_read(read_numbers(few_rows), few_rows):
        return _infer_from_numbers(name, text, decimal)
    if (found := _infer_from_lists(read_lists(few_rows))) is not None:
        return found
    form, is_ambiguous = find_date_form(few_rows)
    if is_mostly_read(read_dates(few_rows, form), few_rows):
        if is_ambiguous:
            log.warning("Column %s: days and months may be swapped; its dates are read as %s", name, form)
        return Kind.DATE
    words, separators, letters = (
        pc.mean(pc.count_substring_regex(known, pattern)).as_py() for pattern in (r"\S+", ITEM_SEPARATOR, r"\p{L}")
    )
    is_long = words >= MIN_TEXT_WORDS or (separators >= MIN_SEPARATORS and distinct > MAX_CATEGORIES)
    if is_long and letters >= MIN_TEXT_WORDS and distinct > max(MIN_TEXTS, MAX_REPEATED_SHARE * len(known)):
        return Kind.TEXT
    if distinct >= UNIQUE_SHARE * len(known):
        return Reason.UNIQUE
    return Kind.FLAG if distinct == 2 and not text.null_count else Kind.CATEGORY


def _is_code_name(name: str) -> bool:
    """Return whether the name says that numbers are not quantities: ``branch_id``, ``accountNo``."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    if len(words) > 1 and words[-1] in NUMBER_WORDS:
        words.pop()
    return bool(words) and words[-1] in CODE_NAMES


def describe_values(values: pa.Array) -> str:
    """Return typical values in a few words: the range of numbers and dates, the most frequent texts."""
    text = as_text(values)
    if text is None:
        return str(values.type)
    if pa.types.is_string(values.type) or pa.types.is_boolean(values.type):
        counts = pc.value_counts(text.drop_null())
        order = pc.sort_indices(counts.field("counts"), sort_keys=[("", "descending")])
        first = counts.field("values").take(order[:MAX_EXAMPLES]).to_pylist()
        shown = [shorten(value, MAX_EXAMPLE_CHARS) for value in first]
        return f"{len(counts):,}: {', '.join(shown)}{', …' if len(counts) > MAX_EXAMPLES else ''}" if first else ""
    if holds_numbers(values.type):
        numbers = read_numbers(values)
        numbers = numbers[~np.isnan(numbers)]
        ends = [f"{end:,.6g}" for end in (numbers.min(), numbers.max())] if numbers.size else []
    else:
        ends = [str(end) for end in pc.min_max(text.drop_null()).as_py().values() if end is not None]
    return " to ".join(dict.fromkeys(ends))
