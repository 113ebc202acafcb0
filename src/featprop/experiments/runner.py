"""`run`: compute the cells of some settings that have no result yet.

Trials run in worker processes, those of the largest data sets first. Workers only compute; this process writes, so
killing any of them leaves complete lines, and the same command continues.
"""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featprop import interrupts
from featprop.datasets import resolve, statistics
from featprop.errors import FeatpropError, LabelError, ParameterError
from featprop.experiments.results import Appender, Result, appending, read_results
from featprop.experiments.settings import Settings
from featprop.experiments.trials import Trial, canonical_name, plan_trials
from featprop.progress import tracked

if TYPE_CHECKING:
    from featprop.experiments.protocol import Protocol

log = logging.getLogger(__name__)

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
NO_SPINNING = {"OPENBLAS_THREAD_TIMEOUT": "4"}
"""Idle threads of OpenBLAS go to sleep at once and leave the cores to the others."""
POLL_INTERVAL_S = 0.2


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
    datasets = _Datasets()
    trials = [
        trial
        for each in settings
        for trial in plan_trials(each, {name: datasets.statistics[name]["fingerprint"] for name in datasets.load(each)})
    ]
    trials.sort(key=lambda trial: -datasets.size(trial.dataset))
    with appending(out) as appender:
        appender.record(datasets.statistics)
        cells = {cell for trial in trials for cell in trial.cells()}
        skipped = len(cells & {result.cell for folder in (out, *reuse) for result in read_results(folder)})
        failures: list[Failure] = []
        answers = _run_all(trials, [out, *reuse], jobs or _n_cores(), threads)
        results = _write_results(answers, appender, failures)
        done = sum(1 for _ in tracked(results, "cells of the experiments", len(cells) - skipped))
    return Outcome(done, skipped, time.monotonic() - started, datasets.missing, tuple(failures))


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Datasets:
    """The data sets of a run: each is loaded once, so that it is in the cache and its statistics are known."""

    def __init__(self) -> None:
        self.statistics: dict[str, dict[str, Any]] = {}
        self.errors: dict[str, FeatpropError] = {}
        self.missing: dict[str, str | None] = {}

    def load(self, settings: Settings) -> list[str]:
        """Load the data sets of some settings, or their stand-ins, and return the names of the available ones."""
        names: dict[str, None] = {}
        for dataset in settings.datasets:
            stand_in = settings.stand_ins.get(dataset)
            if self._is_available(dataset):
                names[canonical_name(dataset)] = None
            elif stand_in and self._is_available(stand_in):
                names[canonical_name(stand_in)] = None
                self._report_missing(dataset, stand_in)
            elif len(settings.datasets) == 1:
                raise self.errors[canonical_name(stand_in or dataset)]
            else:
                self._report_missing(dataset, None)
        if not names:
            message = f"None of the data sets {', '.join(settings.datasets)} is available."
            raise ParameterError(message, parameter="datasets", value=list(settings.datasets))
        return list(names)

    def size(self, name: str) -> int:
        """Return the number of values in the feature matrix of a data set."""
        return int(self.statistics[name]["nodes"] * self.statistics[name]["features"])

    def _report_missing(self, dataset: str, stand_in: str | None) -> None:
        if dataset not in self.missing:
            log.warning("%s is not available: %s", dataset, self.errors[canonical_name(dataset)])
        self.missing[dataset] = stand_in

    def _is_available(self, dataset: str) -> bool:
        name = canonical_name(dataset)
        if name not in self.statistics and name not in self.errors:
            try:
                graph = resolve(name)
                counts = statistics(graph)
                if not counts.labelled:
                    raise LabelError(f"{name} has no labels to score predictions against.")
                self.statistics[name] = asdict(counts) | {"fingerprint": graph.fingerprint}
            except FeatpropError as error:
                self.errors[name] = error
        return name in self.statistics


def _run_all(trials: list[Trial], folders: Sequence[Path], jobs: int, threads: int) -> Iterator[list[Result] | Failure]:
    """Run trials; one that shares selections with an earlier one waits for its results, to reuse them."""
    while trials:
        known = [result for folder in folders for result in read_results(folder)]
        done = {result.cell for result in known}
        work: list[tuple[Trial, list[Result]]] = []
        later: list[Trial] = []
        claimed: set[tuple[str, str, str, int]] = set()
        for trial in trials:
            models = trial.models if trial.looks_at_model else ("any",)
            claims = set(product([trial.graph], [str(trial.strategy)], map(str, models), trial.seeds))
            if claimed & claims:
                later.append(trial)
            elif not done.issuperset(trial.cells()):
                place = (trial.graph, trial.strategy.name)
                work.append((trial, [result for result in known if (result.graph, result.strategy) == place]))
            claimed |= claims
        yield from run_trials(work, jobs, threads)
        trials = later


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

    If a worker process is killed, the trials at work fail and the others continue.

    Parameters
    ----------
    work
        Trials, each with the known results of its graph and strategy.
    jobs, threads
        Number of processes, and of threads of each.
    """
    context = get_context("spawn")
    unfinished = dict(enumerate(work))
    while unfinished:
        messages: Any = context.Queue()
        begun: set[int] = set()
        others = set(active_children())
        pool = ProcessPoolExecutor(min(jobs, len(unfinished)), context, _start_worker, (messages,))
        try:
            with _limit_threads(threads), interrupts.block_interrupts():
                futures = [pool.submit(_run_trial, number, *each) for number, each in unfinished.items()]
            while unfinished:
                try:
                    number, answer = messages.get(timeout=POLL_INTERVAL_S)
                except queue.Empty:
                    if any(future.done() and future.exception() for future in futures):
                        break
                    continue
                begun.add(number)
                if answer is None or isinstance(answer, Failure):
                    del unfinished[number]
                if answer:
                    yield answer
        finally:
            for worker in set(active_children()) - others:
                worker.terminate()
            pool.shutdown(cancel_futures=True)
        for number in begun.intersection(unfinished) or list(unfinished):
            yield Failure(str(unfinished.pop(number)[0]), "a worker process ended unexpectedly; run again to continue")


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


_messages: Any = None
"""In a worker process, the queue of its answers."""


def _start_worker(messages: Any) -> None:
    global _messages
    _messages = messages
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_trial(number: int, trial: Trial, known: list[Result]) -> None:
    """Run a trial in a worker process: send an empty list, the results of each budget, and None or the failure."""
    _messages.put((number, []))
    try:
        for results in _load_protocol(trial.dataset).run(trial, known):
            _messages.put((number, results))
    except Exception as error:
        reason = str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {error}"
        _messages.put((number, Failure(str(trial), reason)))
    else:
        _messages.put((number, None))


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
