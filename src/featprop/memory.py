"""Memory limits: sizes as text, the free memory of the machine, and the peak of this process."""

from __future__ import annotations

import re
from pathlib import Path

from featprop.errors import ParameterError

MIN_MEMORY = 10**9
"""Least memory limit in bytes: libraries and the search for medoids take this much."""

PROCESS_STATUS = Path("/proc/self/status")
UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?:([kmgt])(i?))?b?", re.IGNORECASE)


def parse_bytes(text: str, parameter: str = "max_memory") -> int:
    """Return a size in bytes: ``500MB`` and ``4G`` use powers of 1,000, ``2GiB`` of 1,024, a plain number is bytes.

    Parameters
    ----------
    text
        The size.
    parameter
        Name of the parameter, for the message.
    """
    found = SIZE.fullmatch(text.strip())
    if found is None:
        message = f"`{parameter}` must be a size such as 500MB, 4GB or 2GiB, not {text!r}."
        raise ParameterError(message, parameter=parameter, value=text)
    number, unit, binary = found.groups(default="")
    size = int(float(number) * (1024 if binary else 1000) ** UNITS[unit.lower()])
    if size < 1:
        raise ParameterError(f"`{parameter}` must be above 0, not {text!r}.", parameter=parameter, value=text)
    return size


def free_memory() -> int:
    """Return the bytes of memory that are available without swapping."""
    import psutil

    return int(psutil.virtual_memory().available)


def half_of_free() -> int:
    """Return half of the free memory, but at least `MIN_MEMORY`: the default memory limit."""
    return max(free_memory() // 2, MIN_MEMORY)


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
