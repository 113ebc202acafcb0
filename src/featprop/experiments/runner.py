"""`run`: do the cells of some settings that are not done yet.

All settings are done at once, so that no process waits for the last of each; the largest data sets come first, as the
longest work should. Work that shares cells is done once, or, where it is cut differently, one after the other.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from featprop.datasets import resolve
from featprop.datasets.stats import statistics
from featprop.errors import FeatpropError, ParameterError
from featprop.experiments.lines import Appender, Cell, Line, appending, read_lines
from featprop.experiments.settings import Settings
from featprop.experiments.tasks import Task, canonical, merged, tasks_of
from featprop.experiments.workers import Failure, perform_all
from featprop.io.atomic import replacing_file
from featprop.progress import tracked

__all__ = ["STATISTICS", "Outcome", "run"]

log = logging.getLogger(__name__)

STATISTICS = "datasets.json"
"""What a run writes of the data sets beside its lines."""


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
        Tasks that could not be done.
    """

    done: int
    skipped: int
    seconds: float
    absent: dict[str, str | None]
    failures: tuple[Failure, ...]


def run(wanted: Sequence[Settings], out: Path, jobs: int | None = None, threads: int = 1) -> Outcome:
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
    """
    started = time.monotonic()
    jobs = jobs or _cores()
    if jobs < 1 or threads < 1:
        raise ParameterError("jobs", "must be at least 1", min(jobs, threads), "leave it out")
    absent: dict[str, str | None] = {}
    tasks: list[Task] = []
    for settings in wanted:
        here, missing = _present(settings, out)
        absent |= missing
        tasks += tasks_of(settings, here)
    tasks = _largest_first(merged(tasks), out)
    with appending(out) as appender:
        known = read_lines(out)
        _check_alike(tasks, [(line.cell, line.epochs, line.options) for line in known])
        cells = {cell for task in tasks for cell in task.cells()}
        skipped = len(cells & {line.cell for line in known})
        failures: list[Failure] = []
        coming = _written(_performed(tasks, out, jobs, threads), appender, failures)
        done = sum(1 for _ in tracked(coming, "benchmark cells", len(cells) - skipped))
    return Outcome(done, skipped, time.monotonic() - started, absent, tuple(failures))


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _performed(tasks: list[Task], out: Path, jobs: int, threads: int) -> Iterator[list[Line] | Failure]:
    """Do the tasks; those that share cells with an earlier one wait for its lines."""
    while tasks:
        now: list[Task] = []
        later: list[Task] = []
        taken: set[Cell] = set()
        for task in tasks:
            (later if taken.intersection(task.cells()) else now).append(task)
            taken.update(task.cells())
        known = read_lines(out)
        there = {line.cell for line in known}
        yield from perform_all(
            [
                (task, [line for line in known if (line.dataset, line.strategy) == (task.dataset, task.strategy)])
                for task in now
                if not there.issuperset(task.cells())
            ],
            jobs,
            threads,
        )
        tasks = later


def _largest_first(tasks: list[Task], out: Path) -> list[Task]:
    path = out / STATISTICS
    figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return sorted(tasks, key=lambda task: -figures[task.dataset]["nodes"] * figures[task.dataset]["features"])


def _written(coming: Iterator[list[Line] | Failure], appender: Appender, failures: list[Failure]) -> Iterator[Line]:
    for answer in coming:
        if isinstance(answer, Failure):
            log.warning("%s: %s", answer.task, answer.reason)
            failures.append(answer)
            continue
        appender.append(answer)
        first = answer[0]
        scores = [line.macro_f1 for line in answer if (line.model, line.protocol) == (first.model, first.protocol)]
        what = (first.dataset, first.strategy, first.budget, first.model, 100 * sum(scores) / len(scores))
        log.info("%s, %s, %d labels, %s: Macro-F1 %.1f", *what)
        yield from answer


def _present(settings: Settings, out: Path) -> tuple[list[str], dict[str, str | None]]:
    """Load each data set once, so that it is in the cache and its figures are written; name those that are missing."""
    here: list[str] = []
    absent: dict[str, str | None] = {}
    for dataset in settings.datasets:
        stand_in = settings.stand_ins.get(dataset)
        for name in [dataset, *([stand_in] if stand_in else [])]:
            try:
                _count(canonical(name), out)
            except FeatpropError as error:
                if len(settings.datasets) == 1 and not stand_in:
                    raise
                log.warning("%s cannot be had here: %s", name, error)
                absent[dataset] = None
            else:
                if name != dataset:
                    absent[dataset] = name
                here += [canonical(name)] if canonical(name) not in here else []
                break
    if not here:
        found = f"none of {', '.join(settings.datasets)}"
        raise ParameterError("datasets", "must be here or to be had", found, "see featprop datasets")
    return here, absent


def _count(name: str, out: Path) -> None:
    """Add the figures of a data set to those beside the lines."""
    path = out / STATISTICS
    figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    graph = resolve(name)
    if name in figures:
        return
    figures[name] = asdict(statistics(graph))
    with replacing_file(path) as temporary:
        temporary.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _check_alike(tasks: Sequence[Task], known: Iterable[tuple[Cell, int, Mapping[str, Any]]]) -> None:
    """Refuse to add to results that were made with other settings, and settings that contradict each other."""
    asked = {cell: task for task in tasks for cell in task.cells()}
    others = ((cell, task.epochs, task.options) for task in tasks for cell in task.cells())
    for cell, epochs, options in itertools.chain(known, others):
        task = asked.get(cell)
        if task and (task.epochs, dict(task.options)) != (epochs, dict(options)):
            found = f"epochs = {epochs}, options = {dict(options)}"
            rule = f"must have been made with epochs = {task.epochs}, options = {dict(task.options)}"
            raise ParameterError(f"Results of {task}", rule, found, "choose another --out, or those settings")
