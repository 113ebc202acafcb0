"""What commands show: progress and log messages on standard error, tables and text on standard output."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from featprop.progress import Listener, listening

if TYPE_CHECKING:
    from rich.console import Console


PIPE_WIDTH = 1_000_000
"""Width of anything that is not a terminal: one line per row and per paragraph."""


@contextmanager
def showing_progress(level: int = logging.INFO) -> Iterator[None]:
    """Show the log messages, from `level` up, of everything inside the block, and in a terminal its progress."""
    log = logging.getLogger("featprop")
    before = log.level
    with ExitStack() as stack:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            bars = stack.enter_context(Progress(console=Console(stderr=True, soft_wrap=True), transient=True))
            stack.enter_context(listening(_show_on(bars)))
        handler = logging.StreamHandler()  # writes to what `sys.stderr` is now: above the bar, if there is one
        log.addHandler(handler)
        log.setLevel(level)
        try:
            yield
        finally:
            log.removeHandler(handler)
            log.setLevel(before)


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


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, markup=False, emoji=False)


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print a table with the columns in `left` aligned left; a terminal that is too narrow for it wraps the cells."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for title in titles:
        table.add_column(title, justify="left" if title in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = _console()
    with console.capture() as printed:
        console.print(table)
    for line in printed.get().splitlines():
        print(line.rstrip())


def print_text(text: str) -> None:
    """Print paragraphs, wrapped on a terminal; indented ones keep their lines."""
    paragraphs = [each if each.startswith(" ") else " ".join(each.split()) for each in text.split("\n\n")]
    _console().print("\n\n".join(paragraphs))
