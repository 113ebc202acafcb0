"""Who has which node in hand: a node goes to one person at a time, and comes back if nobody answers.

There is one server for a label log, so leases live in its memory: after a restart nobody has anything in hand, and
answers to questions of before are taken all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

__all__ = ["LEASE", "Leases"]

LEASE = 600.0
"""Seconds that a node stays in hand without a sign of life."""


class Leases:
    """The nodes that people have in hand; not thread-safe by itself.

    Parameters
    ----------
    clock
        Returns the time in seconds; one that is never set back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._node_of: dict[str, Hashable] = {}
        self._until: dict[str, float] = {}

    def of(self, annotator: str) -> Hashable | None:
        """Return what somebody has in hand, None if that is nothing or has run out."""
        if annotator in self._until and self._until[annotator] < self._clock():
            self.give_back(annotator)
        return self._node_of.get(annotator)

    def nodes(self) -> dict[Hashable, int]:
        """Return the nodes that are in hand, and in how many."""
        counts: dict[Hashable, int] = {}
        for annotator in list(self._node_of):
            node = self.of(annotator)
            if node is not None:
                counts[node] = counts.get(node, 0) + 1
        return counts

    def take(self, annotator: str, node: Hashable) -> None:
        """Put a node into somebody's hand, in place of what was there."""
        self._node_of[annotator] = node
        self._until[annotator] = self._clock() + LEASE

    def renew(self, annotator: str, node: Hashable) -> bool:
        """Lengthen a lease by a sign of life; False if it is not, or no longer, theirs."""
        if self.of(annotator) != node:
            return False
        self._until[annotator] = self._clock() + LEASE
        return True

    def give_back(self, annotator: str) -> None:
        """Take what somebody has out of their hand."""
        self._node_of.pop(annotator, None)
        self._until.pop(annotator, None)
