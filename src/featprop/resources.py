"""What a computation uses: memory, processes, and temporary folders that also disappear after a crash.

Each run locks its own folder. The operating system releases the lock when the process ends, however it ends, so the
next run can tell an abandoned folder from one in use, and removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from featprop.errors import FileError, ParameterError, quote_error

if TYPE_CHECKING:
    from filelock import FileLock

FOLDER_PREFIX = "featprop-scratch-"
LOCK_NAME = ".lock"
MIN_MEMORY = 10**9
"""Least memory limit in bytes: libraries and the search for medoids take this much."""

PROCESS_STATUS = Path("/proc/self/status")
UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?:([kmgt])(i?))?b?", re.IGNORECASE)


def parse_bytes(text: str, parameter: str = "max_memory") -> int:
    """Return a size in bytes: ``500MB`` and ``4G`` use powers of 1,000, ``2GiB`` of 1,024, a plain number is bytes."""
    found = SIZE.fullmatch(text.strip())
    if found is None:
        message = f"`{parameter}` must be a size such as 500MB, 4GB or 2GiB, not {text!r}."
        raise ParameterError(message, parameter=parameter, value=text)
    number, unit, binary = found.groups(default="")
    size = int(float(number) * (1024 if binary else 1000) ** UNITS[unit.lower()])
    if size < 1:
        raise ParameterError(f"`{parameter}` must be above 0, not {text!r}.", parameter=parameter, value=text)
    return size


def half_of_free() -> int:
    """Return half of the free memory, but at least `MIN_MEMORY`: the default memory limit."""
    import psutil

    return max(int(psutil.virtual_memory().available) // 2, MIN_MEMORY)


def bytes_text(size: float) -> str:
    """Return a size as text: ``"2.0 GB"``."""
    power = next((power for power in range(4) if size < 1000 ** (power + 1)), 4)
    number = f"{size:,.0f}" if power == 0 else f"{size / 1000**power:,.1f}"
    return f"{number} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 where the system does not report it."""
    try:
        lines = PROCESS_STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder below `parent` (the system's temporary folder by default); remove it when the block ends."""
    above = Path(tempfile.gettempdir()) if parent is None else parent
    try:
        above.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(above)
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


def _remove_abandoned(above: Path) -> None:
    """Remove the folders of killed runs: those that are not locked."""
    from filelock import FileLock, Timeout

    for folder in above.glob(f"{FOLDER_PREFIX}*"):
        with suppress(Timeout, OSError):
            if folder.is_dir() and folder.stat().st_uid == os.getuid():
                with FileLock(folder / LOCK_NAME, timeout=0):
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Start processes inside the block that ignore Ctrl-C, which a terminal sends to every process.

    Starts multiprocessing's resource tracker first, because starting it resets the signal mask.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
