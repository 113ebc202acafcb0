"""One name written in several ways: what a spreadsheet, another program or a hurried person makes of it.

Case, blanks and the zeros after a decimal point never tell two names apart for a person: ``OK`` and ``ok``, ``1`` and
``1.0``; nor does whether ``ü`` is one character or two, as programs on a Mac write it. Zeros in front do: ``007`` is
not 7.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Hashable, Iterable

__all__ = ["closest", "composed", "form_of"]

NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))\.([0-9]+)")
CLOSE = 0.75
"""How alike two words must be: twice the characters they share over all they have."""


def composed(text: str) -> str:
    """Return text with one character for each letter with its marks, where there is one (Unicode's NFC)."""
    return unicodedata.normalize("NFC", text)


def form_of(name: object) -> str:
    """Return what names written in several ways have in common: lower case, single blanks, a number without zeros."""
    text = composed(" ".join(str(name).replace("’", "'").replace("‘", "'").split()).casefold())
    number = NUMBER.fullmatch(text)
    if number is None:
        return text
    decimals = number[2].rstrip("0")
    return f"{number[1]}.{decimals}" if decimals else number[1]


def closest(name: object, others: Iterable[Hashable], cutoff: float = CLOSE) -> Hashable | None:
    """Return the one of `others` that is written most like `name`; None if none is close."""
    by_form: dict[str, Hashable] = {}
    for other in others:
        by_form.setdefault(form_of(other), other)
    found = difflib.get_close_matches(form_of(name), by_form, n=1, cutoff=cutoff)
    return by_form[found[0]] if found else None
