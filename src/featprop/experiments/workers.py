"""Trials in processes of their own, one thread each by default.

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

from featprop import interrupts
from featprop.errors import FeatpropError
from featprop.experiments.results import Result
from featprop.experiments.trials import Trial

if TYPE_CHECKING:
    from featprop.experiments.protocol import Protocol

__all__ = ["Failure", "perform_all"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
NO_SPINNING = {"OPENBLAS_THREAD_TIMEOUT": "4"}
"""Threads of OpenBLAS that have nothing to do go to sleep at once, and leave the cores to those that have."""


@dataclass(frozen=True)
class Failure:
    """A trial that could not be done to its end, and why."""

    trial: str
    reason: str


class _Worker:
    """A process, the wire to it, and the trial it is at."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.wire, far_end = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(far_end,), daemon=True)
        with interrupts.block_interrupts():
            self.process.start()
        far_end.close()
        self.trial: Trial | None = None
        self.is_new = True

    def begin(self, trial: Trial, known: list[Result]) -> None:
        self.trial = trial
        self.wire.send((trial, known))

    def stop(self) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.join()


def perform_all(
    work: Sequence[tuple[Trial, list[Result]]], jobs: int, threads: int = 1
) -> Iterator[list[Result] | Failure]:
    """Do trials, each with the lines known of it, and yield new lines as they come, or what failed.

    Parameters
    ----------
    work
        The trials, the first to be begun first.
    jobs
        How many processes.
    threads
        How many threads each may use.
    """
    waiting = list(reversed(work))
    workers: list[_Worker] = []
    try:
        while waiting or any(worker.trial for worker in workers):
            idle = [worker for worker in workers if worker.trial is None]
            while waiting and (idle or len(workers) < jobs):
                if not idle:
                    with _limited(threads):
                        idle.append(_Worker())
                    workers.append(idle[-1])
                worker, work_of = idle.pop(), waiting.pop()
                try:
                    worker.begin(*work_of)
                except OSError:
                    workers.remove(worker)
                    worker.stop()
                    if worker.is_new:
                        yield Failure(str(work_of[0]), f"its process ended with code {worker.process.exitcode}")
                    else:
                        waiting.append(work_of)
            busy = {worker.wire: worker for worker in workers if worker.trial}
            for wire in wait(list(busy)):
                worker = busy[wire]  # type: ignore[index]
                try:
                    answer = worker.wire.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    workers.remove(worker)
                    answer = Failure(str(worker.trial), f"its process ended with code {worker.process.exitcode}")
                if answer is None or isinstance(answer, Failure):
                    worker.trial, worker.is_new = None, False
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
    """Do trials until the other end of the wire is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            trial, known = wire.recv()
            try:
                for lines in _protocol(trial.dataset).walk(trial, known):
                    wire.send(lines)
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception as error:
                text = str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {error}"
                wire.send(Failure(str(trial), text))
            else:
                wire.send(None)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _protocol(dataset: str) -> Protocol:
    import torch

    from featprop.datasets import CATALOGUE, kept_form, resolve
    from featprop.experiments.protocol import Protocol

    _warm_up()
    torch.set_num_threads(int(os.environ.get(THREADS[0], "1")))
    form = kept_form(CATALOGUE[dataset]) if dataset in CATALOGUE else None
    return Protocol(resolve(dataset), form)


def _warm_up() -> None:
    """Take one step of Adam: PyTorch imports much at the first, which is no part of the time of a training."""
    import torch

    weight = torch.nn.Parameter(torch.zeros(1))
    weight.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.Adam([weight], fused=True).step()
