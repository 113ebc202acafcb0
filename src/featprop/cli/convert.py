"""``featprop convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.app import GraphArgument, app, print_size, read
from featprop.cli.console import showing_progress
from featprop.cli.scale_options import MaxMemoryOption, ScratchOption, memory_bound, say_memory_bound
from featprop.errors import ParameterError

__all__ = ["convert"]


@app.command()
def convert(
    graph: GraphArgument,
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace a converted graph that is there already.")] = False,
    max_memory: MaxMemoryOption = None,
    scratch: ScratchOption = None,
) -> None:
    """Convert a graph to featprop's format, which opens instantly at any size.

    Every command accepts the converted folder in place of the original. The edges may exceed memory.

    Example: `featprop convert my-graph/ my-graph.fp/`
    """
    from featprop.sources.converting import convert_tables
    from featprop.sources.native import check_may_replace, write_native
    from featprop.sources.reading import describe, is_described

    bound = memory_bound(max_memory)
    check_may_replace(out, force=force)
    with showing_progress():
        if is_described(graph):
            if max_memory is not None:
                say_memory_bound(bound, max_memory)
            made = convert_tables(describe(graph), out, max_memory=bound, scratch=scratch, force=force)
            print_size(graph, made.nodes, made.edges, made.features, made.preprocessor)
        elif max_memory is not None or scratch is not None:
            named = "max_memory" if max_memory is not None else "scratch"
            raise ParameterError(f"`{named}` is for tables; {graph} is read whole.", parameter=named)
        else:
            write_native(read(graph), out, force=force)
    size = sum(file.stat().st_size for file in out.iterdir())
    typer.echo(f"Wrote {out}, {size / 1e6:,.1f} MB.")
