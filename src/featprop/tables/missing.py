"""The words people and programs write where a value is missing."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["BLANKS", "MISSING_WORDS", "is_blank", "is_missing"]

MISSING_WORDS = frozenset(
    {
        "", "na", "n/a", "n.a.", "n.a", "nan", "nat", "null", "none", "nil", "missing", "unknown", "undefined",
        "not available", "not applicable", "unbekannt", "k.a.", "k. a.", "keine angabe",
        "-", "--", "---", "–", "—", "?", "??", "???", ".", "..", "...", "…",
        "<na>", "<null>", "(null)", "(none)", "(blank)", "(empty)", r"\n",
        "#n/a", "#na", "#n/v", "#nv", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!",
    }
)  # fmt: skip
"""In small letters, without surrounding spaces; a backslash and n is what MySQL writes."""

BLANKS = frozenset({"", "nan", "nat", "null", "n/a", "#n/a", "<na>", "<null>", "(null)", r"\n"})
"""Those of them that are never the name of anything."""


def is_missing(texts: pa.Array) -> pa.Array:
    """Say of each text whether it is null or a word for a missing value, whatever its case and surrounding spaces."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.or_kleene(pc.is_null(texts), pc.is_in(plain, value_set=pa.array(sorted(MISSING_WORDS), plain.type)))


def is_blank(texts: pa.Array) -> pa.Array:
    """Say of each text whether it is null or nothing but a program's word for that: a country may be NA."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.or_kleene(pc.is_null(texts), pc.is_in(plain, value_set=pa.array(sorted(BLANKS), plain.type)))
