"""Tables of text on standard output: wrapped to a terminal, one line a row where they are cut and searched."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence

import typer

__all__ = ["print_table"]

UNBOUNDED = 100_000


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print columns, numbers to the right.

    Parameters
    ----------
    titles
        The head of each column.
    rows
        Their cells; a row may end early.
    left
        The titles of the columns to set to the left. On a terminal that is wide enough for their longest words they
        wrap, but for the first one.
    """
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in titles:
        wraps = title in left and title != titles[0]
        table.add_column(title, justify="left" if title in left else "right", overflow="fold", no_wrap=not wraps)
    for row in rows:
        table.add_row(*row)
    console = Console(force_terminal=sys.stdout.isatty(), highlight=False, markup=False, emoji=False)
    needed = Measurement.get(console, console.options.update(width=UNBOUNDED), table)
    if not console.is_terminal or needed.minimum > console.width:
        console.width = needed.maximum
    elif needed.maximum > console.width:
        table.padding = (0, 2, 1, 0)
    with console.capture() as printed:
        console.print(table)
    for line in printed.get().splitlines():
        typer.echo(line.rstrip())
