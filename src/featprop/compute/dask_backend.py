"""A Dask cluster as a backend: rows are files that all workers can reach, and workers compute the blocks.

A task is sent with the locations of its arrays and maps them where it runs. It writes to its own rows of a file or
returns its result, so a task that runs twice because a worker died does no harm.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from featprop.compute.backend import CHUNK_ROWS, DiskBackend, Task, split_evenly, track_blocks
from featprop.compute.kernels import one_thread_per_product
from featprop.compute.mapped_arrays import ArrayLocation, locate_array
from featprop.errors import MissingExtraError, ParameterError, quote_error
from featprop.resources import block_interrupts

if TYPE_CHECKING:
    from distributed import Client

CONNECT_TIMEOUT_S = 10
MAX_SENT_BYTES = 2**16
"""Size up to which an array in memory is sent with a task; larger ones are written to files."""
BLOCKS_PER_THREAD = 4
"""Blocks of a pass for each thread of the cluster, so that slower workers compute fewer."""


class DaskBackend(DiskBackend):
    """Keep rows in files and compute blocks on the workers of a cluster.

    Parameters
    ----------
    client
        Client of the cluster.
    folder
        A scratch folder that all workers reach under this path.
    max_memory
        Memory limit of this process in bytes.
    """

    def __init__(self, client: Client, folder: Path, max_memory: int) -> None:
        super().__init__(folder, max_memory)
        self.client = client
        self.written: dict[int, tuple[NDArray[Any], ArrayLocation]] = {}
        """Read-only arrays in memory, and the files they were written to for the workers."""
        _check_workers(client, folder)

    def allocate_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return a mapped file."""
        return self.map_file((n, width), np.float32)

    def allocate_temporary_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return a mapped file."""
        return self.map_file((n, width), np.float32)

    def max_columns(self, n: int, width: int) -> int:  # noqa: ARG002
        """Return `width`: temporary rows are files."""
        return width

    def split_rows(self, n: int) -> list[slice]:
        """Split n rows into several blocks for each thread of the cluster."""
        n_threads = max(1, sum(self.client.nthreads().values()))
        chunks = max(1, n // (BLOCKS_PER_THREAD * n_threads) // CHUNK_ROWS)
        return split_evenly(n, chunks * CHUNK_ROWS)

    def map(self, task: Task, n: int, *arguments: Any, stage: str = "") -> Generator[Any, None, None]:
        """Yield ``task(block, *arguments)`` for each block of n rows, in order, computed by the workers."""
        from distributed import KilledWorker

        packer, blocks = _Packer(self), self.split_rows(n)
        packer.dump(arguments)
        payload = packer.stream.getvalue()
        pending = [self.client.submit(_run_task, task, block, payload, pure=False) for block in blocks]
        try:
            yield from track_blocks((each.result() for each in pending), stage, len(blocks))
        except KilledWorker as error:
            raise ParameterError(
                "The Dask workers died one after another while computing the same block.",
                hint="Give each worker more memory.",
                parameter="workers",
            ) from error
        finally:
            self.client.cancel(pending)
            for path in packer.temporary_files:
                path.unlink(missing_ok=True)


class _Packer(pickle.Pickler):
    """Pickle arguments with large arrays replaced by their locations; write arrays in memory to files first."""

    def __init__(self, backend: DaskBackend) -> None:
        self.stream = io.BytesIO()
        super().__init__(self.stream, protocol=pickle.HIGHEST_PROTOCOL)
        self.backend = backend
        self.temporary_files: list[Path] = []

    def persistent_id(self, value: Any) -> ArrayLocation | None:
        """Return the location of any mapped array, which a task may write to, and of large arrays in memory."""
        if not isinstance(value, np.ndarray):
            return None
        location = locate_array(value)
        if location is not None or value.nbytes <= MAX_SENT_BYTES or value.dtype.hasobject:
            return location
        known = self.backend.written.get(id(value))
        return self._write(value) if known is None else known[1]

    def _write(self, value: NDArray[Any]) -> ArrayLocation:
        file = self.backend.map_file(value.shape, value.dtype)
        file[...] = value
        location = locate_array(file)
        assert location is not None
        location = replace(location, writable=False)
        if value.flags.writeable:
            self.temporary_files.append(location.path)
        else:
            self.backend.written[id(value)] = value, location
        return location


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, location: ArrayLocation) -> NDArray[Any]:
        return location.open()


def _run_task(task: Task, item: Any, payload: bytes) -> Any:
    """Run a task on one core of a worker: the cluster runs as many tasks at once as it has cores."""
    numba.set_num_threads(1)
    with one_thread_per_product():
        return task(item, *_Unpacker(io.BytesIO(payload)).load())


@contextmanager
def connect(cluster: str | None, workers: int | None, folder: Path) -> Iterator[Client]:
    """Connect to the scheduler at `cluster`, or start `workers` local processes that end with the block."""
    try:
        from dask import config
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError("Computing on a Dask cluster", "cluster", "distributed") from error
    with ExitStack() as stack:
        if workers is not None:
            with block_interrupts(), config.set(temporary_directory=str(folder)):
                started = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # Dask opens a port even without a dashboard: use a free local one
                    scheduler_kwargs={"dashboard": False},
                    memory_limit=0,
                    silence_logs=50,
                    local_directory=str(folder),
                )
                stack.enter_context(started)
            yield stack.enter_context(Client(started))
            return
        try:
            client = Client(cluster, timeout=CONNECT_TIMEOUT_S)
        except (OSError, ValueError, TimeoutError) as error:
            raise ParameterError(
                f"No Dask scheduler answers at {cluster}: {quote_error(error)}.",
                hint="Check the address, or run `dask scheduler` to start one.",
                parameter="cluster",
                value=cluster,
            ) from error
        yield stack.enter_context(client)


def _check_workers(client: Client, folder: Path) -> None:
    """Refuse a cluster without workers, with another version of featprop, or without access to the folder."""
    ours = version("featprop")
    try:
        answers = client.run(_inspect_worker, str(folder))
    except Exception as error:  # any error of a worker without featprop
        raise ParameterError(
            f"The Dask workers cannot import featprop: {type(error).__name__}: {quote_error(error)}.",
            hint="Install the same version of featprop on every worker.",
            parameter="workers",
        ) from error
    if not answers:
        raise ParameterError("The Dask cluster has no workers.", hint="Start some workers.", parameter="cluster")
    for name, (theirs, can_write) in answers.items():
        if theirs != ours:
            raise ParameterError(
                f"Dask worker {name} has featprop {theirs}, but this process has featprop {ours}.",
                hint="Install the same version of featprop on every worker.",
                parameter="workers",
                value=theirs,
            )
        if not can_write:
            raise ParameterError(
                f"Dask worker {name} cannot write to the `scratch` folder {folder}.",
                hint="Choose a folder on storage that all workers share.",
                parameter="scratch",
                value=str(folder),
                path=folder,
            )


def _inspect_worker(folder: str) -> tuple[str, bool]:
    """Return the version of featprop on a worker, and whether the worker can write to the folder."""
    return version("featprop"), os.access(folder, os.W_OK)
