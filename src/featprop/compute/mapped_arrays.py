"""Arrays mapped from files: locate them for other processes, and release their pages.

Pages of a mapped array count as memory of the process once they are read. `release_pages` returns them after a block is
done; they stay in the system's cache while there is room.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ArrayLocation:
    """Location of a mapped array, sent to other processes instead of the array."""

    path: Path  # the file
    offset: int  # position of the first value in the file, in bytes
    dtype: str
    shape: tuple[int, ...]  # of the C-contiguous array
    writable: bool  # whether it may be written to

    def open(self) -> NDArray[Any]:
        """Map the array."""
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        mode = "r+" if self.writable else "r"
        return np.memmap(self.path, dtype=self.dtype, mode=mode, offset=self.offset, shape=self.shape)  # type: ignore[call-overload, no-any-return]


def locate_array(array: NDArray[Any]) -> ArrayLocation | None:
    """Return where an array is mapped from; None if it is in memory or not contiguous in a file."""
    whole = _mapping_of(array)
    if whole is None or whole.filename is None or not array.flags.c_contiguous or not Path(whole.filename).exists():
        return None
    offset = whole.offset + array.ctypes.data - whole.ctypes.data
    writable = whole.mode in ("r+", "w+") and array.flags.writeable
    return ArrayLocation(Path(whole.filename), int(offset), array.dtype.str, array.shape, writable)


def is_mapped(array: Any) -> bool:
    """Return whether an array, or the array it is a view of, is mapped from a file."""
    return _mapping_of(array) is not None


def release_pages(array: NDArray[Any], part: slice = slice(None)) -> None:
    """Release the pages of some rows of a mapped array without losing data; do nothing for an array in memory."""
    whole = _mapping_of(array)
    if whole is None or not array.size:
        return
    rows = array[part]
    mapping = whole._mmap  # type: ignore[attr-defined]
    first = rows.ctypes.data - whole.ctypes.data + whole.offset % mmap.ALLOCATIONGRANULARITY
    start = first - first % mmap.PAGESIZE
    length = min(first + rows.nbytes, len(mapping)) - start
    if length > 0:
        mapping.madvise(mmap.MADV_DONTNEED, start, length)


def find_mapped(values: Iterable[Any]) -> list[NDArray[Any]]:
    """Return the mapped arrays among some values, and in the lists and dataclasses among them."""
    found: list[NDArray[Any]] = []
    for value in values:
        if isinstance(value, list | tuple):
            found += find_mapped(value)
        elif is_dataclass(value):
            found += find_mapped(vars(value).values())
        elif is_mapped(value):
            found.append(value)
    return found


def _mapping_of(array: Any) -> np.memmap[Any, Any] | None:
    """Return the mapping an array is a view of; None if its pages may differ from the file (mode ``"c"``)."""
    last: np.memmap[Any, Any] | None = None
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and array._mmap is not None:  # type: ignore[attr-defined]
            last = array
        array = array.base
    return None if last is None or last.mode == "c" else last
