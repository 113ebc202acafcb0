"""Peak memory of this process and versions of the packages."""

from __future__ import annotations

import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PROCESS_STATUS = Path("/proc/self/status")


def reset_peak_memory() -> None:
    """Start a new measurement of the peak, where the system allows it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 where the system does not report it."""
    try:
        lines = PROCESS_STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        if sys.platform == "win32":
            return 0
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def package_versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    found = {"python": platform.python_version()}
    for package in ("featprop", "numba", "numpy", "scikit-learn", "scipy", "torch"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
