"""Show progress and log messages on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from featprop.progress import listening

__all__ = ["showing_progress"]

SHOW_AFTER_S = 1.0
REPEAT_AFTER_S = 10.0


@contextmanager
def showing_progress(level: int = logging.INFO) -> Iterator[None]:
    """Show the progress and the log messages, from `level` up, of everything inside the block."""
    with _bars(level) if sys.stderr.isatty() else _lines(level):
        yield


@contextmanager
def _logging(show: Callable[[str], object], level: int) -> Iterator[None]:
    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            show(record.getMessage())

    log, handler = logging.getLogger("featprop"), Handler()
    before = log.level
    log.addHandler(handler)
    log.setLevel(level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


@contextmanager
def _lines(level: int) -> Iterator[None]:
    with _logging(_print_line, level), listening(_Lines()):
        yield


def _print_line(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


@contextmanager
def _bars(level: int) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    with Progress(console=console, transient=True) as progress, _logging(console.print, level):
        tasks: dict[str, TaskID] = {}

        def listener(stage: str, done: int, total: int) -> None:
            if done == 0:
                for shown in tasks.values():
                    progress.remove_task(shown)
                tasks.clear()
                tasks[stage] = progress.add_task(stage, total=total)
            elif stage in tasks:
                progress.update(tasks[stage], completed=done)

        with listening(listener):
            yield


class _Lines:
    """Print a line once a stage takes longer than a second, then one every ten seconds."""

    def __init__(self) -> None:
        self.next_line = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == 0:
            self.next_line = now + SHOW_AFTER_S
        elif now >= self.next_line:
            _print_line(f"{stage}: {done} of {total}")
            self.next_line = now + REPEAT_AFTER_S
