"""Format text, numbers and dates for a page."""

from __future__ import annotations

import datetime as dt
import math
import re
from calendar import month_name
from collections.abc import Sequence
from typing import Any

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML 1.0 forbids or that have no glyph."""
BIDI_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that reverse the text after them, so that one name could look like another."""
REPLACEMENT = "\ufffd"
MAX_DIGITS = 6
"""Significant digits of a number."""


def clean_text(text: str, max_chars: int | None = None) -> str:
    """Return text without characters that a page cannot show. The text is not escaped."""
    cut = text if max_chars is None or len(text) <= max_chars else text[: max_chars - 1]
    clean = BIDI_CONTROLS.sub("", FORBIDDEN.sub(REPLACEMENT, cut))
    return clean if len(cut) == len(text) else f"{clean.rstrip()}…"


def clean_line(text: str, max_chars: int | None = None) -> str:
    """Return `clean_text` on one line, with every run of white space collapsed into one blank."""
    return clean_text(" ".join(text.split()), max_chars)


def format_percent(share: float) -> str:
    """Format a share in whole percent; shares close to 0 or 1 are not rounded to them."""
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def format_value(value: Any) -> str:
    """Format a value that is not a quantity."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 2**53 else f"{value:.{MAX_DIGITS}g}"
    return ", ".join(map(format_value, value)) if isinstance(value, list) else str(value)


def format_number(value: float) -> str:
    """Format a number with up to six significant digits; whole numbers below 10,000 have no comma, for years."""
    if abs(value) < 10_000 and value.is_integer():
        return f"{value:.0f}"
    is_large = 1e5 <= abs(value) < 1e15
    return f"{value:,.0f}" if is_large or value.is_integer() else f"{value:,.{MAX_DIGITS}g}"


def format_date(value: dt.datetime) -> str:
    """Format a date, with the time unless it is midnight."""
    day = f"{value.day} {month_name[value.month]} {value.year}"
    return day if value.time() == dt.time() else f"{day}, {value:%H:%M}"


def format_range(numbers: Sequence[float]) -> str:
    """Format how many numbers there are, and their minimum and maximum."""
    finite = [float(each) for each in numbers if math.isfinite(each)]
    count = f"{len(numbers):,} number{'' if len(numbers) == 1 else 's'}"
    return f"{count} from {format_number(min(finite))} to {format_number(max(finite))}" if finite else count
