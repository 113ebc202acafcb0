"""A folder for rows that are needed while something is computed, removed afterwards.

Each run has one of its own, with a lock on it that the system lets go of when the process ends, however it ends. So
the next run can tell the folder of one that was killed from that of one at work, and removes it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from featprop.errors import FileError, quote_error

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["remove_left_behind", "scratch_folder"]

PREFIX = "featprop-scratch-"
LOCK = ".lock"


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder below `parent`, the system's temporary folder if not given; it goes when the block ends."""
    above = Path(tempfile.gettempdir()) if parent is None else parent
    try:
        above.mkdir(parents=True, exist_ok=True)
        remove_left_behind(above)
        folder, lock = _made(above)
    except OSError as error:
        reason = error.strerror or quote_error(error)
        message, hint = f"Cannot write to {above}: {reason}.", "Choose another `scratch` folder."
        raise FileError(message, hint=hint, parameter="scratch", path=above) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _made(above: Path) -> tuple[Path, FileLock]:
    """Make a folder with a lock on it; another run may take it for one that was left behind before it is locked."""
    from filelock import FileLock, Timeout

    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=above))
        lock_file = folder / LOCK
        lock = FileLock(lock_file)
        with suppress(Timeout, FileNotFoundError, FileExistsError):  # the last one if it goes while it is locked
            lock.acquire(timeout=0)
            if lock_file.exists():
                return folder, lock
            lock.release()


def remove_left_behind(above: Path) -> None:
    """Remove the folders of runs that were killed: those whose lock nobody holds."""
    from filelock import FileLock, Timeout

    for folder in above.glob(f"{PREFIX}*"):
        with suppress(Timeout, OSError):
            if folder.is_dir() and folder.stat().st_uid == os.getuid():
                with FileLock(folder / LOCK, timeout=0):
                    shutil.rmtree(folder, ignore_errors=True)
