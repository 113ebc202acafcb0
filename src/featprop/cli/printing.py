"""Tables and text on standard output: fitted to a terminal, one line a row where they are cut and searched."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence

import typer

__all__ = ["print_table", "print_text"]

GAP = 2
"""Spaces between columns."""
NARROWEST = 24
"""What a column that wraps is at least wide, if its cells are that long; where that does not fit, rows are stacked."""


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print columns, numbers to the right; on a terminal too narrow for them, row by row with a line a cell.

    Parameters
    ----------
    titles
        The head of each column.
    rows
        Their cells; a row may end early.
    left
        The titles of the columns to set to the left. On a terminal they wrap, but for the first one.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    widths = [max(map(cell_len, cells)) for cells in _columns(titles, rows)]
    wraps = [title in left and title != titles[0] for title in titles]
    gaps = GAP * (len(titles) - 1)
    full = sum(widths) + gaps
    least = gaps + sum(min(width, NARROWEST) if wrap else width for width, wrap in zip(widths, wraps, strict=True))
    console = Console(force_terminal=sys.stdout.isatty(), highlight=False, markup=False, emoji=False)
    if console.is_terminal and least > console.width:
        _print_stacked(titles, rows, left, console.width)
        return
    is_wrapped = console.is_terminal and full > console.width
    table = Table(box=None, pad_edge=False, padding=(0, GAP, int(is_wrapped), 0))
    for title, width, wrap in zip(titles, widths, wraps, strict=True):
        least_width = min(width, NARROWEST) if wrap else width
        table.add_column(
            title,
            justify="left" if title in left else "right",
            overflow="fold",
            no_wrap=not wrap,
            min_width=least_width,
        )
    for row in rows:
        table.add_row(*row)
    if not is_wrapped:
        console.width = full
    with console.capture() as printed:
        console.print(table)
    for line in printed.get().splitlines():
        typer.echo(line.rstrip())


def print_text(text: str, hang: int = 0) -> None:
    """Print paragraphs; on a terminal, lines that are too long for it are broken anew, but for indented paragraphs.

    Parameters
    ----------
    text
        The paragraphs, with an empty line between them.
    hang
        How far the lines after the first of a paragraph that is broken anew are indented.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for number, paragraph in enumerate(text.split("\n\n")):
        lines = paragraph.splitlines()
        if width and max(map(len, lines), default=0) > width and not paragraph.startswith(" "):
            lines = _wrapped("\n".join(lines), width, hang)
        typer.echo("\n" * bool(number) + "\n".join(lines))


def _columns(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    for place, title in enumerate(titles):
        yield [title, *(row[place] for row in rows if place < len(row))]


def _print_stacked(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str], width: int) -> None:
    """Print each row as its first cell, its numbers in a line, and a paragraph for each of its other cells."""
    indent = GAP + GAP + max((len(title) for title in titles[1:] if title in left), default=0)
    for row in rows:
        cells = list(zip(titles, row, strict=False))[1:]
        typer.echo(row[0])
        numbers = "  ".join(f"{title}\xa0{cell}" for title, cell in cells if title not in left)
        lines = _wrapped(numbers, width - GAP)
        typer.echo("".join(f"{' ' * GAP}{line}\n".replace("\xa0", " ") for line in lines), nl=False)
        for title, cell in cells:
            if title in left and cell:
                first, *others = _wrapped(cell, width - indent)
                typer.echo(f"{' ' * GAP}{title:<{indent - GAP}}{first}")
                typer.echo("".join(f"{' ' * indent}{line}\n" for line in others), nl=False)
        typer.echo()


def _wrapped(text: str, width: int, hang: int = 0) -> list[str]:
    """Break text between words; a word that is too long stays whole."""
    wrapper = textwrap.TextWrapper(
        max(hang + 1, width), subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
    )
    return wrapper.wrap(text)
