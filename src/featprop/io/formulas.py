"""Text in sheets that a spreadsheet would take for a formula: written with a ' before it, as people type it there."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["bare", "shielded", "shielded_column"]

FORMULA = re.compile(r"^'*[=+\-@\t\r]")
"""How text begins that may be taken for a formula, or that begins like one with a ' before it."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def shielded(text: str) -> str:
    """Return text as a cell that no spreadsheet takes for a formula; numbers stay what they are."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def shielded_column(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of a table, `shielded` if it holds text."""
    if not pa.types.is_string(values.type) or not pc.any(pc.match_substring_regex(values, FORMULA.pattern)).as_py():
        return values
    return pa.chunked_array([[None if text is None else shielded(text) for text in values.to_pylist()]], values.type)


def bare(text: str) -> str:
    """Return the text of a cell that `shielded` wrote."""
    return text[1:] if text.startswith("'") and shielded(text[1:]) == text else text
