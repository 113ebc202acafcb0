"""A folder for one process at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from featprop.errors import FileError

__all__ = ["held_lock"]


@contextmanager
def held_lock(
    path: Path,
    what: str,
    rule: str = "must be written by one run at a time",
    cure: str = "wait for it, or choose another --out",
) -> Iterator[None]:
    """Hold the lock file for the length of the block; another process that holds it is an error.

    The system lets go of the lock when the process ends, however it ends.

    Parameters
    ----------
    path
        The lock file.
    what
        What it guards, for the message.
    rule, cure
        What to say of another process that holds it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise FileError(what, rule, "another run at work there", cure) from error
    try:
        yield
    finally:
        lock.release()
