"""Processes that have imported everything before they begin, so that what is killed is work and not an import."""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash.write_points import Counter, watch

__all__ = ["Child", "featprop_command", "finished"]

PATIENCE = 300.0
"""Seconds after which a process that does not end is wrong."""

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["crash.warm", *({"pytest"} & sys.modules.keys())])


@dataclass
class Child:
    """A process at some work.

    Parameters
    ----------
    work
        A function that can be imported, and its arguments.
    root
        The folder whose changes are counted.
    last
        The change before which it kills itself, if it does.

    Attributes
    ----------
    told
        What it printed, errors too, once it has ended.
    seconds, seconds_writing
        How long the work took, and from its first change on, once it has ended.
    counter
        How many changes it has made.
    """

    work: tuple[Callable[..., None], Any]
    root: Path
    last: int | None = None

    def __post_init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="featprop-crash-", ignore_cleanup_errors=True)
        self._told, self.told = Path(self._folder.name) / "told.txt", ""
        self.counter = Counter(Path(self._folder.name) / "counter")
        arguments = (self.work, self.root, self.counter.path, self.last, self._told)
        self.process = CONTEXT.Process(target=_perform, args=arguments)
        with _importable():
            self.process.start()

    def wait_until_begun(self) -> None:
        """Wait until imports are done and the work begins."""
        while self.counter.began is None and self.process.is_alive():
            time.sleep(0.0005)

    def wait_until_first_change(self) -> None:
        """Wait until it writes."""
        while self.counter.first is None and self.process.is_alive():
            time.sleep(0.0005)

    def kill(self) -> bool:
        """Kill it now; return whether it was still there."""
        self.process.kill()
        return self.end() == -signal.SIGKILL

    def end(self) -> int:
        """Wait for its end and return its exit code."""
        self.process.join(PATIENCE)
        ended = time.monotonic()
        self.seconds = ended - (self.counter.began or ended)
        self.seconds_writing = ended - (self.counter.first or ended)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        code = self.process.exitcode
        self.process.close()
        if self._told.exists():
            self.told = self._told.read_text(encoding="utf-8", errors="replace")
        self._folder.cleanup()
        assert code is not None
        return code


def finished(work: tuple[Callable[..., None], Any], root: Path) -> tuple[int, Child]:
    """Let a process do its work to the end; return its exit code, and the process."""
    child = Child(work, root)
    return child.end(), child


def featprop_command(words: list[str]) -> None:
    """Do what ``featprop`` does with these words."""
    from featprop.cli import app

    app(words)


@contextmanager
def _importable() -> Iterator[None]:
    """Let the server of forks, which starts with the first process, import what can be imported here."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _perform(
    work: tuple[Callable[..., None], Any],
    root: Path,
    counter: Path,
    last: int | None,
    told: Path,
) -> None:
    with told.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    seen = Counter(counter)
    watch(root, seen, last)
    seen.begin()
    function, argument = work
    function(argument)
