"""Progress and log on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from featprop.progress import listening

__all__ = ["showing_progress"]

WORTH_SHOWING = 1.0
"""Seconds a stage may take unseen."""


@contextmanager
def showing_progress() -> Iterator[None]:
    """Show the stages and the log messages of everything that runs inside the block."""
    log = logging.getLogger("featprop")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with _bars() if sys.stderr.isatty() else listening(_Lines()):
            yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


@contextmanager
def _bars() -> Iterator[None]:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    with Progress(console=Console(stderr=True), transient=True) as progress:
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
    """One line when a stage turns out to be long, and one every ten seconds after that."""

    def __init__(self) -> None:
        self.next_line = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == 0:
            self.next_line = now + WORTH_SHOWING
        elif now >= self.next_line:
            print(f"{stage}: {done} of {total}", file=sys.stderr, flush=True)
            self.next_line = now + 10.0
