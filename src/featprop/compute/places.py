"""The place where rows live and blocks of them are computed. Algorithms ask for it and never look which one it is.

memory
    Rows are arrays; blocks are computed one after the other here, each on all cores.
mapped files
    Rows that are kept are files in a scratch folder (`featprop.compute.on_disk`).
Dask
    All rows are such files, and blocks are computed by the workers of a cluster (`featprop.compute.on_dask`).

A task is a plain function of a block, a slice of the rows, and of arrays: it writes what belongs to its rows, or
returns it. What it does must depend on nothing else, so that it may be done anywhere, and done again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featprop.compute.leaf import LEAF, leaves
from featprop.progress import tracked

__all__ = ["InMemory", "Place", "place", "working_at"]

Task = Callable[..., Any]


class Place(ABC):
    """Where rows live and who computes.

    Attributes
    ----------
    elsewhere
        Whether other processes do: large arrays then come back as files.
    """

    elsewhere: ClassVar[bool] = False

    @abstractmethod
    def rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return rows to be written and kept."""

    @abstractmethod
    def working_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return rows to be written and read at random while something is computed."""

    @abstractmethod
    def columns_at_once(self, n: int, width: int) -> int:
        """Return how many columns of `width` two sets of working rows may have."""

    def blocks(self, n: int) -> list[slice]:
        """Cut n rows into blocks, each a whole number of leaves."""
        return list(leaves(slice(0, n)))

    def map(self, task: Task, n: int, *arguments: Any, stage: str = "") -> Iterator[Any]:
        """Yield ``task(block, *arguments)`` for each block of n rows, in the order of the rows.

        Parameters
        ----------
        task
            A function of a module, which can be found by its name elsewhere.
        n
            How many rows.
        *arguments
            What else it takes: arrays, numbers, and whatever holds them.
        stage
            What to call it while it runs; without a name no progress is shown.
        """
        blocks = self.blocks(n)
        return self.each(task, blocks, *arguments, stage=stage if len(blocks) > 1 else "", total=len(blocks))

    def each(
        self, task: Task, items: Iterable[Any], *arguments: Any, stage: str = "", total: int = 0
    ) -> Generator[Any, None, None]:
        """Yield ``task(item, *arguments)`` for each item, in their order.

        Parameters
        ----------
        task, *arguments, stage
            As for `map`.
        items
            What is asked for one after the other, a few ahead of what was yielded.
        total
            About how many there are.
        """
        for item in tracked(items, stage, total) if stage else items:
            yield task(item, *arguments)

    def run(self, task: Task, n: int, *arguments: Any, stage: str = "") -> None:
        """Call ``task(block, *arguments)`` for each block of n rows, for what it writes."""
        for _ in self.map(task, n, *arguments, stage=stage):
            pass


class InMemory(Place):
    """Rows are arrays, blocks are computed here.

    Parameters
    ----------
    leaves_each
        Leaves of a block.
    """

    def __init__(self, leaves_each: int = 1) -> None:
        self.leaves_each = leaves_each

    def rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return an array."""
        return np.empty((n, width), dtype=np.float32)

    def working_rows(self, n: int, width: int) -> NDArray[np.float32]:
        """Return an array."""
        return np.empty((n, width), dtype=np.float32)

    def columns_at_once(self, n: int, width: int) -> int:  # noqa: ARG002
        """Return all of them."""
        return width

    def blocks(self, n: int) -> list[slice]:
        """Cut n rows into blocks of so many leaves."""
        step = self.leaves_each * LEAF
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]


_PLACE: ContextVar[Place] = ContextVar("place", default=InMemory())  # noqa: B039


def place() -> Place:
    """Return where to work: in memory unless somebody said otherwise."""
    return _PLACE.get()


@contextmanager
def working_at(chosen: Place) -> Iterator[Place]:
    """Work at another place for the length of the block."""
    token = _PLACE.set(chosen)
    try:
        yield chosen
    finally:
        _PLACE.reset(token)
