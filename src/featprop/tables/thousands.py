"""Dots in whole numbers, which may stand between thousands or be decimal points: 3.796 beside 162."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from featprop.tables.missing import is_missing

__all__ = ["DECIMAL_POINT", "DOTTED", "Dots", "dots_in"]

log = logging.getLogger(__name__)

DECIMAL_POINT = r"^\s*[+-]?(?:[0-9]+\.(?:[0-9]{1,2}|[0-9]{4,})|0?\.[0-9]+)\s*$"
"""A number whose dot is a decimal point."""
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
    def are_many(self) -> bool:
        """Whether there are so many of both kinds that of decimal numbers one would have fewer digits."""
        return self.is_sure or min(self.dotted, self.small) >= SEEN

    def settle(self, name: str, what: str, *, has_points: bool) -> bool:
        """Say, and log, whether dots stand between thousands.

        Parameters
        ----------
        name, what
            The column, and of what.
        has_points
            Whether other columns have decimal points.
        """
        whole = self.example.replace(".", "")
        of_thousands = self.is_sure or (self.are_many and not has_points)
        if of_thousands:
            comma = "" if self.is_sure else f": write {self.example.replace('.', ',')} if it is a decimal number"
            told = f"dots stand between thousands, {self.example} is {whole}{comma}"
        else:
            told = f"{self.example} beside whole numbers up to 999 is read as a decimal number"
            told += f": write {whole} if the dot stands between thousands"
        log.log(logging.INFO if self.is_sure else logging.WARNING, "Column %r of %s: %s", name, what, told)
        return of_thousands


def dots_in(pieces: Iterable[pa.Array]) -> Dots | None:
    """Say what dots are in a column of text, piece by piece; None if its values do not leave open what they are."""
    found = Dots()
    for piece in pieces:
        more = Dots.of(piece)
        if more is None:
            return None
        found += more
    return found if found.is_open else None
