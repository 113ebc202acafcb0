"""Which columns a user asks for, by name or by pattern."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from featprop.errors import GraphError

__all__ = ["matching", "no_column"]


def matching(columns: list[str], wanted: Sequence[str], what: str) -> list[str]:
    """Return the columns that are named or fit a pattern; several with commas between, unless one is called so."""
    patterns: list[str] = []
    for each in wanted:
        patterns += [each] if _fits(columns, each) else [part.strip() for part in each.split(",")]
    for pattern in patterns:
        if not _fits(columns, pattern):
            raise no_column(pattern, columns, what)
    return [name for name in columns if any(_fits([name], pattern) for pattern in patterns)]


def _fits(columns: Sequence[str], pattern: str) -> bool:
    """Say whether any column is called so or fits the pattern."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in columns)


def no_column(name: str, columns: list[str], what: str) -> GraphError:
    """Return the error that a column is not there."""
    found = f"the columns {', '.join(columns[:8])}{', …' if len(columns) > 8 else ''}"
    return GraphError(f"{what}", f"must have a feature column {name!r}", found, "name one of them")
