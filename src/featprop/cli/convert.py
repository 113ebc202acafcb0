"""``featprop convert``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import GraphArgument, app, read
from featprop.cli.console import showing_progress
from featprop.cli.table_options import reads_tables

if TYPE_CHECKING:
    from featprop.tables import TableOptions

__all__ = ["convert"]


@app.command()
@reads_tables()
def convert(
    graph: GraphArgument,
    tables: TableOptions,
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace a converted graph that is there already.")] = False,
) -> None:
    """Write a graph in featprop's own format, which opens at once whatever its size.

    Every command takes the folder in place of the original.

    Example: `featprop convert my-graph/ my-graph.fp/`
    """
    from featprop.io.native import check_may_replace, write_native

    check_may_replace(out, force=force)
    with showing_progress():
        write_native(read(graph, tables), out, force=force)
    size = sum(file.stat().st_size for file in out.iterdir())
    typer.echo(f"Wrote {out}, {size / 1e6:,.1f} MB.")
