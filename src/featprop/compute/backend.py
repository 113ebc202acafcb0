"""Backends: where rows are kept and where chunks of them are computed.

===============  ==============================  =========================================
backend          rows are kept                   chunks are computed
===============  ==============================  =========================================
`Backend`        in memory                       in this process, one after another
`DiskBackend`    in memory, or in mapped files   in this process, one after another
`DaskBackend`    in mapped files                 by the workers of a Dask cluster
===============  ==============================  =========================================

Algorithms call `get_backend` and never ask which backend it is. A task is a module-level function of a block (a slice
of the rows) and of arrays. It returns its result or writes it to its own rows, and depends on nothing else, so it may
run anywhere, and more than once. After a block, the pages of mapped arrays are released.

A block is a whole number of chunks of `CHUNK_ROWS` rows. Tasks compute matrix products and sums over rows chunk by
chunk, products on one thread, and sums are added in the order of the rows. So the results have the same bits however
rows are split into blocks and wherever these are computed.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from featprop.compute.kernels import one_thread_per_product
from featprop.compute.mapped_arrays import ArrayLocation, find_mapped, release_pages
from featprop.errors import FileError, ParameterError, quote_error
from featprop.matrix import Floats
from featprop.progress import tracked
from featprop.resources import MIN_MEMORY, bytes_text, half_of_free, parse_bytes, scratch_folder

if TYPE_CHECKING:
    from distributed import Client

CHUNK_ROWS = 65_536
"""Rows of a chunk; the last chunk may have fewer."""
LINE_COLUMNS = 16
"""Columns in a cache line. Rows of whole lines are read in random order a third faster than others."""
BASE_BYTES = 600 * 2**20
"""Memory of the process apart from rows: libraries, blocks, and what the search for medoids needs."""
SMOOTHING_BYTES = 400 * 2**20
"""The same while there are temporary rows: no search runs then."""
BYTES_PER_ROW = 48
"""Memory of vectors with one number per row, for each row."""

Task = Callable[..., Any]


def split_into_chunks(block: slice) -> Iterator[slice]:
    """Split a block that starts at a chunk boundary into chunks."""
    for start in range(block.start, block.stop, CHUNK_ROWS):
        yield slice(start, min(start + CHUNK_ROWS, block.stop))


def sum_in_order(sums: Iterable[list[NDArray[Any]]]) -> NDArray[Any]:
    """Add the results of all blocks, each a list with one sum per chunk, in the order of the rows."""
    total: NDArray[Any] | None = None
    for of_block in sums:
        for of_chunk in of_block:
            total = of_chunk if total is None else total + of_chunk
    assert total is not None
    return total


class Backend:
    """Keep rows in memory and compute blocks in this process.

    Parameters
    ----------
    chunks_per_block
        Number of chunks in a block.
    """

    def __init__(self, chunks_per_block: int = 1) -> None:
        self.chunks_per_block = chunks_per_block

    def allocate_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return an array for rows that are kept."""
        return np.empty((n, width), dtype=np.float32)

    def allocate_temporary_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return an array, at the start of a cache line, for rows that are read in random order for a while."""
        memory = np.empty(n * width + LINE_COLUMNS, dtype=np.float32)
        start = -(memory.ctypes.data // memory.itemsize) % LINE_COLUMNS
        return memory[start : start + n * width].reshape(n, width)

    def max_columns(self, n: int, width: int) -> int:  # noqa: ARG002
        """Return how many of `width` columns two sets of temporary rows may have at once."""
        return width

    def split_rows(self, n: int) -> list[slice]:
        """Split n rows into blocks."""
        return split_evenly(n, self.chunks_per_block * CHUNK_ROWS)

    def map(self, task: Task, n: int, *arguments: Any, stage: str = "") -> Generator[Any, None, None]:
        """Yield ``task(block, *arguments)`` for each block of n rows, in the order of the rows.

        Parameters
        ----------
        task
            A module-level function.
        n
            Number of rows.
        *arguments
            Arrays, numbers, and objects that hold them.
        stage
            Name of this step in the progress display; no progress is shown without a name.
        """
        mapped, blocks = find_mapped(arguments), self.split_rows(n)
        for block in track_blocks(blocks, stage, len(blocks)):
            with one_thread_per_product():
                found = task(block, *arguments)
            yield found
            for array in mapped:
                release_pages(array)

    def run(self, task: Task, n: int, *arguments: Any, stage: str = "") -> None:
        """Call ``task(block, *arguments)`` for each block of n rows, for what it writes."""
        for _ in self.map(task, n, *arguments, stage=stage):
            pass

    def run_steps(
        self, task: Task, n: int, steps: int, source: Floats, target: Floats, *arguments: Any, stage: str
    ) -> tuple[Floats, Floats]:
        """Run ``task(block, source, target, *arguments)`` over all rows several times, each from what the last wrote.

        Return the rows that the last step wrote, and the others.
        """
        for _ in tracked(range(steps), stage, steps):
            self.run(task, n, source, target, *arguments)
            source, target = target, source
        return source, target


class DiskBackend(Backend):
    """Keep rows in memory while there is room, then in mapped files.

    Parameters
    ----------
    folder
        An existing scratch folder. The caller removes it.
    max_memory
        Memory limit of the process in bytes.
    """

    def __init__(self, folder: Path, max_memory: int) -> None:
        if max_memory < MIN_MEMORY:
            raise ParameterError(
                f"`max_memory` must be at least {bytes_text(MIN_MEMORY)}, not {bytes_text(max_memory)}.",
                parameter="max_memory",
                value=max_memory,
            )
        super().__init__()
        self.folder = folder
        self.max_memory = max_memory
        self._file_numbers = count()
        self._allocated = 0

    def allocate_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return an array in memory if two sets of temporary rows of this size fit too, else a mapped file."""
        size = 4 * n * width
        if self._allocated + 3 * size > self._row_budget(n):
            return self.map_file((n, width), np.float32)
        rows = np.empty((n, width), dtype=np.float32)
        self._allocated += size
        weakref.finalize(rows, self._free, size)
        return rows

    def map_file(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new mapped file, with its space reserved: writing to a mapping of a full disk ends the process."""
        path, kind = self.folder / f"{next(self._file_numbers)}.bin", np.dtype(dtype)
        size = kind.itemsize * math.prod(shape)
        try:
            with path.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, max(1, size))
        except OSError as error:
            path.unlink(missing_ok=True)
            raise FileError(
                f"Cannot write {bytes_text(size)} to {self.folder}: {error.strerror or quote_error(error)}.",
                hint="Free some space there or choose another `scratch` folder.",
                parameter="scratch",
                path=self.folder,
            ) from error
        return ArrayLocation(path, 0, kind.str, shape, writable=True).open()

    def max_columns(self, n: int, width: int) -> int:
        """Return as many as fit into the memory limit, at least one."""
        room = self._row_budget(n, SMOOTHING_BYTES) - self._allocated
        return int(np.clip(room // (2 * 4 * n), 1, width))

    def _row_budget(self, n: int, apart: int = BASE_BYTES) -> int:
        return self.max_memory - apart - BYTES_PER_ROW * n

    def _free(self, size: int) -> None:
        self._allocated -= size


def track_blocks(results: Iterable[Any], stage: str, count: int) -> Iterable[Any]:
    """Show progress over the results of several blocks if the step has a name."""
    return tracked(results, stage, count) if stage and count > 1 else results


def split_evenly(n: int, step: int) -> list[slice]:
    """Split 0..n into slices of `step`; the last may be shorter."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


_BACKEND: ContextVar[Backend] = ContextVar("backend", default=Backend())  # noqa: B039


def get_backend() -> Backend:
    """Return the current backend: memory, unless `compute_on` or `use_backend` set another."""
    return _BACKEND.get()


@contextmanager
def use_backend(backend: Backend) -> Iterator[Backend]:
    """Use a backend inside the ``with`` block."""
    token = _BACKEND.set(backend)
    try:
        yield backend
    finally:
        _BACKEND.reset(token)


@contextmanager
def compute_on(
    *,
    client: Client | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
    max_memory: int | str | None = None,
) -> Iterator[Backend]:
    """Limit memory, or compute on a Dask cluster, inside the ``with`` block. The results are the same.

    Parameters
    ----------
    client
        A `distributed.Client`.
    cluster
        Address of a Dask scheduler, such as ``"tcp://host:8786"``.
    workers
        Number of worker processes to start on this machine; they end with the block.
    scratch
        Folder for rows that are not kept in memory; the system's temporary folder by default. The workers of a cluster
        must reach it under the same path. Files there are removed when the block ends.
    max_memory
        Memory limit of this process in bytes, or text such as ``"4GB"``; half of the free memory by default.
    """
    if client is not None and not callable(getattr(client, "submit", None)):
        raise ParameterError(
            f"`client` must be a distributed.Client, not {type(client).__name__}.",
            hint="Create one with distributed.Client('tcp://host:8786').",
            parameter="client",
            value=client,
        )
    chosen = [name for name, value in (("client", client), ("cluster", cluster), ("workers", workers)) if value]
    if len(chosen) > 1:
        raise ParameterError(f"Pass either `{chosen[0]}` or `{chosen[1]}`, not both.", parameter=chosen[0])
    if workers is not None and workers < 1:
        raise ParameterError(f"`workers` must be at least 1, not {workers}.", parameter="workers", value=workers)
    limit = parse_bytes(max_memory, "max_memory") if isinstance(max_memory, str) else max_memory
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder(None if scratch is None else Path(scratch)))
        limit = half_of_free() if limit is None else limit
        backend: Backend
        if chosen:
            from featprop.compute.dask_backend import DaskBackend, connect

            client = client or stack.enter_context(connect(cluster, workers, folder))
            backend = DaskBackend(client, folder, limit)
        else:
            backend = DiskBackend(folder, limit)
        yield stack.enter_context(use_backend(backend))
