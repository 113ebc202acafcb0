"""Tasks in processes of their own, one thread each by default.

The processes are spawned, not forked: threads of the parent do not live on in them. They only compute; the parent
writes. So a process that is killed, or one whose parent is, leaves nothing half done behind: a child ends by itself
when its parent is gone.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING

from featprop.errors import FeatpropError
from featprop.experiments.lines import Line
from featprop.experiments.tasks import Task

if TYPE_CHECKING:
    from featprop.experiments.protocol import Bench

__all__ = ["Failure", "perform_all"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
NO_SPINNING = {"OPENBLAS_THREAD_TIMEOUT": "4"}
"""Threads of OpenBLAS that have nothing to do go to sleep at once, and leave the cores to those that have."""


@dataclass(frozen=True)
class Failure:
    """A task that could not be done to its end, and why."""

    task: str
    reason: str


class _Worker:
    """A process, the wire to it, and the task it is at."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.wire, far_end = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(far_end,), daemon=True)
        self.process.start()
        far_end.close()
        self.task: Task | None = None

    def begin(self, task: Task, known: list[Line]) -> None:
        self.task = task
        self.wire.send((task, known))

    def stop(self) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.join()


def perform_all(work: Sequence[tuple[Task, list[Line]]], jobs: int, threads: int = 1) -> Iterator[list[Line] | Failure]:
    """Do tasks, each with the lines known of it, and yield new lines as they come, or what failed.

    Parameters
    ----------
    work
        The tasks, the first to be begun first.
    jobs
        How many processes.
    threads
        How many threads each may use.
    """
    waiting = list(reversed(work))
    workers: list[_Worker] = []
    try:
        while waiting or any(worker.task for worker in workers):
            idle = [worker for worker in workers if worker.task is None]
            while waiting and (idle or len(workers) < jobs):
                if not idle:
                    with _limited(threads):
                        idle.append(_Worker())
                    workers.append(idle[-1])
                idle.pop().begin(*waiting.pop())
            busy = {worker.wire: worker for worker in workers if worker.task}
            for wire in wait(list(busy)):
                worker = busy[wire]  # type: ignore[index]
                try:
                    answer = worker.wire.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    workers.remove(worker)
                    answer = Failure(str(worker.task), f"its process ended with code {worker.process.exitcode}")
                if answer is None or isinstance(answer, Failure):
                    worker.task = None
                if answer is not None:
                    yield answer
    finally:
        for worker in workers:
            worker.stop()


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    """Let processes that start inside the block use so many threads."""
    settings = dict.fromkeys(THREADS, str(threads)) | NO_SPINNING
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(wire: Connection) -> None:
    """Do tasks until the other end of the wire is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            task, known = wire.recv()
            try:
                for lines in _bench(task.dataset).walk(task, known):
                    wire.send(lines)
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception as error:
                text = str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {error}"
                wire.send(Failure(str(task), text))
            else:
                wire.send(None)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _bench(dataset: str) -> Bench:
    import torch

    from featprop.datasets import CATALOGUE, kept_form, resolve
    from featprop.experiments.protocol import Bench
    from featprop.experiments.training import warm_up

    warm_up()
    torch.set_num_threads(int(os.environ.get(THREADS[0], "1")))
    form = kept_form(CATALOGUE[dataset]) if dataset in CATALOGUE else None
    return Bench(resolve(dataset), form)
