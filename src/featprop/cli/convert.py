"""``featprop convert``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import GraphArgument, app, print_graph_size, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import count_of
from featprop.cli.scale_options import (
    WORTH_SAYING,
    ClusterOption,
    MaxMemoryOption,
    ScratchOption,
    WorkersOption,
    memory_bound,
    say_memory_bound,
)
from featprop.cli.table_options import reads_tables
from featprop.errors import FileError, ParameterError

if TYPE_CHECKING:
    from featprop.tables import TableOptions

__all__ = ["convert"]


@app.command()
@reads_tables()
def convert(
    graph: GraphArgument,
    tables: TableOptions,
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing converted graph.")] = False,
    append: Annotated[
        bool, typer.Option("--append", help="Add the nodes and edges of GRAPH to the existing converted graph.")
    ] = False,
    max_memory: MaxMemoryOption = None,
    scratch: ScratchOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Convert a graph to featprop's format, which opens instantly at any size.

    Every command accepts the converted folder in place of the original. The edges may exceed memory.

    Example: `featprop convert my-graph/ my-graph.fp/`

    Later: `featprop convert more/ my-graph.fp/ --append`
    """
    from featprop.io.converting import convert_tables, tables_at
    from featprop.io.native import check_may_replace, write_native

    bound = memory_bound(max_memory)
    if append:
        if force:
            raise ParameterError("--append and --force exclude each other.", parameter="append", value=True)
        with _edges_by(workers, cluster, scratch):
            _append(graph, out, tables, bound, max_memory, scratch)
        return
    check_may_replace(out, force=force)
    found = tables_at(graph)
    said = {"--max-memory": max_memory, "--scratch": scratch, "--workers": workers, "--cluster": cluster}
    beside = next((option for option, value in said.items() if value is not None), None)
    if found is None and beside is not None:
        raise ParameterError(
            f"{beside} applies only to tables, and {graph} holds none.", hint="Leave it out.", parameter=beside
        )
    with showing_progress():
        if found is None:
            write_native(read(graph, tables), out, force=force)
        else:
            if max_memory is not None or WORTH_SAYING * found.size > bound:
                say_memory_bound(bound, max_memory)
            with _edges_by(workers, cluster, scratch):
                made = convert_tables(found, out, tables, max_memory=bound, scratch=scratch, force=force)
            print_graph_size(graph, tables, made.nodes, made.edges, made.features, made.preparation)
    size = sum(file.stat().st_size for file in out.iterdir())
    typer.echo(f"Wrote {out}, {size / 1e6:,.1f} MB.")


@contextmanager
def _edges_by(workers: int | None, cluster: str | None, scratch: Path | None) -> Iterator[None]:
    """Let workers take part for the length of the block, if there are to be any."""
    from featprop.compute import compute_on
    from featprop.memory import MIN_MEMORY

    if workers is None and cluster is None:
        yield
        return
    with compute_on(workers=workers, cluster=cluster, scratch=scratch, max_memory=MIN_MEMORY):
        yield


def _append(
    graph: Path, out: Path, tables: TableOptions, bound: int, max_memory: str | None, scratch: Path | None
) -> None:
    from featprop.io.appending import append_tables
    from featprop.io.converting import tables_at

    found = tables_at(graph, both=False)
    if found is None:
        raise FileError(f"{graph} is not a folder with nodes.csv or edges.csv.", path=graph)
    with showing_progress():
        if max_memory is not None or WORTH_SAYING * found.size > bound:
            say_memory_bound(bound, max_memory)
        made = append_tables(found, out, tables, max_memory=bound, scratch=scratch)
    now = f"{made.nodes:,} nodes, {made.edges:,} edges, {made.features:,} features"
    typer.echo(f"Added {count_of(made.new_nodes, 'node')} and {count_of(made.new_edges, 'edge')} to {out}: {now}.")
