"""The moments at which a process changes something on the disk, counted, and its end at one of them.

Python says what it is about to do (`sys.addaudithook`): open for writing, rename, remove, make a folder. `os.fsync` and
each statement of SQLite are counted beside. The process ends *before* what it was about to do.
"""

import mmap
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["Counter", "watch"]

CHANGES = {
    "os.chmod": 2,
    "os.mkdir": 2,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.truncate": None,
    "os.utime": 3,
}
"""What changes the disk, and which argument is the folder that its path is relative to."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Counter:
    """A number that another process counts up, when it began and when it first did; they outlive that process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            path.write_bytes(bytes(24))
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 24)

    @property
    def count(self) -> int:
        """How many moments there were."""
        return int.from_bytes(self._shared[:8], "little")

    def add(self) -> None:
        """Count one moment more."""
        if not self.count:
            self._shared[16:] = time.monotonic_ns().to_bytes(8, "little")
        self._shared[:8] = (self.count + 1).to_bytes(8, "little")

    @property
    def first(self) -> float | None:
        """When the first of them was; None if there was none."""
        return int.from_bytes(self._shared[16:], "little") / 1e9 or None

    @property
    def began(self) -> float | None:
        """When the work began, on the clock of `time.monotonic`; None if it has not."""
        return int.from_bytes(self._shared[8:16], "little") / 1e9 or None

    def begin(self) -> None:
        """Say that it does now."""
        self._shared[8:16] = time.monotonic_ns().to_bytes(8, "little")


def watch(root: Path, counter: Counter, last: int | None = None) -> None:
    """Count what this process changes below `root` from now on, and kill it before change number `last`.

    There is no way back: a hook cannot be taken off, so this is for a process that does one thing.
    """
    inside = f"{root.resolve()}{os.sep}"

    def point() -> None:
        if counter.count + 1 == last:
            os.kill(os.getpid(), signal.SIGKILL)
        counter.add()

    def is_inside(path: Any, folder: Any = -1) -> bool:
        if isinstance(path, int):
            return False
        name = os.fsdecode(path)
        if isinstance(folder, int) and folder >= 0:
            name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)  # noqa: PTH118, PTH115
        return os.path.abspath(name).startswith(inside)  # noqa: PTH100

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if flags & WRITING and path is not None and is_inside(path):
                point()
        elif event in CHANGES:
            place = CHANGES[event]
            if is_inside(arguments[0], -1 if place is None else arguments[place]):
                point()

    connect, flush = sqlite3.connect, os.fsync

    def connected(database: Any, *options: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(database, *options, **named)
        if database != ":memory:":
            connection.set_trace_callback(lambda _: point())
        return connection

    def flushed(descriptor: int) -> None:
        if is_inside(os.readlink(f"/proc/self/fd/{descriptor}")):  # noqa: PTH115
            point()
        flush(descriptor)

    sqlite3.connect, os.fsync = connected, flushed
    sys.addaudithook(hook)
