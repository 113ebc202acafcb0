"""`run`: compute the cells of some settings that have no result yet.

A trial is the unit of work: a worker process computes it, and this process appends its results when they are there. So
killing any process leaves complete lines, and the same command runs the unfinished trials again, with equal results.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featprop.datasets import resolve, statistics
from featprop.errors import FeatpropError, LabelError, ParameterError
from featprop.experiments.results import Result, append_results, locking, read_results, record_statistics
from featprop.experiments.settings import Settings, Trial, canonical_name, plan_trials
from featprop.progress import report

if TYPE_CHECKING:
    from featprop.experiments.protocol import Protocol

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What a run did: numbers of computed and skipped cells, its duration, and the trials that failed and why."""

    done: int
    skipped: int
    seconds: float
    failures: tuple[str, ...]


def run(
    settings: Sequence[Settings], out: Path, jobs: int | None = None, threads: int = 1, reuse: Sequence[Path] = ()
) -> Outcome:
    """Compute the cells that have no result in the folder `out`, and append the results of each trial when it is done.

    There are `jobs` processes, one per core by default, with `threads` threads each. `reuse` are other folders of
    results, whose cells are not computed again.
    """
    started = time.monotonic()
    for parameter, value in {"jobs": jobs, "threads": threads}.items():
        if value is not None and value < 1:
            message = f"`{parameter}` must be at least 1, not {value}."
            raise ParameterError(message, parameter=parameter, value=value)
    counts: dict[str, dict[str, Any]] = {}
    planned: dict[Trial, None] = {}  # without repetitions
    for each in settings:
        names = _load_datasets(each, counts)
        planned |= dict.fromkeys(plan_trials(each, {name: counts[name]["fingerprint"] for name in names}))
    done, failures = 0, []
    with locking(out):
        record_statistics(out, counts)
        known = {result.cell for folder in (out, *reuse) for result in read_results(folder)}
        cells = {cell for trial in planned for cell in trial.cells()}
        skipped = len(cells & known)
        trials = [trial for trial in planned if not known.issuperset(trial.cells())]
        trials.sort(key=lambda trial: -counts[trial.dataset]["nodes"] * counts[trial.dataset]["features"])
        report("cells of the experiments", 0, len(cells) - skipped)
        for answer in run_trials(trials, jobs or _n_cores(), threads):
            if isinstance(answer, str):
                failures.append(answer)
                continue
            new = [result for result in answer if result.cell not in known]
            append_results(out, new)
            known |= {result.cell for result in new}
            done += len(new)
            report("cells of the experiments", done, len(cells) - skipped)
    return Outcome(done, skipped, time.monotonic() - started, tuple(failures))


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _load_datasets(settings: Settings, counts: dict[str, dict[str, Any]]) -> list[str]:
    """Return the names of the data sets that are available, and add their statistics to `counts`."""
    names = []
    for name in map(canonical_name, settings.datasets):
        try:
            counts[name] = counts.get(name) or _count(name)
            names.append(name)
        except FeatpropError as error:
            log.warning("%s is not available and skipped: %s", name, error)
            last = error
    if not names:
        raise last
    return names


def _count(name: str) -> dict[str, Any]:
    graph = resolve(name)
    found = statistics(graph)
    if not found.labelled:
        raise LabelError(f"{name} has no labels to score predictions against.")
    return asdict(found) | {"fingerprint": graph.fingerprint}


def run_trials(trials: Sequence[Trial], jobs: int, threads: int = 1) -> Iterator[list[Result] | str]:
    """Run trials in worker processes, the first ones first; yield the results of each, or why it failed."""
    if not trials:
        return
    workers = ProcessPoolExecutor(min(jobs, len(trials)), get_context("spawn"), _prepare_worker, (threads,))
    try:
        for answer in as_completed([workers.submit(_run_trial, trial) for trial in trials]):
            yield answer.result()
    except BrokenProcessPool as error:
        hint = "Run again to continue, with fewer `jobs` if memory was the reason."
        raise FeatpropError("A worker process ended unexpectedly.", hint=hint) from error
    finally:
        workers.shutdown(cancel_futures=True)


def _prepare_worker(threads: int) -> None:
    """Limit the threads of a worker process, and end it silently with Ctrl-C or with its parent."""
    import numba
    import torch
    from threadpoolctl import threadpool_limits

    weight = torch.nn.Parameter(torch.zeros(1))
    weight.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.Adam([weight], fused=True).step()  # imports what the first training step needs, which is timed
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threadpool_limits(limits=threads)


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_trial(trial: Trial) -> list[Result] | str:
    try:
        return list(_load_protocol(trial.dataset).run(trial))
    except Exception as error:
        reason = str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {error}"
        return f"{trial}: {reason}"


@lru_cache(maxsize=1)
def _load_protocol(dataset: str) -> Protocol:
    from featprop.datasets import CATALOGUE, cached_form
    from featprop.experiments.protocol import Protocol

    form = cached_form(CATALOGUE[dataset]) if dataset in CATALOGUE else None
    return Protocol(resolve(dataset), form)
