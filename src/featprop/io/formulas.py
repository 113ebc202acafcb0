"""Text in sheets that a spreadsheet would take for a formula: written with a ' before it, as people type it there."""

from __future__ import annotations

import re

__all__ = ["bare", "shielded"]

FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How text begins that may be taken for a formula, or that begins like one with a ' before it."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def shielded(text: str) -> str:
    """Return text as a cell that no spreadsheet takes for a formula; numbers stay what they are."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def bare(text: str) -> str:
    """Return the text of a cell that `shielded` wrote."""
    return text[1:] if text.startswith("'") and shielded(text[1:]) == text else text
