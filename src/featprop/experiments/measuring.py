"""Time, memory and versions: what a result cost and what it was made with."""

from __future__ import annotations

import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["Stopwatch", "forget_peak", "peak_memory", "versions"]

STATUS = Path("/proc/self/status")


class Stopwatch:
    """Seconds since it was made, or since the last time they were asked for."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def lap(self) -> float:
        """Return the seconds of this lap and begin the next."""
        now = time.perf_counter()
        seconds, self._started = now - self._started, now
        return seconds


def forget_peak() -> None:
    """Begin anew to measure the peak, where the system allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_memory() -> int:
    """Return the most memory this process held, in bytes; 0 where the system does not say."""
    try:
        text = STATUS.read_text(encoding="ascii")
    except OSError:
        return _most_ever()
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmHWM")), 0)


def _most_ever() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    found = {"python": platform.python_version()}
    for package in ("featprop", "numba", "numpy", "scikit-learn", "scipy", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
