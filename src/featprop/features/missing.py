"""Words that people and programs write where a value is missing."""

from __future__ import annotations

from collections.abc import Hashable

import pyarrow as pa
import pyarrow.compute as pc

BLANKS = frozenset(
    {
        "", "nan", "nat", "null", "n/a", "<na>", "<null>", "(null)", r"\n",
        "#n/a", "#na", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!",
        "0000-00-00", "0000-00-00 00:00:00",
    }
)  # fmt: skip
"""Words that programs write for nothing and that never name anything; ``\\n`` and dates of zeros are MySQL's."""

MISSING_WORDS = BLANKS | {
    "na", "n.a.", "n.a", "none", "nil", "missing", "unknown", "undefined", "not available", "not applicable",
    "inf", "+inf", "-inf", "infinity", "-infinity", "-", "--", "---", "–", "—", "?", ".", "..", "...",
    "(none)", "(blank)", "(empty)",
}  # fmt: skip
"""Words that mean a missing value among numbers, dates and flags, in lower case without surrounding spaces."""


def is_missing(texts: pa.Array) -> pa.Array:
    """Return which texts are null or one of `MISSING_WORDS`, ignoring case and surrounding spaces."""
    return _is_null_or_in(texts, MISSING_WORDS)


def is_blank(texts: pa.Array) -> pa.Array:
    """Return which texts are null or one of `BLANKS`: a category may be called NA or unknown."""
    return _is_null_or_in(texts, BLANKS)


def is_no_class(name: Hashable) -> bool:
    """Return whether a text in place of a class name means that there is no label; ``none`` may be a class."""
    return isinstance(name, str) and (name.strip().lower() in BLANKS or name.strip() == "None")


def _is_null_or_in(texts: pa.Array, words: frozenset[str]) -> pa.Array:
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.or_kleene(pc.is_null(texts), pc.is_in(plain, value_set=pa.array(sorted(words), plain.type)))
