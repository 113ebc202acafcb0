"""Dots in whole numbers, which may stand between thousands or be decimal points: 3.796 beside 162."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from featprop.tables.missing import is_missing

__all__ = ["DOTTED", "Dots", "dots_in"]

DOTTED = r"^\s*[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+\s*$"
"""A number with a dot before three digits, which stands between thousands if it is no decimal point."""
SMALL = r"^[+-]?(?:0|[1-9][0-9]{0,2})$"
SEEN = 3
"""Dotted numbers, and whole ones up to 999 beside them, from which on dots stand between thousands."""


@dataclass(frozen=True, slots=True)
class Dots:
    """Dots in a column of nothing but whole numbers up to 999 and numbers with a dot before three digits.

    These may be decimal numbers or thousands, so that 3.796 is more than 162.

    Parameters
    ----------
    example
        The first number with a dot.
    dotted, small
        How many there are with a dot, and without.
    is_sure
        Whether one has several dots, which stand between thousands.
    """

    example: str = ""
    dotted: int = 0
    small: int = 0
    is_sure: bool = False

    @classmethod
    def of(cls, values: pa.Array) -> Self | None:
        """Look at some values; None if there are others among them."""
        texts = pc.utf8_trim_whitespace(values)
        has_dot, is_small = (pc.fill_null(pc.match_substring_regex(texts, kind), False) for kind in (DOTTED, SMALL))
        if not pc.all(pc.or_(pc.or_(has_dot, is_small), is_missing(texts)), min_count=0).as_py():
            return None
        dotted = texts.filter(has_dot)
        is_sure = bool(pc.any(pc.match_substring_regex(dotted, r"\..*\.")).as_py())
        return cls(dotted[0].as_py() if len(dotted) else "", len(dotted), len(texts.filter(is_small)), is_sure)

    def __add__(self, other: Dots) -> Dots:
        is_sure = self.is_sure or other.is_sure
        return Dots(self.example or other.example, self.dotted + other.dotted, self.small + other.small, is_sure)

    @property
    def is_open(self) -> bool:
        """Whether there are numbers of both kinds."""
        return bool(self.dotted and self.small)

    @property
    def of_thousands(self) -> bool:
        """Whether dots stand between thousands: of so many decimal numbers one would have fewer digits."""
        return self.is_sure or min(self.dotted, self.small) >= SEEN

    def told(self, *, of_thousands: bool) -> str:
        """Say how they are read."""
        whole = self.example.replace(".", "")
        if of_thousands:
            return f"dots stand between thousands, {self.example} is {whole}"
        told = f"{self.example} beside whole numbers up to 999 is read as a decimal number"
        return f"{told}: write {whole} if the dot stands between thousands"


def dots_in(pieces: Iterable[pa.Array]) -> Dots | None:
    """Say what dots are in a column of text, piece by piece; None if its values do not leave open what they are."""
    found = Dots()
    for piece in pieces:
        more = Dots.of(piece)
        if more is None:
            return None
        found += more
    return found if found.is_open else None
