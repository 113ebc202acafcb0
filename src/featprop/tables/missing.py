"""The words people and programs write where a value is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["BLANKS", "MISSING_WORDS", "is_blank", "is_missing", "is_no_class", "told_no_classes"]

MISSING_WORDS = frozenset(
    {
        "", "na", "n/a", "n.a.", "n.a", "nan", "nat", "null", "none", "nil", "missing", "unknown", "undefined",
        "not available", "not applicable", "unbekannt", "k.a.", "k. a.", "keine angabe",
        "-", "--", "---", "–", "—", "?", "??", "???", ".", "..", "...", "…",
        "<na>", "<null>", "(null)", "(none)", "(blank)", "(empty)", r"\n",
        "#n/a", "#na", "#n/v", "#nv", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!",
        "0000-00-00", "0000-00-00 00:00:00",
    }
)  # fmt: skip
"""In small letters, without surrounding spaces; a backslash and n is what MySQL writes, and so are dates of zeros."""

BLANKS = frozenset(
    {
        "", "nan", "nat", "null", "n/a", "<na>", "<null>", "(null)", r"\n",
        "#n/a", "#na", "#n/v", "#nv", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!",
        "0000-00-00", "0000-00-00 00:00:00",
    }
)  # fmt: skip
"""Those of them that are never the name of anything."""

LISTED = 5
"""Words of a message."""


def is_missing(texts: pa.Array) -> pa.Array:
    """Say of each text whether it is null or a word for a missing value, whatever its case and surrounding spaces."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.or_kleene(pc.is_null(texts), pc.is_in(plain, value_set=pa.array(sorted(MISSING_WORDS), plain.type)))


def is_blank(texts: pa.Array) -> pa.Array:
    """Say of each text whether it is null or nothing but a program's word for that: a country may be NA."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.or_kleene(pc.is_null(texts), pc.is_in(plain, value_set=pa.array(sorted(BLANKS), plain.type)))


def is_no_class(name: Hashable) -> bool:
    """Say whether text in the place of a class is a program's word for nothing; ``none`` may be one, None is not."""
    return isinstance(name, str) and (name.strip().lower() in BLANKS or name.strip() == "None")


def told_no_classes(words: Iterable[Hashable]) -> str:
    """Write how many cells of labels hold no class, and how often each word is there."""
    counts = Counter(words)
    listed = ", ".join(f"{word!r} ({count:,})" for word, count in counts.most_common(LISTED))
    return f"cells that count as no label: {counts.total():,}, {listed}{', …' if len(counts) > LISTED else ''}"
