"""`run`: do the cells of some settings that are not done yet.

All settings are done at once, so that no process waits for the last of each; the largest data sets come first, as the
longest work should. Work that shares cells is done once, or, where it is cut differently, one after the other.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from featprop.datasets import resolve
from featprop.datasets.stats import statistics
from featprop.errors import FeatpropError, LabelError, ParameterError
from featprop.experiments.results import Appender, Cell, Result, appending, read_results
from featprop.experiments.settings import Settings
from featprop.experiments.trials import Trial, canonical, merged, trials_of
from featprop.experiments.workers import Failure, perform_all
from featprop.progress import tracked

__all__ = ["Outcome", "run"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Attributes
    ----------
    done, skipped
        Cells done now, and cells that were there.
    seconds
        What it took.
    absent
        Data sets that cannot be had here, with what took their place, if anything did.
    failures
        Trials that could not be done.
    """

    done: int
    skipped: int
    seconds: float
    absent: dict[str, str | None]
    failures: tuple[Failure, ...]


def run(
    wanted: Sequence[Settings], out: Path, jobs: int | None = None, threads: int = 1, beside: Sequence[Path] = ()
) -> Outcome:
    """Do the cells that the folder does not hold, and append a line for each as soon as it is done.

    Parameters
    ----------
    wanted
        What to run.
    out
        The folder of the results; those in it are kept and not made again.
    jobs
        How many processes; as many as there are cores if not given.
    threads
        How many threads each may use.
    beside
        Folders with results that are not made again, and whose choices are taken over.
    """
    started = time.monotonic()
    jobs = jobs or _cores()
    if jobs < 1 or threads < 1:
        raise ParameterError("jobs", "must be at least 1", min(jobs, threads), "leave it out")
    figures: dict[str, dict[str, Any]] = {}
    failed: dict[str, FeatpropError] = {}
    absent: dict[str, str | None] = {}
    trials: list[Trial] = []
    for settings in wanted:
        here, missing = _present(settings, figures, failed)
        absent |= missing
        trials += trials_of(settings, {name: figures[name]["fingerprint"] for name in here})
    sizes = {name: each["nodes"] * each["features"] for name, each in figures.items()}
    trials = sorted(merged(trials), key=lambda trial: -sizes[trial.dataset])
    with appending(out) as appender:
        appender.record(figures)
        cells = {cell for trial in trials for cell in trial.cells()}
        skipped = len(cells & {result.cell for folder in (out, *beside) for result in read_results(folder)})
        failures: list[Failure] = []
        coming = _written(_performed(trials, [out, *beside], jobs, threads), appender, failures)
        done = sum(1 for _ in tracked(coming, "cells of the experiments", len(cells) - skipped))
    return Outcome(done, skipped, time.monotonic() - started, absent, tuple(failures))


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _performed(
    trials: list[Trial], folders: Sequence[Path], jobs: int, threads: int
) -> Iterator[list[Result] | Failure]:
    """Do the trials; those that share cells with an earlier one wait for its results."""
    while trials:
        now: list[Trial] = []
        later: list[Trial] = []
        taken: set[Cell] = set()
        for trial in trials:
            (later if taken.intersection(trial.cells()) else now).append(trial)
            taken.update(trial.cells())
        known = [result for folder in folders for result in read_results(folder)]
        there = {result.cell for result in known}
        work = []
        for trial in now:
            if not there.issuperset(trial.cells()):
                of_trial = (trial.graph, trial.strategy.name)
                work.append((trial, [result for result in known if (result.graph, result.strategy) == of_trial]))
        yield from perform_all(work, jobs, threads)
        trials = later


def _written(coming: Iterator[list[Result] | Failure], appender: Appender, failures: list[Failure]) -> Iterator[Result]:
    for answer in coming:
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


def _present(
    settings: Settings, figures: dict[str, dict[str, Any]], failed: dict[str, FeatpropError]
) -> tuple[list[str], dict[str, str | None]]:
    """Load each data set once, so that it is in the cache and its figures are known; name those that are missing."""
    here: list[str] = []
    absent: dict[str, str | None] = {}
    for dataset in settings.datasets:
        stand_in = settings.stand_ins.get(dataset)
        for name in [dataset, *([stand_in] if stand_in else [])]:
            is_new = name not in failed
            _load_once(name, figures, failed)
            if name not in failed:
                if name != dataset:
                    absent[dataset] = name
                here += [canonical(name)] if canonical(name) not in here else []
                break
            if len(settings.datasets) == 1 and not stand_in:
                raise failed[name]
            if is_new:
                log.warning("%s cannot be had here: %s", name, failed[name])
            absent[dataset] = None
    if not here:
        found = f"none of {', '.join(settings.datasets)}"
        raise ParameterError("datasets", "must be here or to be had", found, "see featprop datasets")
    return here, absent


def _load_once(name: str, figures: dict[str, dict[str, Any]], failed: dict[str, FeatpropError]) -> None:
    if canonical(name) in figures or name in failed:
        return
    try:
        graph = resolve(canonical(name))
        found = statistics(graph)
        if not found.labelled:
            rule, cure = "must have labels to score against", "add a column label to the nodes"
            raise LabelError(name, rule, "none", cure)
        figures[canonical(name)] = asdict(found) | {"fingerprint": graph.fingerprint}
    except FeatpropError as error:
        failed[name] = _to_convert(name, error)


def _to_convert(name: str, error: FeatpropError) -> FeatpropError:
    """Return an error about tables with a cure that is to be had here: converting takes the options that it names."""
    options = re.findall(r"--[a-z]+", getattr(error, "cure", ""))
    if not options:
        return error
    words = " ".join(f"{option} …" for option in options)
    out = shlex.quote(f"{name.rstrip('/')}.fp")
    cure = f"convert it first, featprop convert {shlex.quote(name)} {out} {words}, and take {out}"
    return type(error)(error.what, error.rule, error.found, cure)
