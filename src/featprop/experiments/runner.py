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
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featprop import resources
from featprop.datasets import resolve, statistics
from featprop.errors import FeatpropError, LabelError, ParameterError
from featprop.experiments.results import Result, append_results, locking, read_results, record_statistics
from featprop.experiments.settings import Settings, Trial, canonical_name, plan_trials
from featprop.progress import report

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

    from featprop.experiments.protocol import Protocol

log = logging.getLogger(__name__)


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
    """Compute the cells that have no result in the folder `out`, and append each result as soon as it is there.

    There are `jobs` processes, one per core by default, with `threads` threads each. `reuse` are other folders of
    results, whose cells are not computed again and whose selections are taken over.
    """
    started = time.monotonic()
    for parameter, value in {"jobs": jobs, "threads": threads}.items():
        if value is not None and value < 1:
            message = f"`{parameter}` must be at least 1, not {value}."
            raise ParameterError(message, parameter=parameter, value=value)
    counts: dict[str, dict[str, Any]] = {}
    missing: dict[str, str | None] = {}
    plans = []
    for each in settings:
        names = _load_datasets(each, counts, missing)
        trials = plan_trials(each, {name: counts[name]["fingerprint"] for name in names})
        plans.append(
            sorted(trials, key=lambda trial: -counts[trial.dataset]["nodes"] * counts[trial.dataset]["features"])
        )
    done, failures = 0, []
    with locking(out):
        record_statistics(out, counts)
        cells = {cell for trials in plans for trial in trials for cell in trial.cells()}
        skipped = len(cells & {result.cell for folder in (out, *reuse) for result in read_results(folder)})
        report("cells of the experiments", 0, len(cells) - skipped)
        for answer in _run_plans(plans, [out, *reuse], jobs or _n_cores(), threads):
            if isinstance(answer, Failure):
                log.warning("%s: %s", answer.trial, answer.reason)
                failures.append(answer)
                continue
            append_results(out, answer)
            _log_results(answer)
            done += len(answer)
            report("cells of the experiments", done, len(cells) - skipped)
    return Outcome(done, skipped, time.monotonic() - started, missing, tuple(failures))


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _log_results(results: list[Result]) -> None:
    first = results[0]
    scores = [each.macro_f1 for each in results if (each.model, each.protocol) == (first.model, first.protocol)]
    what = (first.dataset, first.strategy, first.budget, first.model, 100 * sum(scores) / len(scores))
    log.info("%s, %s, %d labels, %s: Macro-F1 %.1f", *what)


def _load_datasets(settings: Settings, counts: dict[str, dict[str, Any]], missing: dict[str, str | None]) -> list[str]:
    """Return the names of the data sets, or of their stand-ins, that are available; they are in the cache then.

    Their statistics are added to `counts`, and the data sets that are not available to `missing`.
    """
    names: list[str] = []
    for dataset in settings.datasets:
        stand_in = settings.stand_ins.get(dataset)
        for name in filter(None, (dataset, stand_in)):
            found = canonical_name(name)
            try:
                counts[found] = counts.get(found) or _count(found)
            except FeatpropError as error:
                last = error
                log.warning("%s is not available: %s", name, error)
                missing[dataset] = None
                continue
            names.append(found)
            if name != dataset:
                missing[dataset] = stand_in
            break
    if not names:
        raise last
    return names


def _count(name: str) -> dict[str, Any]:
    graph = resolve(name)
    found = statistics(graph)
    if not found.labelled:
        raise LabelError(f"{name} has no labels to score predictions against.")
    return asdict(found) | {"fingerprint": graph.fingerprint}


def _run_plans(
    plans: list[list[Trial]], folders: Sequence[Path], jobs: int, threads: int
) -> Iterator[list[Result] | Failure]:
    """Run the trials of one plan after the other, so that a plan reuses the selections of those before."""
    for trials in plans:
        known = [result for folder in folders for result in read_results(folder)]
        done = {result.cell for result in known}
        by_strategy = defaultdict(list)
        for result in known:
            by_strategy[result.graph, result.strategy].append(result)
        missing = [trial for trial in trials if not done.issuperset(trial.cells())]
        work = [(trial, by_strategy[trial.graph, trial.strategy.name]) for trial in missing]
        yield from run_trials(work, jobs, threads)


def run_trials(
    work: Sequence[tuple[Trial, list[Result]]], jobs: int, threads: int = 1
) -> Iterator[list[Result] | Failure]:
    """Run trials in worker processes; yield the results of each budget as soon as they are there, or the failure.

    Each item of `work` is a trial with the known results of its graph and strategy. If a worker process is killed, its
    trial fails and another worker continues with the others.
    """
    waiting = list(reversed(work))
    workers: dict[Any, tuple[SpawnProcess, Trial]] = {}
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                process, connection = _start_worker(threads)
                workers[connection] = process, _send_next(connection, waiting)
            ready: list[Any] = wait(list(workers))
            for connection in ready:
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


def _start_worker(threads: int) -> tuple[SpawnProcess, Connection]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run_trials, args=(theirs, threads))
    with resources.block_interrupts():
        process.start()
    theirs.close()
    return process, ours


def _send_next(connection: Connection, waiting: list[tuple[Trial, list[Result]]]) -> Trial:
    trial, known = waiting.pop()
    connection.send((trial, known))
    return trial


def _run_trials(connection: Connection, threads: int) -> None:
    """Run trials in a worker process until the connection closes: answer each with results, then None or a failure."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    _prepare(threads)
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


def _prepare(threads: int) -> None:
    """Limit the threads of this process, and let PyTorch import what its first training step needs."""
    import numba
    import torch
    from threadpoolctl import threadpool_limits

    weight = torch.nn.Parameter(torch.zeros(1))
    weight.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.Adam([weight], fused=True).step()
    torch.set_num_threads(threads)
    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threadpool_limits(limits=threads)


@lru_cache(maxsize=1)
def _load_protocol(dataset: str) -> Protocol:
    from featprop.datasets import CATALOGUE, cached_form
    from featprop.experiments.protocol import Protocol

    form = cached_form(CATALOGUE[dataset]) if dataset in CATALOGUE else None
    return Protocol(resolve(dataset), form)
