"""How a value is written for a person: numbers with as many digits as one reads, dates in words."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

__all__ = ["day_in_words", "number_in_words", "span_in_words", "written"]

DIGITS = 6
"""Digits of a number that are shown."""
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def written(value: Any) -> str:
    """Return a value that is no quantity as text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 2**53 else f"{value:.{DIGITS}g}"
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, list | tuple):
        return ", ".join(map(written, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {written(part)}" for name, part in value.items())
    if isinstance(value, dt.datetime | dt.date):
        return day_in_words(value)
    return str(value)


def number_in_words(value: float) -> str:
    """Write a number with its first digits, in full unless it is very large or small; years without a comma."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    if value == round(value) and size < 1e15:
        return f"{value:,.0f}" if size >= 10_000 else f"{value:.0f}"
    if not 1e-4 <= size < 1e15:
        return f"{value:.{DIGITS - 1}e}"
    places = max(0, DIGITS - 1 - math.floor(math.log10(size)))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


def day_in_words(value: dt.date) -> str:
    """Write a date, and the time unless it is midnight."""
    day = f"{value.day} {MONTHS[value.month - 1]} {value.year}"
    if not isinstance(value, dt.datetime):
        return day
    zone = "" if value.tzinfo is None else f" {value.tzname()}"
    clock = f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"
    return day if (value.hour, value.minute, value.second) == (0, 0, 0) else f"{day}, {clock}{zone}"


def span_in_words(numbers: Sequence[float]) -> str:
    """Write how many numbers there are, and from where to where they go."""
    finite = [float(each) for each in numbers if math.isfinite(each)]
    count = f"{len(numbers):,} number{'' if len(numbers) == 1 else 's'}"
    return f"{count} from {number_in_words(min(finite))} to {number_in_words(max(finite))}" if finite else count
