"""The options of every command that can work on more than memory holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.errors import ParameterError, unknown_choice
from featprop.memory import bytes_text, half_of_free, parse_bytes

if TYPE_CHECKING:
    from featprop.graph import Graph

__all__ = [
    "WORTH_SAYING",
    "ClusterOption",
    "ComputeOption",
    "MaxMemoryOption",
    "ScratchOption",
    "WorkersOption",
    "computing",
    "memory_bound",
    "say_memory_bound",
]

WORTH_SAYING = 4
"""A bound is told where it is less than so many times what the rows of a graph take."""

MaxMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Memory limit, such as 500MB, 4GB or 2GiB.",
        show_default="half of the free memory",
    ),
]

ScratchOption = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        help="Folder for temporary files that exceed the memory limit. The workers of a cluster must be able to "
        "reach it.",
        show_default="the system's temporary folder",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="NUMBER", help="Number of processes of a local Dask cluster."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Compute on a Dask cluster, such as tcp://host:8786."),
]
ComputeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--compute",
        metavar="NAME=VALUE",
        help="Resources: max-memory=4GB (default: half of what is free), scratch=FOLDER for data larger than that, "
        "workers=4 for a local Dask cluster, or cluster=tcp://host:8786 for another. Repeatable.",
    ),
]
RESOURCES = ("max-memory", "scratch", "workers", "cluster")


def memory_bound(said: str | None) -> int:
    """Return the bytes that may be used: those said, else half of what is free."""
    return half_of_free() if said is None else parse_bytes(said)


def say_memory_bound(bound: int, said: str | None) -> None:
    """Say in a line how much memory is used at most."""
    why = ", half of what is free (--max-memory SIZE says another)" if said is None else ""
    typer.echo(f"Memory: at most {bytes_text(bound)}{why}", err=True)


@contextmanager
def computing(graph: Graph, compute: list[str] | None) -> Iterator[None]:
    """Compute with the resources of `--compute`, and print the memory limit where it matters."""
    from featprop.compute import compute_on

    given = _parse_resources(compute)
    max_memory, workers = given.get("max-memory"), given.get("workers")
    bound = memory_bound(max_memory)
    if max_memory is not None or WORTH_SAYING * 4 * graph.n_nodes * min(graph.n_features, 512) > bound:
        say_memory_bound(bound, max_memory)
    with compute_on(
        cluster=given.get("cluster"),
        workers=None if workers is None else _parse_workers(workers),
        scratch=given.get("scratch"),
        max_memory=bound,
    ):
        yield


def _parse_resources(compute: list[str] | None) -> dict[str, str]:
    given = {}
    for each in compute or ():
        name, _, value = each.partition("=")
        if name.replace("_", "-") not in RESOURCES:
            raise unknown_choice("compute", name, RESOURCES)
        if not value:
            raise ParameterError(f"`compute` must be NAME=VALUE, not {each!r}.", parameter="compute", value=each)
        given[name.replace("_", "-")] = value
    return given


def _parse_workers(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        message = f"`workers` must be a whole number of at least 1, not {text!r}."
        raise ParameterError(message, parameter="workers", value=text)
    return int(text)
