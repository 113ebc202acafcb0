"""What commands show: progress and log messages on standard error, tables and text on standard output."""

from __future__ import annotations

import logging
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from featprop.progress import Listener, listening

__all__ = ["print_table", "print_text", "showing_progress"]

SHOW_AFTER_S = 1.0
REPEAT_AFTER_S = 10.0
"""Seconds until the first and between further lines of progress."""
COLUMN_GAP = 2


@contextmanager
def showing_progress(level: int = logging.INFO) -> Iterator[None]:
    """Show the progress and the log messages, from `level` up, of everything inside the block.

    A terminal shows bars, anything else lines.
    """
    if not sys.stderr.isatty():
        with _logging(_print_line, level), listening(_Lines()):
            yield
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    with Progress(console=console, transient=True) as bars, _logging(console.print, level), listening(_show_on(bars)):
        yield


@contextmanager
def _logging(show: Callable[[str], object], level: int) -> Iterator[None]:
    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            show(record.getMessage())

    log, handler = logging.getLogger("featprop"), Handler()
    before = log.level
    log.addHandler(handler)
    log.setLevel(level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def _print_line(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


class _Lines:
    """Print a line once a stage takes longer than a second, then one every ten seconds."""

    def __init__(self) -> None:
        self.next_line = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == 0:
            self.next_line = now + SHOW_AFTER_S
        elif now >= self.next_line:
            _print_line(f"{stage}: {done} of {total}")
            self.next_line = now + REPEAT_AFTER_S


def _show_on(bars: Any) -> Listener:
    """Return a listener that shows the current stage as a bar."""

    def listener(stage: str, done: int, total: int) -> None:
        if done == 0:
            for shown in bars.task_ids:
                bars.remove_task(shown)
            bars.add_task(stage, total=total)
        elif bars.task_ids:
            bars.update(bars.task_ids[-1], completed=done)

    return listener


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print a table; on a terminal that is too narrow for it, print each row as a list of its cells.

    Parameters
    ----------
    titles
        Title of each column.
    rows
        Cells of each row; trailing cells may be missing.
    left
        Titles of the left-aligned columns.
    """
    cells = [[*row, *[""] * (len(titles) - len(row))] for row in (titles, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if sum(widths) + COLUMN_GAP * (len(widths) - 1) > _terminal_width():
        _print_lists(titles, rows)
        return
    for row in cells:
        aligned = [
            cell.ljust(width) if title in left else cell.rjust(width)
            for cell, width, title in zip(row, widths, titles, strict=True)
        ]
        typer.echo((" " * COLUMN_GAP).join(aligned).rstrip())


def _print_lists(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print the first cell of each row, and a line for each other cell."""
    indent = max(map(len, titles[1:])) + 2 * COLUMN_GAP
    wrapper = textwrap.TextWrapper(max(indent + 1, _terminal_width()), subsequent_indent=" " * indent)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    for name, *others in rows:
        typer.echo(name)
        for title, cell in zip(titles[1:], others, strict=False):
            if cell:
                typer.echo(wrapper.fill(f"{' ' * COLUMN_GAP}{title}".ljust(indent) + cell))
        typer.echo()


def _terminal_width() -> int:
    """Return the width of the terminal; a pipe has no limit."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize


def print_text(text: str, hang: int = 0) -> None:
    """Print paragraphs; on a terminal, wrap those that are not indented.

    Parameters
    ----------
    text
        Paragraphs separated by empty lines.
    hang
        Indentation of the second and further lines of a wrapped paragraph.
    """
    width = _terminal_width()
    wrapper = textwrap.TextWrapper(width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False)
    for number, paragraph in enumerate(text.split("\n\n")):
        is_fixed = paragraph.startswith(" ") or max(map(len, paragraph.split("\n"))) <= width
        typer.echo("\n" * bool(number) + (paragraph if is_fixed else wrapper.fill(paragraph)))
