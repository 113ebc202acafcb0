"""Tables of text on standard output, as wide as they are: they can be read, cut and searched."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import typer

__all__ = ["print_table"]


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print columns, numbers to the right.

    Parameters
    ----------
    titles
        The head of each column.
    rows
        Their cells; a row may end early, and the last cell of such a row may run on to the right.
    left
        The titles of the columns to set to the left.
    """
    full = [row for row in rows if len(row) == len(titles)]
    ended = [row[:-1] for row in rows if len(row) < len(titles)]
    widths = [
        max(len(cell) for cell in [title, *(row[place] for row in [*full, *ended] if place < len(row))])
        for place, title in enumerate(titles)
    ]
    for row in [titles, *rows]:
        cells = [
            cell.ljust(width) if title in left else cell.rjust(width)
            for cell, width, title in zip(row, widths, titles, strict=False)
        ]
        typer.echo("  ".join(cells).rstrip())
