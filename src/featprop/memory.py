"""How much memory may be used: sizes as people write them, and what the machine has free."""

from __future__ import annotations

import re

from featprop.errors import ParameterError

__all__ = ["LEAST_MEMORY", "bytes_text", "free_memory", "half_of_free", "parse_bytes"]

LEAST_MEMORY = 10**9
"""Bytes below which no bound is met: libraries and the search for medoids take as much."""

UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(?:([kmgt]?)(i?)b|([kmgt]?)(i?))", re.IGNORECASE)


def parse_bytes(text: str, what: str = "--max-memory") -> int:
    """Return a size in bytes: ``500MB`` and ``4G`` count by thousands, ``2GiB`` by 1,024, a plain number is bytes.

    Parameters
    ----------
    text
        The size.
    what
        The option it was given by, for the message.
    """
    found = SIZE.fullmatch(text.strip())
    if found is None:
        cure = "write 4GB, for example"
        raise ParameterError(what, "must be a size such as 500MB, 4GB or 2GiB", repr(text), cure)
    number = float(found[1])
    unit, binary = (found[2], found[3]) if found[2] is not None else (found[4], found[5])
    size = int(number * (1024 if binary else 1000) ** UNITS[unit.lower()])
    if size < 1:
        raise ParameterError(what, "must be above 0", repr(text), "write 4GB, for example")
    return size


def free_memory() -> int:
    """Return how many bytes of memory can be used without any being swapped out."""
    import psutil

    return int(psutil.virtual_memory().available)


def half_of_free() -> int:
    """Return half of that, or what it takes at least: what is used at most where nobody says more."""
    return max(free_memory() // 2, LEAST_MEMORY)


def bytes_text(size: float) -> str:
    """Write a size for people: ``"2.0 GB"``."""
    power = next((power for power in range(4) if size < 1000 ** (power + 1)), 4)
    number = f"{size:,.0f}" if power == 0 else f"{size / 1000**power:,.1f}"
    return f"{number} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"
