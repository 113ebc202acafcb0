"""Arrays that are mapped from files: where they are, so that another process can map them too, and letting go of pages.

An array is an array, whether it is in memory or mapped. A mapped one counts as memory of the process page by page as it
is read; `let_go` hands pages back once a block is done, and they stay in the system's cache as long as there is room.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.compute.addresses import address_of, fetch_file

__all__ = ["Stored", "let_go", "stored"]


@dataclass(frozen=True)
class Stored:
    """Where a mapped array is: what travels to another process in its place.

    Attributes
    ----------
    path
        The file.
    offset
        Bytes before the first number.
    dtype, shape
        Of the array, whose rows are one after the other.
    writable
        Whether it may be written to.
    address
        Where the file is from, if it is a copy: a machine that does not have it fetches it.
    """

    path: Path
    offset: int
    dtype: str
    shape: tuple[int, ...]
    writable: bool
    address: str | None = None

    def open(self) -> NDArray[Any]:
        """Map the array."""
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        if self.address is not None and not self.path.exists():
            fetch_file(self.address, self.path)
        mode = "r+" if self.writable else "r"
        return np.memmap(self.path, dtype=self.dtype, mode=mode, offset=self.offset, shape=self.shape)  # type: ignore[call-overload, no-any-return]


def stored(array: NDArray[Any]) -> Stored | None:
    """Return where an array is mapped from; None if it is in memory, or not a run of bytes of a file."""
    whole = _mapping_of(array)
    if whole is None or whole.filename is None or not array.flags.c_contiguous or not Path(whole.filename).exists():
        return None
    offset = whole.offset + array.ctypes.data - whole.ctypes.data
    writable = whole.mode in ("r+", "w+") and array.flags.writeable
    path = Path(whole.filename)
    return Stored(path, int(offset), array.dtype.str, array.shape, writable, address_of(path))


def let_go(array: NDArray[Any], part: slice = slice(None)) -> None:
    """Let go of the pages of some rows of a mapped array; nothing is lost, and one in memory stays as it is."""
    whole = _mapping_of(array)
    if whole is None or not array.size:
        return
    rows = array[part]
    inside = whole._mmap  # type: ignore[attr-defined]
    first = rows.ctypes.data - whole.ctypes.data + whole.offset % mmap.ALLOCATIONGRANULARITY
    start = first - first % mmap.PAGESIZE
    length = min(first + rows.nbytes, len(inside)) - start
    if length > 0:
        inside.madvise(mmap.MADV_DONTNEED, start, length)


def _mapping_of(array: NDArray[Any]) -> np.memmap[Any, Any] | None:
    """Return the mapping an array is a part of; none if its pages may differ from the file (mode ``"c"``)."""
    found: Any = array
    last: np.memmap[Any, Any] | None = None
    while isinstance(found, np.ndarray):
        if isinstance(found, np.memmap) and found._mmap is not None:  # type: ignore[attr-defined]
            last = found
        found = found.base
    return None if last is None or last.mode == "c" else last
