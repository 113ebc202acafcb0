"""`run`: compute the cells of some settings that have no result yet.

Trials run in worker processes, those of the largest data sets first. Workers only compute; this process writes, so
killing any of them leaves complete lines, and the same command continues.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featprop import interrupts
from featprop.datasets import resolve, statistics
from featprop.errors import FeatpropError, LabelError, ParameterError
from featprop.experiments.results import Appender, Result, appending, read_results
from featprop.experiments.settings import Settings, Trial, canonical_name, plan_trials
from featprop.progress import tracked

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    from featprop.experiments.protocol import Protocol

log = logging.getLogger(__name__)

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
NO_SPINNING = {"OPENBLAS_THREAD_TIMEOUT": "4"}
"""Idle threads of OpenBLAS go to sleep at once and leave the cores to the others."""


@dataclass(frozen=True)
class Failure:
    """A trial that did not finish, and why."""

    trial: str
    reason: str


@dataclass(frozen=True)
class Outcome:
    """What a run did: numbers of computed and skipped cells, its duration, and what is missing.

    `missing` has the data sets that are not available, with the stand-in that was used instead, if any.
    """

    done: int
    skipped: int
    seconds: float
    missing: dict[str, str | None]
    failures: tuple[Failure, ...]


def run(
    settings: Sequence[Settings], out: Path, jobs: int | None = None, threads: int = 1, reuse: Sequence[Path] = ()
) -> Outcome:
    """Compute the cells that have no result in `out`, and append each result as soon as it is there.

    Parameters
    ----------
    settings
        What to run.
    out
        Folder of the results.
    jobs
        Number of processes; one per core by default.
    threads
        Number of threads of each process.
    reuse
        Other folders of results, whose cells are not computed again and whose selections are taken over.
    """
    started = time.monotonic()
    for parameter, value in {"jobs": jobs, "threads": threads}.items():
        if value is not None and value < 1:
            message = f"`{parameter}` must be at least 1, not {value}."
            raise ParameterError(message, parameter=parameter, value=value)
    counts: dict[str, dict[str, Any]] = {}
    missing: dict[str, str | None] = {}
    trials = []
    for each in settings:
        names = _load_datasets(each, counts, missing)
        trials += plan_trials(each, {name: counts[name]["fingerprint"] for name in names})
    trials.sort(key=lambda trial: -counts[trial.dataset]["nodes"] * counts[trial.dataset]["features"])
    with appending(out) as appender:
        appender.record(counts)
        cells = {cell for trial in trials for cell in trial.cells()}
        skipped = len(cells & {result.cell for folder in (out, *reuse) for result in read_results(folder)})
        failures: list[Failure] = []
        answers = _run_all(trials, [out, *reuse], jobs or _n_cores(), threads)
        results = _write_results(answers, appender, failures)
        done = sum(1 for _ in tracked(results, "cells of the experiments", len(cells) - skipped))
    return Outcome(done, skipped, time.monotonic() - started, missing, tuple(failures))


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _load_datasets(
    settings: Settings, counts: dict[str, dict[str, Any]], missing: dict[str, str | None]
) -> dict[str, None]:
    """Load the data sets of some settings, or their stand-ins, so that they are in the cache; return their names.

    Their statistics are added to `counts`, and the data sets that are not available to `missing`.
    """
    names: dict[str, None] = {}
    for dataset in settings.datasets:
        stand_in = settings.stand_ins.get(dataset)
        for name in filter(None, (dataset, stand_in)):
            try:
                _count(canonical_name(name), counts)
            except FeatpropError as error:
                last = error
                if dataset not in missing:
                    log.warning("%s is not available: %s", name, error)
                continue
            names[canonical_name(name)] = None
            if name != dataset:
                missing[dataset] = stand_in
            break
        else:
            if len(settings.datasets) == 1:
                raise last
            missing[dataset] = None
    if not names:
        message = f"None of the data sets {', '.join(settings.datasets)} is available."
        raise ParameterError(message, parameter="datasets", value=list(settings.datasets))
    return names


def _count(name: str, counts: dict[str, dict[str, Any]]) -> None:
    if name in counts:
        return
    graph = resolve(name)
    found = statistics(graph)
    if not found.labelled:
        raise LabelError(f"{name} has no labels to score predictions against.")
    counts[name] = asdict(found) | {"fingerprint": graph.fingerprint}


def _run_all(trials: list[Trial], folders: Sequence[Path], jobs: int, threads: int) -> Iterator[list[Result] | Failure]:
    """Run trials; one that shares selections with an earlier one waits for its results, to reuse them."""
    while trials:
        known = [result for folder in folders for result in read_results(folder)]
        done = {result.cell for result in known}
        first: dict[tuple[Any, ...], Trial] = {}
        for trial in trials:
            model = str(trial.models[0]) if trial.looks_at_model else ""
            first.setdefault((trial.graph, str(trial.strategy), model, trial.seeds[0]), trial)
        work = []
        for trial in first.values():
            if not done.issuperset(trial.cells()):
                place = (trial.graph, trial.strategy.name)
                work.append((trial, [result for result in known if (result.graph, result.strategy) == place]))
        yield from run_trials(work, jobs, threads)
        trials = [trial for trial in trials if not any(trial is each for each in first.values())]


def _write_results(
    answers: Iterator[list[Result] | Failure], appender: Appender, failures: list[Failure]
) -> Iterator[Result]:
    for answer in answers:
        if isinstance(answer, Failure):
            log.warning("%s: %s", answer.trial, answer.reason)
            failures.append(answer)
            continue
        appender.append(answer)
        first = answer[0]
        scores = [each.macro_f1 for each in answer if (each.model, each.protocol) == (first.model, first.protocol)]
        what = (first.dataset, first.strategy, first.budget, first.model, 100 * sum(scores) / len(scores))
        log.info("%s, %s, %d labels, %s: Macro-F1 %.1f", *what)
        yield from answer


def run_trials(
    work: Sequence[tuple[Trial, list[Result]]], jobs: int, threads: int = 1
) -> Iterator[list[Result] | Failure]:
    """Run trials in worker processes; yield the results of each budget as soon as they are there, or the failure.

    Each item of `work` is a trial with the known results of its graph and strategy. If a worker process is killed, its
    trial fails and another worker continues with the others.
    """
    waiting = list(reversed(work))
    workers: dict[Connection, tuple[SpawnProcess, Trial]] = {}
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                with _limit_threads(threads), interrupts.block_interrupts():
                    process, connection = _start_worker()
                workers[connection] = process, _send_next(connection, waiting)
            ready = wait(list(workers))
            for connection in [each for each in workers if each in ready]:
                process, trial = workers[connection]
                try:
                    answer = connection.recv()
                except (EOFError, ConnectionError):
                    del workers[connection]
                    yield Failure(str(trial), "a worker process ended unexpectedly; run again to continue")
                    continue
                if answer is None or isinstance(answer, Failure):
                    if waiting:
                        workers[connection] = process, _send_next(connection, waiting)
                    else:
                        del workers[connection]
                        connection.close()
                if answer:
                    yield answer
    finally:
        for process, _ in workers.values():
            process.terminate()


def _start_worker() -> tuple[SpawnProcess, Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run_trials, args=(theirs,))
    process.start()
    theirs.close()
    return process, ours


def _send_next(connection: Connection, waiting: list[tuple[Trial, list[Result]]]) -> Trial:
    trial, known = waiting.pop()
    connection.send((trial, known))
    return trial


@contextmanager
def _limit_threads(threads: int) -> Iterator[None]:
    """Limit the threads of processes that start inside the block."""
    settings = dict.fromkeys(THREAD_VARIABLES, str(threads)) | NO_SPINNING
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


def _run_trials(connection: Connection) -> None:
    """Run trials in a worker process until the connection closes: answer each with results, then None or a failure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    while True:
        try:
            trial, known = connection.recv()
        except EOFError:
            return
        try:
            for results in _load_protocol(trial.dataset).run(trial, known):
                connection.send(results)
            connection.send(None)
        except Exception as error:
            reason = str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {error}"
            connection.send(Failure(str(trial), reason))


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@lru_cache(maxsize=1)
def _load_protocol(dataset: str) -> Protocol:
    import torch

    from featprop.datasets import CATALOGUE, cached_form
    from featprop.experiments.protocol import Protocol

    weight = torch.nn.Parameter(torch.zeros(1))  # PyTorch's imports at the first step are no part of a training time
    weight.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.Adam([weight], fused=True).step()
    torch.set_num_threads(int(os.environ.get(THREAD_VARIABLES[0], "1")))
    form = cached_form(CATALOGUE[dataset]) if dataset in CATALOGUE else None
    return Protocol(resolve(dataset), form)
