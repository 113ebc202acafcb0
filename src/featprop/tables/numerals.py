"""What stands around the digits of a number as text: a sign, brackets, a currency, percent; and marks between digits.

Whether a comma is the decimal one is known by whoever asks: see `featprop.tables.numbers`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.tables.currencies import SIGNS, currency_of

__all__ = ["cleaned", "fitting", "mask_of", "undressed"]

SPACES = " \t\u00a0\u2007\u2009\u202f"
MINUS = r"\-−–"
GROUPS = SPACES + "'’"
"""What may stand between thousands in either reading, beside the comma or the point."""

CURRENCY = rf"(?:{'|'.join(map(re.escape, SIGNS))}|\p{{Sc}})"
EXPONENT = r"(?:[eE][-+]?[0-9]+)?"
BODY = rf"[.,]?[0-9](?:[0-9.,{GROUPS}]*[0-9.])?{EXPONENT}"
BARE = rf"^[-+]?{BODY}$"
DRESSED = (
    rf"^(?P<before>(?:[(+{MINUS}{SPACES}]|{CURRENCY})*)(?P<body>{BODY})(?P<after>(?:[)%{MINUS}{SPACES}]|{CURRENCY})*)$"
)


def _reading(point: str, comma: str) -> str:
    """Return the pattern of numbers with this decimal point and this comma between thousands, or lakhs."""
    thousands = rf"[1-9][0-9]{{0,2}}(?:[{comma}{GROUPS}][0-9]{{3}})+|[1-9][0-9]?(?:{comma}[0-9]{{2}})+{comma}[0-9]{{3}}"
    return rf"^[-+]?(?:[0-9]+|{thousands})?(?:{point}[0-9]*)?{EXPONENT}$"


WITH_POINT, WITH_COMMA = _reading(r"\.", ","), _reading(",", r"\.")


def undressed(texts: pa.Array, missing: NDArray[np.bool_]) -> tuple[pa.Array, NDArray[np.float64], NDArray[Any]]:
    """Take signs, brackets, currencies and percent off: return the digits (null if there are none), signs and units."""
    bare = mask_of(pc.match_substring_regex(texts, BARE))
    signs, units = np.ones(len(texts)), np.full(len(texts), "", dtype=object)
    bodies = pc.if_else(pa.array(bare), texts, pa.scalar(None, texts.type))
    dressed = np.flatnonzero(~bare & ~missing)
    found = pc.extract_regex(texts.take(pa.array(dressed)), DRESSED)
    matched = mask_of(found.is_valid())
    dressed, found = dressed[matched], found.filter(pa.array(matched))
    if not dressed.size:
        return bodies, signs, units
    before, after = (pc.struct_field(found, side).dictionary_encode() for side in ("before", "after"))
    pairs = before.indices.to_numpy().astype(np.int64) * len(after.dictionary) + after.indices.to_numpy()
    kinds, which = np.unique(pairs, return_inverse=True)
    clothes = [_clothes(*(side.as_py() for side in _pair(kind, before, after))) for kind in kinds]
    signs[dressed] = np.array([sign for sign, _ in clothes])[which]
    units[dressed] = np.array([unit for _, unit in clothes], dtype=object)[which]
    mask = np.zeros(len(texts), dtype=bool)
    mask[dressed] = True
    return pc.replace_with_mask(bodies, pa.array(mask), pc.struct_field(found, "body")), signs, units


def _pair(kind: int, before: pa.Array, after: pa.Array) -> tuple[pa.Scalar, pa.Scalar]:
    first, second = divmod(int(kind), len(after.dictionary))
    return before.dictionary[first], after.dictionary[second]


def _clothes(before: str, after: str) -> tuple[float, str]:
    """Return the sign and the unit that stand around a number; NaN for a sign that makes no sense."""
    around = re.sub(f"[{SPACES}]", "", before), re.sub(f"[{SPACES}]", "", after)
    marks = "".join(around)
    minus, brackets = len(re.findall(f"[{MINUS}]", marks)), (marks.count("("), marks.count(")"))
    written = {re.sub(rf"[+()%{MINUS}]", "", side) for side in around} - {""}
    percent = marks.count("%")
    amounts = {currency_of(name) for name in written}
    wrong = brackets not in ((0, 0), (1, 1)) or minus + marks.count("+") + brackets[0] > 1
    if wrong or percent + len(amounts) > 1:
        return float("nan"), ""
    return (-1.0 if minus or brackets[0] else 1.0), "%" if percent else next(iter(written), "")


def fitting(bodies: pa.Array, comma: bool) -> NDArray[np.bool_]:
    """Say which digits are a number with a decimal comma, or point."""
    return mask_of(pc.match_substring_regex(bodies, WITH_COMMA if comma else WITH_POINT))


def cleaned(bodies: pa.Array, has_comma: bool) -> tuple[pa.Array, bool]:
    """Return digits with a decimal point only, and whether anything stood between thousands."""
    grouped = False
    for mark in ("." if has_comma else ",") + GROUPS:
        if pc.any(pc.match_substring(bodies, mark)).as_py():
            bodies, grouped = pc.replace_substring(bodies, mark, ""), True
    return pc.replace_substring(bodies, ",", ".") if has_comma else bodies, grouped


def mask_of(values: pa.Array) -> NDArray[np.bool_]:
    """Return truth values of Arrow, null as false."""
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), dtype=bool)
