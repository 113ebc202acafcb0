"""Integers in more numbers than memory holds: spread over files, then handled file by file."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Buckets", "Grouped", "Keyed", "sorted_distinct"]

BUCKET = 1 << 22
"""How many integers a file should hold: 32 MB."""

MOST = 250
"""Files that are open at once, at most."""

SAMPLE = 1 << 16
"""Integers that tell where a file that became too large is cut."""

Keys = NDArray[np.int64]
WEIGHTED = np.dtype([("key", np.int64), ("value", np.float32)])


class Keyed(NamedTuple):
    """Some integers, and a number beside each where there is one."""

    keys: Keys
    values: NDArray[np.float32] | None = None


class Grouped(NamedTuple):
    """Integers, and numbers beside them, by the file that they belong to, and where those of each file end."""

    entries: NDArray[Any]
    ends: NDArray[np.int64]


class Buckets:
    """Files of 64-bit integers.

    Parameters
    ----------
    folder
        Where to keep them; it must exist and be empty.
    expected
        About how many integers are to come.
    place
        Returns the number of the file, below the second argument, for each integer.
    weighted
        Whether there is a number beside each integer.
    """

    def __init__(
        self, folder: Path, expected: int, place: Callable[[Keys, int], NDArray[Any]], *, weighted: bool = False
    ) -> None:
        self.folder, self.place, self.weighted = folder, place, weighted
        self.count = min(max(1, math.ceil(expected / BUCKET)), MOST)

    def add(self, pieces: Iterable[Keyed]) -> None:
        """Append each integer of each piece to its file."""
        self.append(self.grouped(piece) for piece in pieces)

    def grouped(self, piece: Keyed) -> Grouped:
        """Return the integers of a piece by the file that they belong to."""
        numbers = self.place(piece.keys, self.count).astype(np.uint8)
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers, minlength=self.count))
        return Grouped(self._joined(piece.keys[order], None if piece.values is None else piece.values[order]), ends)

    def append(self, groups: Iterable[Grouped]) -> None:
        """Append what `grouped` returned to the files."""
        with ExitStack() as stack:
            files = [stack.enter_context(self._path(number).open("ab")) for number in range(self.count)]
            for entries, ends in groups:
                for file, start, end in zip(files, [0, *ends[:-1]], ends, strict=True):
                    entries[start:end].tofile(file)

    def keep_distinct(self) -> NDArray[np.int64]:
        """Sort every file and drop what is repeated in it; return how many integers each has left."""
        lengths = []
        for number in range(self.count):
            keys = sorted_distinct(np.fromfile(self._path(number), dtype=np.int64))
            keys.tofile(self._path(number))
            lengths.append(len(keys))
        return np.array(lengths, dtype=np.int64)

    def take(self, most: int | None = None) -> Iterator[Keyed]:
        """Yield the integers of each file in turn, and remove the file; parameters are those of `read`."""
        for number in range(self.count):
            yield from self.read(number, most)
            self.remove(number)

    def remove(self, number: int) -> None:
        """Remove a file."""
        self._path(number).unlink(missing_ok=True)

    def read(self, number: int, most: int | None = None) -> Iterator[Keyed]:
        """Yield the integers of a file, which stays as it is.

        Parameters
        ----------
        most
            A file of more integers is cut first: what comes earlier is smaller than what comes later, and integers that
            are equal but for their last bit come together.
        """
        path = self._path(number)
        if not path.exists():
            return
        if most is not None and path.stat().st_size > most * self._kind.itemsize:
            yield from self._cut(path, most)
        else:
            yield self._read(path)

    def _cut(self, path: Path, most: int) -> Iterator[Keyed]:
        """Spread a file over several, by where its integers lie in their order."""
        count = path.stat().st_size // self._kind.itemsize
        step = max(1, count // SAMPLE)
        there = np.memmap(path, dtype=self._kind, mode="r")
        some = np.sort((there["key"] if self.weighted else there)[::step])
        parts_wanted = min(MOST, 2 * math.ceil(count / most))
        ends = np.unique(some[np.arange(1, parts_wanted) * len(some) // parts_wanted] & ~1)
        folder = Path(tempfile.mkdtemp(prefix=path.stem, dir=self.folder))
        parts = Buckets(folder, 0, lambda keys, _: np.searchsorted(ends, keys, side="right"), weighted=self.weighted)
        parts.count = len(ends) + 1
        parts.add(self._read(path, start, most) for start in range(0, count, most))
        yield from parts.take(most if parts.largest() < count else None)
        folder.rmdir()

    def largest(self) -> int:
        """Return how many integers the largest file holds."""
        sizes = [self._path(number).stat().st_size for number in range(self.count)]
        return max(sizes) // self._kind.itemsize

    def _read(self, path: Path, start: int = 0, count: int = -1) -> Keyed:
        found = np.fromfile(path, dtype=self._kind, count=count, offset=start * self._kind.itemsize)
        return Keyed(found["key"].copy(), found["value"].copy()) if self.weighted else Keyed(found)

    def _joined(self, keys: Keys, values: NDArray[np.float32] | None) -> NDArray[Any]:
        if not self.weighted:
            return keys
        both = np.empty(len(keys), dtype=WEIGHTED)
        both["key"], both["value"] = keys, 1 if values is None else values
        return both

    @property
    def _kind(self) -> np.dtype[Any]:
        return WEIGHTED if self.weighted else np.dtype(np.int64)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number}.keys"


def sorted_distinct(keys: Keys) -> Keys:
    """Sort integers in place and return each once: seven times as fast on large arrays as `numpy.unique`."""
    keys.sort()
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    distinct: Keys = keys[first]
    return distinct
