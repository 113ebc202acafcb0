"""A folder for one process at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from featprop.errors import FileError

__all__ = ["held_lock"]


@contextmanager
def held_lock(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file for the length of the block; another process that holds it is an error.

    The system lets go of the lock when the process ends, however it ends.

    Parameters
    ----------
    path
        The lock file.
    what
        What it guards, for the message.
    """
    with path.open("ab") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            rule = "must be written by one run at a time"
            raise FileError(what, rule, "another run at work there", "wait for it, or choose another --out") from error
        yield
