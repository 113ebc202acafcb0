"""What a column is, by a look at its values and its name.

The first that holds:

- nothing in it, or one value everywhere: **out**
- a type of the table's own: dates are **date**, lists of numbers **vector**, true and false **flag**
- text that is written as numbers nearly everywhere: as numbers below
- text of dates: **date**; text of lists: **vector**
- two values, or yes and no in one of several languages: **flag**
- numbers: named as a code (``postcode``, ``country_id``) **category**; one for each node and one after the other,
  named as an id, or long and of as many digits everywhere, **out**; else **number**
- text: of three words and more, or of several items (``python, sql``), and seldom twice the same, **text**; one for
  each node **out**, as it is a name; else
  **category**
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.tables.encoders.base import MANY, text_of
from featprop.tables.encoders.category import LIMIT
from featprop.tables.encoders.date import dates_in
from featprop.tables.encoders.flag import PAIRS
from featprop.tables.encoders.vector import lists_in
from featprop.tables.missing import MISSING_WORDS
from featprop.tables.numbers import numbers_in

__all__ = ["Kind", "kind_of", "sample_of"]

DISTINCT = 0.9
"""From this share of distinct values on, a column names the nodes."""
WORDS = 3.0
"""Words a text has, on average."""
REPEATS = 0.05
"""Texts of which no more than this share is distinct are categories."""
FEW = 20
"""Texts of which there are so few are categories, and so few numbers may be one after the other by chance."""
SEVERAL = 0.5
"""Items beyond the first that a list has, on average."""
ITEMS = r"\S[,;|]\s*\S"
LETTERS = r"\p{L}"
"""What is between items, as in ``python, sql``; and a text has letters, which telephone numbers have not."""
SAMPLE = 2000
"""Values looked at before all are."""
EXACT = 2.0**53
"""The whole numbers up to here are all told apart as numbers of 64 bits."""
LONG = 8
"""Digits from which on numbers of as many digits everywhere look like the numbers of accounts and telephones."""
CODES = frozenset(
    {
        "zip", "zipcode", "postcode", "postal", "plz", "code", "codes", "iban", "bic", "phone", "tel", "telephone",
        "mobile", "fax", "ssn", "isbn", "issn", "doi", "sku", "ean", "gtin", "cusip", "isin", "id", "ids", "uuid",
        "guid", "key", "hash", "token", "account", "url", "uri", "email", "mail",
    }
)  # fmt: skip
"""Words at the end of the name of a column whose numbers are not quantities."""
NUMBERS = frozenset({"number", "nr", "no", "num"})
"""Words after one of these that make no quantity of it, as in ``account number``."""


class Kind(NamedTuple):
    """What a column is, and why it is left out where it is."""

    kind: str
    reason: str = ""


def kind_of(name: str, values: pa.Array) -> Kind:
    """Look at a column."""
    kind = values.type
    known = len(values) - values.null_count
    if pa.types.is_null(kind) or known == 0:
        return Kind("out", "empty")
    many_missing = values.null_count >= MANY * len(values)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return Kind("out", "the same everywhere") if pc.count_distinct(values).as_py() < 2 else Kind("date")
    if lists_in(values) is not None:
        return Kind("vector")
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return Kind("out", f"of the type {kind}")
    if pa.types.is_boolean(kind):
        constant = pc.count_distinct(values).as_py() < 2 and not many_missing
        return Kind("out", "the same everywhere") if constant else Kind("flag")
    return _of_text(name, values) if pa.types.is_string(kind) else _of_numbers(name, values)


def _of_numbers(name: str, values: pa.Array) -> Kind:
    found = numbers_in(values)
    if found is None:
        return Kind("out", f"of the type {values.type}")
    known = found.values[~np.isnan(found.values)]
    if not known.size:
        return Kind("out", "empty")
    distinct = len(np.unique(known))
    if distinct <= 2 and np.abs(known).max() >= EXACT and pc.count_distinct(values).as_py() > distinct:
        return Kind("out", "too large to be told apart as numbers")
    if distinct == 1 and known.size > (1 - MANY) * len(found.values):
        return Kind("out", "the same everywhere")
    if distinct <= 2:
        return Kind("flag")
    if (known == np.floor(known)).all():
        all_distinct = distinct >= DISTINCT * known.size
        is_code = _is_code(name)
        looks_so = known.size >= FEW and ((distinct == known.size and _count_up(known)) or _of_one_length(known))
        if all_distinct and (is_code or looks_so):
            return Kind("out", "nearly every node has its own")
        if is_code:
            return Kind("category")
    return Kind("number")


def _of_text(name: str, values: pa.Array) -> Kind:
    text = text_of(values)
    known = text.drop_null()
    if not len(known):
        return Kind("out", "empty")
    counts = pc.value_counts(pc.utf8_lower(known))
    distinct = len(counts)
    if distinct == 1 and text.null_count < MANY * len(text):
        return Kind("out", "the same everywhere")
    few = set(counts.field("values").to_pylist()) - MISSING_WORDS if distinct <= FEW else set()
    if few and any(few <= set(pair) for pair in PAIRS):
        return Kind("flag") if len(few) == 2 or distinct == 1 else Kind("category")
    some = sample_of(known)
    if numbers_in(some) is not None and not _has_leading_zeros(known) and numbers_in(text) is not None:
        return _of_numbers(name, text)
    if dates_in(some) is not None and dates_in(text) is not None:
        return Kind("date")
    words, items, letters = (
        pc.mean(pc.count_substring_regex(known, each)).as_py() for each in (r"\S+", ITEMS, LETTERS)
    )
    is_long = words >= WORDS or (items >= SEVERAL and distinct > LIMIT)
    if is_long and letters >= WORDS and distinct > max(FEW, REPEATS * len(known)):
        return Kind("text")
    if distinct >= DISTINCT * len(known):
        return Kind("out", "nearly every node has its own")
    return Kind("flag" if distinct == 2 and not text.null_count else "category")


def sample_of(values: pa.Array) -> pa.Array:
    """Return some of many values, from everywhere: what few of these are, few of all are."""
    if len(values) <= SAMPLE:
        return values
    return values.take(pa.array(np.linspace(0, len(values) - 1, SAMPLE).astype(np.int64)))


def _is_code(name: str) -> bool:
    """Say whether the name of a column says that its numbers are no quantities: ``branch_id``, ``accountNo``."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return bool(words) and (words[-1] in CODES or (words[-1] in NUMBERS and len(words) > 1 and words[-2] in CODES))


def _count_up(numbers: NDArray[np.float64]) -> bool:
    """Say whether distinct whole numbers are one after the other, in whatever order."""
    return bool(numbers.max() - numbers.min() == numbers.size - 1)


def _of_one_length(numbers: NDArray[np.float64]) -> bool:
    return bool(numbers.min() >= 10 ** (LONG - 1) and len(str(int(numbers.min()))) == len(str(int(numbers.max()))))


def _has_leading_zeros(text: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, r"^0[0-9]+$")).as_py())
