"""Mapped files as a place: rows that are kept go to a scratch folder, and memory stays within a bound."""

from __future__ import annotations

import math
import os
import weakref
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from featprop.compute.places import Place
from featprop.compute.stored import Stored
from featprop.errors import FileError, ParameterError
from featprop.memory import MIN_MEMORY, bytes_text

__all__ = ["OnDisk"]

TAKEN = 600 * 2**20
"""Bytes that the process takes beside working rows: libraries, blocks, vectors of one number a row of some millions."""
EACH = 48
"""Bytes a row of such vectors."""


class OnDisk(Place):
    """Rows that are kept are mapped files, unless they are so few that memory has room for them.

    Parameters
    ----------
    folder
        Where they go: a scratch folder, of which somebody else takes care.
    max_memory
        Bytes the process may use; working rows have as many columns at once as fit.
    """

    def __init__(self, folder: Path, max_memory: int) -> None:
        if max_memory < MIN_MEMORY:
            rule, cure = f"must be at least {bytes_text(MIN_MEMORY)}", "allow more"
            raise ParameterError("max_memory", rule, bytes_text(max_memory), cure)
        self.folder = folder
        self.max_memory = max_memory
        self._numbers = count()
        self._held = 0

    def rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return an array beside which two sets of working rows have room, else a mapped file."""
        size = 4 * n * width
        if self._held + 3 * size > self._room(n):
            return self.file((n, width), np.float32)
        found = np.empty((n, width), dtype=np.float32)
        self._held += size
        weakref.finalize(found, self._let_go, size)
        return found

    def file(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new mapped file, whose bytes are there: a mapping of a full disk would end the process."""
        path, kind = self.folder / f"{next(self._numbers)}.bin", np.dtype(dtype)
        size = kind.itemsize * math.prod(shape)
        try:
            with path.open("wb") as made:
                os.posix_fallocate(made.fileno(), 0, max(1, size))
        except OSError as error:
            path.unlink(missing_ok=True)
            rule, cure = f"must have room for {bytes_text(size)} more", "choose another --scratch"
            raise FileError(f"{self.folder}", rule, error.strerror or f"{error}", cure) from error
        return Stored(path, 0, kind.str, shape, writable=True).open()

    def working_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return an array."""
        return np.empty((n, width), dtype=np.float32)

    def columns_at_once(self, n: int, width: int) -> int:
        """Return as many as fit the bound, one at least."""
        return int(np.clip((self._room(n) - self._held) // (2 * 4 * n), 1, width))

    def _room(self, n: int) -> int:
        """Return the bytes that rows may take."""
        return self.max_memory - TAKEN - EACH * n

    def _let_go(self, size: int) -> None:
        self._held -= size
