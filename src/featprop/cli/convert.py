"""``featprop convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress
from featprop.errors import ParameterError


@app.command()
def convert(
    graph: options.GraphPath,
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace a converted graph that is there already.")] = False,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory limit, such as 4GB.",
            show_default="half of the free memory",
        ),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for temporary files that exceed the memory limit.",
            show_default="next to the result",
        ),
    ] = None,
) -> None:
    """Convert a graph to featprop's format, which opens instantly at any size.

    Every command accepts the converted folder in place of the original. The edges may exceed memory.

    Example: `featprop convert my-graph/ my-graph.fp/`
    """
    from featprop.resources import half_of_free, parse_bytes
    from featprop.sources.building import convert_tables
    from featprop.sources.native import check_may_replace, write_native
    from featprop.sources.reading import describe, is_described

    limit = half_of_free() if max_memory is None else parse_bytes(max_memory)
    check_may_replace(out, force=force)
    with showing_progress():
        if is_described(graph):
            made = convert_tables(describe(graph), out, max_memory=limit, scratch=scratch, force=force)
            options.print_size(graph, made, made.preprocessor)
        elif max_memory is not None or scratch is not None:
            raise ParameterError(f"`max_memory` and `scratch` are for tables; {graph} is read whole.", path=graph)
        else:
            write_native(options.read_graph(graph), out, force=force)
    size = sum(file.stat().st_size for file in out.iterdir())
    typer.echo(f"Wrote {out}, {size / 1e6:,.1f} MB.")
