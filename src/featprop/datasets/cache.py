"""Where data sets are kept: the cache, and a folder of files that the user placed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from featprop.cache import cache_folder
from featprop.io.atomic import sweep

__all__ = [
    "alone_with",
    "cache_folder",
    "graph_folder",
    "placed_folder",
    "raw_folder",
    "sweep_cache",
    "sweep_converted",
]


def graph_folder(name: str) -> Path:
    """Return where the cache keeps a data set as a graph that opens at once."""
    return cache_folder() / "graphs" / name


def raw_folder(name: str) -> Path:
    """Return where the cache keeps the files of a data set between its download and its conversion."""
    return cache_folder() / "raw" / name


def placed_folder() -> Path | None:
    """Return ``FEATPROP_DATA``, the folder of files that the user placed, or None if it is not set."""
    chosen = os.environ.get("FEATPROP_DATA")
    return Path(chosen).expanduser() if chosen else None


@contextmanager
def alone_with(name: str) -> Iterator[None]:
    """Wait until no other process is getting this data set, so that several that want it fetch it once.

    Where the cache cannot be written or the file system knows no locks, nobody waits: what is written there appears
    whole or not at all in any case.
    """
    from filelock import FileLock

    lock = _lock_of(name)
    with ExitStack() as stack:
        with suppress(OSError):
            lock.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(lock))
        yield


def sweep_cache() -> None:
    """Put back what killed runs had moved aside in the cache, and remove the rest of what they left."""
    for kind in ("graphs", "raw"):
        sweep(cache_folder() / kind)


def sweep_converted(name: str) -> None:
    """Remove what a run left that was killed when it had converted a data set, unless somebody is getting it."""
    from filelock import FileLock, Timeout

    sweep_cache()
    if raw_folder(name).exists():
        with suppress(OSError, Timeout), FileLock(_lock_of(name), timeout=0):
            shutil.rmtree(raw_folder(name), ignore_errors=True)


def _lock_of(name: str) -> Path:
    return cache_folder() / "locks" / name
