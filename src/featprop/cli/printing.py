"""Print tables and text on standard output: fitted to a terminal, one line per row in a pipe."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence

import typer

__all__ = ["print_table", "print_text"]

COLUMN_GAP = 2
MIN_WRAPPED_WIDTH = 24
"""Minimum width of a column that wraps; if the columns do not fit, rows are stacked."""


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print a table; on a terminal that is too narrow, print each row as a list of its cells.

    Parameters
    ----------
    titles
        Title of each column.
    rows
        Cells of each row; trailing cells may be missing.
    left
        Titles of the left-aligned columns. On a terminal, all of them but the first wrap.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    widths = [max(map(cell_len, cells)) for cells in _columns(titles, rows)]
    wraps = [title in left and title != titles[0] for title in titles]
    gaps = COLUMN_GAP * (len(titles) - 1)
    full = sum(widths) + gaps
    least = gaps + sum(
        min(width, MIN_WRAPPED_WIDTH) if wrap else width for width, wrap in zip(widths, wraps, strict=True)
    )
    console = Console(force_terminal=sys.stdout.isatty(), highlight=False, markup=False, emoji=False)
    if console.is_terminal and least > console.width:
        _print_stacked(titles, rows, left, console.width)
        return
    is_wrapped = console.is_terminal and full > console.width
    table = Table(box=None, pad_edge=False, padding=(0, COLUMN_GAP, int(is_wrapped), 0))
    for title, width, wrap in zip(titles, widths, wraps, strict=True):
        min_width = min(width, MIN_WRAPPED_WIDTH) if wrap else width
        table.add_column(
            title,
            justify="left" if title in left else "right",
            overflow="fold",
            no_wrap=not wrap,
            min_width=min_width,
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
    """Print paragraphs; on a terminal, wrap those that are too wide and not indented.

    Parameters
    ----------
    text
        Paragraphs separated by empty lines.
    hang
        Indentation of the second and further lines of a wrapped paragraph.
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for number, paragraph in enumerate(text.split("\n\n")):
        lines = paragraph.splitlines()
        if width and max(map(len, lines), default=0) > width and not paragraph.startswith(" "):
            lines = _wrap("\n".join(lines), width, hang)
        typer.echo("\n" * bool(number) + "\n".join(lines))


def _columns(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    for place, title in enumerate(titles):
        yield [title, *(row[place] for row in rows if place < len(row))]


def _print_stacked(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str], width: int) -> None:
    """Print the first cell of each row, its numbers in one line, and a paragraph for each other cell."""
    indent = COLUMN_GAP + COLUMN_GAP + max((len(title) for title in titles[1:] if title in left), default=0)
    for row in rows:
        cells = list(zip(titles, row, strict=False))[1:]
        typer.echo(row[0])
        numbers = "  ".join(f"{title}\xa0{cell}" for title, cell in cells if title not in left)
        lines = _wrap(numbers, width - COLUMN_GAP)
        typer.echo("".join(f"{' ' * COLUMN_GAP}{line}\n".replace("\xa0", " ") for line in lines), nl=False)
        for title, cell in cells:
            if title in left and cell:
                first, *others = _wrap(cell, width - indent)
                typer.echo(f"{' ' * COLUMN_GAP}{title:<{indent - COLUMN_GAP}}{first}")
                typer.echo("".join(f"{' ' * indent}{line}\n" for line in others), nl=False)
        typer.echo()


def _wrap(text: str, width: int, hang: int = 0) -> list[str]:
    """Wrap text between words; a word that is too long stays in one piece."""
    wrapper = textwrap.TextWrapper(
        max(hang + 1, width), subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
    )
    return wrapper.wrap(text)
