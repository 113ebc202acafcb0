"""`working`: how much memory to use, where to put the rest, and who computes, for all that is done meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from featprop.compute.on_disk import OnDisk
from featprop.compute.places import Place, working_at
from featprop.compute.scratch import scratch_folder
from featprop.errors import MissingExtraError, ParameterError
from featprop.interrupts import block_interrupts
from featprop.memory import half_of_free, parse_bytes

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["working"]

PATIENCE = 10
"""Seconds that a cluster has to answer."""


@contextmanager
def working(
    *,
    client: Client | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    max_memory: int | str | None = None,
) -> Iterator[Place]:
    """Work within a bound of memory, or on the workers of a Dask cluster, for the length of the block.

    The answers are the same as without.

    Parameters
    ----------
    client
        A `distributed.Client` of a cluster.
    cluster
        The address of its scheduler instead, such as ``"tcp://host:8786"``.
    workers
        Or how many worker processes to start on this machine, which end with the block.
    scratch
        The folder below which rows go that are not kept in memory; the system's temporary folder if not given. The
        workers of a cluster must reach it under the same path. What is written there goes when the block ends.
    max_memory
        The bytes this process may use, or text such as ``"4GB"``; half of what is free if not given.
    """
    if client is not None and not callable(getattr(client, "submit", None)):
        rule, cure = "must be a distributed.Client", "make one: distributed.Client('tcp://host:8786')"
        raise ParameterError("client", rule, f"{client!r} ({type(client).__name__})", cure)
    given = [name for name, value in (("client", client), ("cluster", cluster), ("workers", workers)) if value]
    if len(given) > 1:
        raise ParameterError(given[0], f"must be given without {given[1]}", "both", "leave one out")
    if workers is not None and workers < 1:
        raise ParameterError("workers", "must be at least 1", workers, "start some, or leave it out")
    bound = parse_bytes(max_memory, "max_memory") if isinstance(max_memory, str) else max_memory
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder(None if scratch is None else Path(scratch)))
        if client is None and given:
            client = stack.enter_context(_client(cluster, workers, folder))
        bound = half_of_free() if bound is None else bound
        if client is None:
            chosen: Place = OnDisk(folder, bound)
        else:
            from featprop.compute.on_dask import OnDask

            chosen = OnDask(client, folder, bound)
        yield stack.enter_context(working_at(chosen))


@contextmanager
def _client(cluster: str | None, workers: int | None, folder: Path) -> Iterator[Client]:
    """Reach the cluster, or start one of processes here, with files in a folder, that ends with the block."""
    try:
        from dask import config
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError("A cluster", "cluster", "distributed") from error
    with ExitStack() as stack:
        if workers is not None:
            with block_interrupts(), config.set(temporary_directory=str(folder)):
                started = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # a port is opened even for no dashboard: a free one, for us alone
                    scheduler_kwargs={"dashboard": False},
                    memory_limit=0,
                    silence_logs=50,
                    local_directory=str(folder),
                )
                stack.enter_context(started)
            yield stack.enter_context(Client(started))
            return
        try:
            client = Client(cluster, timeout=PATIENCE)
        except (OSError, ValueError, TimeoutError) as error:
            rule, cure = (
                "must be the address of a Dask scheduler",
                "start one with dask scheduler, or check the address",
            )
            raise ParameterError("cluster", rule, f"{cluster}: {error}", cure) from error
        yield stack.enter_context(client)
