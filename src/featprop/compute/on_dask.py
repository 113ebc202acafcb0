"""A Dask cluster as a place: rows are files that all workers reach, and blocks are computed by the workers.

A task is sent with where its arrays are, and maps them where it runs; what it writes goes to its own rows of a file,
what it returns comes back. A task that is done twice, as the worker that had done it died, does the same again.
"""

from __future__ import annotations

import io
import os
import pickle
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
from numpy.typing import NDArray

from featprop.compute.leaf import LEAF
from featprop.compute.on_disk import OnDisk
from featprop.compute.places import Task
from featprop.compute.stored import Stored, stored
from featprop.errors import ParameterError, quote_error
from featprop.progress import tracked

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["OnDask"]

SENT = 2**16
"""Bytes up to which an array in memory travels with a task; larger ones are written to files."""
EACH_THREAD = 4
"""Blocks of a pass for each thread of the cluster: one that is slower does fewer."""
AHEAD = 6
"""Items that are handed out at once for each thread."""


class OnDask(OnDisk):
    """Rows are files, blocks are computed by the workers of a cluster.

    Parameters
    ----------
    client
        Of the cluster.
    folder
        A scratch folder that all workers reach under this path.
    max_memory
        Bytes that this process may use.
    """

    elsewhere: ClassVar[bool] = True

    def __init__(self, client: Client, folder: Path, max_memory: int) -> None:
        super().__init__(folder, max_memory)
        self.client = client
        self.written: dict[int, tuple[NDArray[Any], Stored]] = {}
        """Arrays in memory that nobody writes to, and where they were written for the workers."""
        _check_workers(client, folder)

    def rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return a mapped file."""
        return self.file((n, width), np.float32)

    def working_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return a mapped file, which workers read at random."""
        return self.rows(n, width)

    def columns_at_once(self, n: int, width: int) -> int:  # noqa: ARG002
        """Return all of them: they are files."""
        return width

    def blocks(self, n: int) -> list[slice]:
        """Cut n rows into some blocks for each thread of the cluster."""
        step = max(1, n // (EACH_THREAD * self._threads()) // LEAF) * LEAF
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def each(
        self, task: Task, items: Iterable[Any], *arguments: Any, stage: str = "", total: int = 0
    ) -> Generator[Any, None, None]:
        """Yield what the workers make of each item, in their order."""
        packer = _Packer(self)
        packer.dump(arguments)
        found = self._results(task, items, packer.stream.getvalue())
        try:
            yield from tracked(found, stage, total) if stage else found
        finally:
            found.close()
            for path in packer.made:
                path.unlink(missing_ok=True)

    def _results(self, task: Task, items: Iterable[Any], payload: bytes) -> Generator[Any, None, None]:
        """Hand out items, so many ahead that no thread waits for one, and yield results."""
        from distributed import Future, KilledWorker

        ahead = AHEAD * self._threads()
        running: deque[Future[Any]] = deque()
        try:
            for item in items:
                running.append(self.client.submit(_called, task, item, payload, pure=False))
                if len(running) > ahead:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        except KilledWorker as error:
            raise ParameterError(
                "The Dask workers died one after another while computing the same chunk.",
                hint="Give each worker more memory.",
                parameter="workers",
            ) from error
        finally:
            if running:
                self.client.cancel(list(running))

    def _threads(self) -> int:
        threads: int = sum(self.client.nthreads().values())
        return max(1, threads)


class _Packer(pickle.Pickler):
    """Writes what a task takes, with large arrays as where they are; those in memory are written to files first."""

    def __init__(self, at: OnDask) -> None:
        self.stream = io.BytesIO()
        super().__init__(self.stream, protocol=pickle.HIGHEST_PROTOCOL)
        self.at = at
        self.made: list[Path] = []

    def persistent_id(self, value: Any) -> Stored | None:
        """Return where an array is: always of one in a file, which a task may write to, and of large ones in memory."""
        if not isinstance(value, np.ndarray):
            return None
        found = stored(value)
        if found is not None or value.nbytes <= SENT or value.dtype.hasobject:
            return found
        known = self.at.written.get(id(value))
        return self._written(value) if known is None else known[1]

    def _written(self, value: NDArray[Any]) -> Stored:
        file = self.at.file(value.shape, value.dtype)
        file[...] = value
        found = stored(file)
        assert found is not None
        found = replace(found, writable=False)
        if value.flags.writeable:
            self.made.append(found.path)
        else:
            self.at.written[id(value)] = value, found
        return found


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, found: Stored) -> NDArray[Any]:
        return found.open()


def _called(task: Task, item: Any, payload: bytes) -> Any:
    """Do a task on a worker, on one core: the cluster has as many tasks at once as it has cores."""
    numba.set_num_threads(1)
    return task(item, *_Unpacker(io.BytesIO(payload)).load())


def _check_workers(client: Client, folder: Path) -> None:
    """Refuse a cluster without workers, with other versions of featprop, or that does not reach the folder."""
    ours = version("featprop")
    try:
        seen = client.run(_seen, str(folder))
    except Exception as error:  # whatever a worker without featprop, or with an older one, answers
        message = f"The Dask workers cannot import featprop: {type(error).__name__}: {quote_error(error)}."
        hint = "Install the same version of featprop on every worker."
        raise ParameterError(message, hint=hint, parameter="workers") from error
    if not seen:
        raise ParameterError("The Dask cluster has no workers.", hint="Start some workers.", parameter="cluster")
    for name, (theirs, there) in seen.items():
        if theirs != ours:
            message = f"Dask worker {name} has featprop {theirs}, but this process has featprop {ours}."
            hint = "Install the same version of featprop on every worker."
            raise ParameterError(message, hint=hint, parameter="workers", value=theirs)
        if not there:
            message = f"Dask worker {name} cannot write to the `scratch` folder {folder}."
            hint = "Choose a folder on storage that all workers share."
            raise ParameterError(message, hint=hint, parameter="scratch", value=str(folder), path=folder)


def _seen(folder: str) -> tuple[str, bool]:
    """Return the version of featprop on a worker, and whether it can write to the folder."""
    return version("featprop"), os.access(folder, os.W_OK)
