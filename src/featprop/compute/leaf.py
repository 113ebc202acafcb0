"""Leaves: the smallest groups of rows. Whatever is summed over rows is summed leaf by leaf, and these in order.

A block is a whole number of leaves, so a sum is the same to the last bit however rows are cut into blocks and whoever
computes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import NDArray

__all__ = ["LEAF", "leaves", "sum_in_order"]

LEAF = 65_536
"""Rows of a leaf; the last one may have fewer."""


def leaves(block: slice) -> Iterator[slice]:
    """Cut a block that starts with a leaf into leaves."""
    for start in range(block.start, block.stop, LEAF):
        yield slice(start, min(start + LEAF, block.stop))


def sum_in_order(sums: Iterable[list[NDArray[Any]]]) -> NDArray[Any]:
    """Add up what each block returned, a list with the sum of each of its leaves, in the order of the rows."""
    total: NDArray[Any] | None = None
    for of_leaves in sums:
        for each in of_leaves:
            total = each if total is None else total + each
    assert total is not None
    return total
