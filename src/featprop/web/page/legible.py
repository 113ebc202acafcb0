"""Text as a page can show it, whoever wrote it: nothing that XML forbids, nothing that turns the line around."""

from __future__ import annotations

import re

__all__ = ["legible", "legible_line", "percent"]

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that XML 1.0 cannot hold, or that no screen shows."""
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that change the direction of all that follows, so that a name could read as another."""
UNKNOWN_SIGN = "\ufffd"


def legible(text: str, most: int | None = None) -> str:
    """Return text without what a page cannot hold; not escaped, which is up to where it goes.

    Parameters
    ----------
    text
        What somebody wrote.
    most
        Characters to keep; longer text is cut, and ends in ``…``. All if not given.
    """
    cut = text if most is None or len(text) <= most else text[: most - 1]
    clean = TURNING.sub("", FORBIDDEN.sub(UNKNOWN_SIGN, cut))
    return clean if len(cut) == len(text) else f"{clean.rstrip()}…"


def legible_line(text: str, most: int | None = None) -> str:
    """Return text as `legible` does, on one line: line ends of any kind and several blanks are one blank."""
    return legible(" ".join(text.split()), most)


def percent(share: float) -> str:
    """Write a share in whole percent; one that is not quite nothing or not quite all says so."""
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"
