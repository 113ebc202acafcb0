"""Where data sets are kept: the cache, and a folder of files that the user placed."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["alone_with", "cache_folder", "graph_folder", "placed_folder", "raw_folder", "sweep"]

LEFT_BEHIND = 24 * 3600.0
"""Seconds after which a temporary folder belongs to nobody who is still running."""


def cache_folder() -> Path:
    """Return ``FEATPROP_CACHE``, or featprop's folder in the cache folder of the platform."""
    chosen = os.environ.get("FEATPROP_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "featprop" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/featprop"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "featprop"


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
    with ExitStack() as stack:
        try:
            (cache_folder() / "locks").mkdir(parents=True, exist_ok=True)
            file = stack.enter_context((cache_folder() / "locks" / name).open("ab"))
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass
        yield


def sweep() -> None:
    """Remove the temporary folders of runs that were killed a day ago or earlier."""
    for kind in ("graphs", "raw"):
        for left in (cache_folder() / kind).glob(".*"):
            if left.is_dir() and time.time() - left.stat().st_mtime > LEFT_BEHIND:
                shutil.rmtree(left, ignore_errors=True)
