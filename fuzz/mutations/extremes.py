"""Values that programs stumble over."""

from __future__ import annotations

import random
from typing import Any

__all__ = ["NUMBERS", "TEXTS", "extreme", "extreme_text"]

NUMBERS: tuple[Any, ...] = (
    0, -0.0, 1, -1, 2, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63 - 1,
    2**63, -(2**63) - 1, 2**64, 10**30, 0.1, 0.5, 1.5, -0.5, 1e-320, 1e-45, 1e38, 3.4e38, 1e39, 1e155, 1e300, 1.8e308,
    float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
TEXTS: tuple[str, ...] = (
    "", " ", "\t", "nan", "NaN", "inf", "-Infinity", "None", "null", "NULL", "N/A", "true", "FALSE", "yes", "0", "-0", "1",
    "-1", "00", "007", "1.0", "1,5", "1.234,56", "1e309", "-1e309", "1e-400", "1e5", "0x10", "1_000", "١٢٣", "½", "²",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "99999999999999999999999999999999", "1" * 5000,
    "2024-02-30", "0000-00-00", "9999-12-31", "10000-01-01", "1582-10-10", "24:00", "12/31/2024", "31.12.2024",
    "2024-01-01T00:00:00+25:00", "1970-01-01T00:00:00.000000000001Z", "292277026596-12-04", "\x00", "a\x00b", "\x1b[31m",
    "\ufeff", "\u202eabc", "\u200b", "e\u0301", "é", "🙂", "日本", "ﷺ", "\ud7ff", "\r", "\n", "a\nb", '"', '""', "'", ",", ";",
    "=1+1", "=cmd|' /C calc'!A0", "@sum", "+1", "-", "--", "#REF!", "../../etc/passwd", "<script>alert(1)</script>", "%s%n",
    "{0}", "{{7*7}}", "$(touch x)", "`touch x`", "a" * 10_000, "[1, 2]", "[", "{}", "{", "[nan]", "[1e400]", "[]", "1 2 3",
    "$1,000", "50%", "€5", "1e", ".", "e", "skip", "?", "label", "id", "source", "target", "weight",
)  # fmt: skip


def extreme(random: random.Random) -> Any:
    """Return a value of a kind that JSON knows."""
    kind = random.random()
    if kind < 0.4:
        return random.choice(NUMBERS)
    if kind < 0.8:
        return random.choice(TEXTS)
    deep: Any = []
    for _ in range(random.choice([5, 50, 500])):
        deep = [deep]
    return random.choice([None, True, False, [], {}, [[]], [None], {"": None}, [1, "a", None], {"a": {"b": []}}, deep])


def extreme_text(random: random.Random) -> str:
    """Return such a value as a cell of a table would have it."""
    return random.choice(TEXTS) if random.random() < 0.7 else str(random.choice(NUMBERS))
