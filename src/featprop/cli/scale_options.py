"""The options of every command that can work on more than memory holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.memory import bytes_text, half_of_free, parse_bytes

if TYPE_CHECKING:
    from featprop.graph import Graph

__all__ = [
    "WORTH_SAYING",
    "ClusterOption",
    "MaxMemoryOption",
    "ScratchOption",
    "WorkersOption",
    "memory_bound",
    "say_memory_bound",
    "working_as_said",
]

WORTH_SAYING = 4
"""A bound is told where it is less than so many times what the rows of a graph take."""

MaxMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="How much memory to use at most, such as 500MB, 4GB or 2GiB.",
        show_default="half of what is free",
    ),
]

ScratchOption = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        help="Where rows go that memory has no room for; removed afterwards. A cluster's workers must reach it.",
        show_default="the system's temporary folder",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="NUMBER", help="Compute in so many processes, a Dask cluster here."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Compute on a Dask cluster, such as tcp://host:8786."),
]


def memory_bound(said: str | None) -> int:
    """Return the bytes that may be used: those said, else half of what is free."""
    return half_of_free() if said is None else parse_bytes(said)


def say_memory_bound(bound: int, said: str | None) -> None:
    """Say in a line how much memory is used at most."""
    why = ", half of what is free (--max-memory SIZE says another)" if said is None else ""
    typer.echo(f"Memory: at most {bytes_text(bound)}{why}", err=True)


@contextmanager
def working_as_said(
    graph: Graph, max_memory: str | None, scratch: Path | None, workers: int | None, cluster: str | None
) -> Iterator[None]:
    """Work where the options say; how much memory is used is told where that matters."""
    from featprop.compute import compute_on

    bound = memory_bound(max_memory)
    if max_memory is not None or WORTH_SAYING * 4 * graph.n_nodes * min(graph.n_features, 512) > bound:
        say_memory_bound(bound, max_memory)
    with compute_on(cluster=cluster, workers=workers, scratch=scratch, max_memory=bound):
        yield
