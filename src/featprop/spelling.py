"""Names written in several ways: by a spreadsheet, another program or a hurried person.

Two spellings of a class compare equal if they differ only in case, spaces, the zeros after a decimal point
(``1`` and ``1.0``), how Unicode encodes a character (NFKC: ``ü`` as one character or two, full-width letters) or in
characters nobody sees (zero-width, bidirectional marks). Leading zeros count: ``007`` is not ``7``.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Hashable, Iterable
from functools import lru_cache

NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))\.([0-9]+)")
MIN_SIMILARITY = 0.75
"""Twice the characters two names share over all they have, from which on they are close."""


def normalize_label(name: object) -> str:
    """Return what all spellings of a class have in common."""
    return _normalize(str(name))


@lru_cache(maxsize=10_000)
def _normalize(text: str) -> str:
    text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = " ".join(text.replace("’", "'").replace("‘", "'").split())
    number = NUMBER.fullmatch(text)
    if number is None:
        return text
    decimals = number[2].rstrip("0")
    return f"{number[1]}.{decimals}" if decimals else number[1]


def is_visible(name: object) -> bool:
    """Return whether a name has at least one character that can be seen."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in normalize_label(name))


def closest(name: object, others: Iterable[Hashable], cutoff: float = MIN_SIMILARITY) -> Hashable | None:
    """Return the one of `others` that is spelled most like `name`; None if none is close."""
    by_form: dict[str, Hashable] = {}
    for other in others:
        by_form.setdefault(normalize_label(other), other)
    found = difflib.get_close_matches(normalize_label(name), by_form, n=1, cutoff=cutoff)
    return by_form[found[0]] if found else None
