"""`run`: do the cells of some settings that are not done yet."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from featprop.datasets import find, is_known, resolve
from featprop.datasets.stats import statistics
from featprop.errors import FeatpropError, ParameterError
from featprop.experiments.lines import Appender, Line, appending, read_lines
from featprop.experiments.settings import Settings
from featprop.experiments.tasks import Task, tasks_of
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


def run(settings: Settings, out: Path, jobs: int | None = None, threads: int = 1) -> Outcome:
    """Do the cells that the folder does not hold, and append a line for each as soon as it is done.

    Parameters
    ----------
    settings
        What to run.
    out
        The folder of the results; those in it are kept and not made again.
    jobs
        How many processes; as many as there are cores if not given.
    threads
        How many threads each may use.
    """
    started = time.monotonic()
    jobs = jobs or os.cpu_count() or 1
    if jobs < 1 or threads < 1:
        raise ParameterError("jobs", "must be at least 1", min(jobs, threads), "leave it out")
    here, absent = _present(settings, out)
    tasks = tasks_of(settings, here)
    with appending(out) as appender:
        known = read_lines(out)
        _check_alike(tasks, known)
        cells = {cell for task in tasks for cell in task.cells()}
        there = {line.cell for line in known}
        skipped = len(cells & there)
        work = [
            (task, [line for line in known if (line.dataset, line.strategy) == (task.dataset, task.strategy)])
            for task in tasks
            if not there.issuperset(task.cells())
        ]
        failures: list[Failure] = []
        coming = _written(perform_all(work, jobs, threads), appender, failures)
        done = sum(1 for _ in tracked(coming, "benchmark cells", len(cells) - skipped))
    return Outcome(done, skipped, time.monotonic() - started, absent, tuple(failures))


def _written(coming: Iterator[list[Line] | Failure], appender: Appender, failures: list[Failure]) -> Iterator[Line]:
    for answer in coming:
        if isinstance(answer, Failure):
            log.warning("%s: %s", answer.task, answer.reason)
            failures.append(answer)
            continue
        appender.append(answer)
        first = answer[0]
        mean = 100 * sum(line.macro_f1 for line in answer) / len(answer)
        log.info("%s, %s, %d labels: Macro-F1 %.1f", first.dataset, first.strategy, first.budget, mean)
        yield from answer


def _present(settings: Settings, out: Path) -> tuple[list[str], dict[str, str | None]]:
    """Load each data set once, so that it is in the cache and its figures are written; name those that are missing."""
    here: list[str] = []
    absent: dict[str, str | None] = {}
    for dataset in settings.datasets:
        stand_in = settings.stand_ins.get(dataset)
        for name in [dataset, *([stand_in] if stand_in else [])]:
            try:
                _count(_named(name), out)
            except FeatpropError as error:
                if len(settings.datasets) == 1 and not stand_in:
                    raise
                log.warning("%s cannot be had here: %s", name, error)
                absent[dataset] = None
            else:
                if name != dataset:
                    absent[dataset] = name
                here += [_named(name)] if _named(name) not in here else []
                break
    if not here:
        found = f"none of {', '.join(settings.datasets)}"
        raise ParameterError("datasets", "must be here or to be had", found, "see featprop datasets")
    return here, absent


def _named(name: str) -> str:
    return find(name).name if not Path(name).exists() and is_known(name) else name


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


def _check_alike(tasks: Sequence[Task], known: Sequence[Line]) -> None:
    """Refuse to add to results that were made with other settings."""
    asked = {cell: task for task in tasks for cell in task.cells()}
    for line in known:
        task = asked.get(line.cell)
        if task and (task.epochs, dict(task.options)) != (line.epochs, line.options):
            found = f"epochs = {line.epochs}, options = {line.options}"
            rule = f"must have been made with epochs = {task.epochs}, options = {dict(task.options)}"
            raise ParameterError(f"Results of {task}", rule, found, "choose another --out, or those settings")
