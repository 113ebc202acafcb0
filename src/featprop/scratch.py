"""Temporary folders that also disappear after a crash.

Each run locks its own folder. The operating system releases the lock when the process ends, however it ends, so the
next run can tell an abandoned folder from one in use, and removes it.
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

FOLDER_PREFIX = "featprop-scratch-"
LOCK_NAME = ".lock"


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder below `parent` (the system's temporary folder by default); remove it when the block ends."""
    above = Path(tempfile.gettempdir()) if parent is None else parent
    try:
        above.mkdir(parents=True, exist_ok=True)
        remove_abandoned_folders(above)
        folder, lock = _create_locked(above)
    except OSError as error:
        reason = error.strerror or quote_error(error)
        raise FileError(
            f"Cannot write to {above}: {reason}.",
            hint="Choose another `scratch` folder.",
            parameter="scratch",
            path=above,
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.release()


def _create_locked(above: Path) -> tuple[Path, FileLock]:
    """Create a folder and lock it; another run may remove it in between, so try again until it is locked."""
    from filelock import FileLock, Timeout

    while True:
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=above))
        lock_file = folder / LOCK_NAME
        lock = FileLock(lock_file)
        with suppress(Timeout, FileNotFoundError, FileExistsError):  # FileExistsError: removed while being locked
            lock.acquire(timeout=0)
            if lock_file.exists():
                return folder, lock
            lock.release()


def remove_abandoned_folders(above: Path) -> None:
    """Remove the folders of killed runs: those that are not locked."""
    from filelock import FileLock, Timeout

    for folder in above.glob(f"{FOLDER_PREFIX}*"):
        with suppress(Timeout, OSError):
            if folder.is_dir() and folder.stat().st_uid == os.getuid():
                with FileLock(folder / LOCK_NAME, timeout=0):
                    shutil.rmtree(folder, ignore_errors=True)
