"""Choose the next node for each annotator.

Nodes whose answer was undone come first, then nodes that need answers of more people, then those of the last ranking,
then all others in a fixed random order. A node that someone else has reserved is not asked for, unless several people
are to label it. Every fifth question is an audit node.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from itertools import chain

import numpy as np

from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.web.page.answers import Answers
from featprop.web.page.auditing import is_turn_of_audit
from featprop.web.page.ranking import Ranking
from featprop.web.page.types import Question, Why

SHARED_NODES = 0.2
"""Share of the nodes that several people label if answers overlap."""


def wanted_of(overlap: int, seed: int) -> Callable[[Hashable], int]:
    """Return a function that returns how many people label a node, by a hash that is the same on every day."""

    def wanted(node: Hashable) -> int:
        if overlap == 1:
            return 1
        digest = hashlib.blake2b(f"{seed};{name_to_text(node)}".encode(), digest_size=4).digest()
        return overlap if int.from_bytes(digest) < SHARED_NODES * 2**32 else 1

    return wanted


LEASE_S = 600.0
"""Time a node stays reserved without a sign of life."""


class Leases:
    """Nodes reserved by annotators; not thread-safe.

    Leases live in memory. After a restart no node is reserved, and answers to earlier questions still count.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._node_of: dict[str, Hashable] = {}
        self._until: dict[str, float] = {}

    def of(self, annotator: str) -> Hashable | None:
        """Return the node an annotator has reserved; None if there is none or the lease ran out."""
        if annotator in self._until and self._until[annotator] < self._clock():
            self.release(annotator)
        return self._node_of.get(annotator)

    def counts(self) -> dict[Hashable, int]:
        """Return the reserved nodes, and how many annotators have each."""
        nodes = (self.of(annotator) for annotator in list(self._node_of))
        return Counter(node for node in nodes if node is not None)

    def reserve(self, annotator: str, node: Hashable) -> None:
        """Reserve a node for an annotator instead of the earlier one."""
        self._node_of[annotator] = node
        self._until[annotator] = self._clock() + LEASE_S

    def renew(self, annotator: str, node: Hashable) -> bool:
        """Extend a lease; False if the annotator does not have it (any more)."""
        if self.of(annotator) != node:
            return False
        self._until[annotator] = self._clock() + LEASE_S
        return True

    def release(self, annotator: str) -> None:
        """Release the node an annotator has reserved."""
        self._node_of.pop(annotator, None)
        self._until.pop(annotator, None)


class Questions:
    """Questions of the annotators; not thread-safe.

    Parameters
    ----------
    graph
        The graph.
    answers
        Answers so far.
    wanted
        Returns how many people are to label a node.
    budget
        Number of labels wanted; None for all nodes.
    seed
        Seed of the order of nodes that are not ranked.
    clock
        Monotonic clock of the leases.
    """

    def __init__(
        self,
        graph: Graph,
        answers: Answers,
        wanted: Callable[[Hashable], int],
        budget: int | None,
        seed: int,
        clock: Callable[[], float],
    ) -> None:
        self.graph, self.answers, self.wanted, self.budget = graph, answers, wanted, budget
        self.leases = Leases(clock)
        self.ranking: Ranking | None = None
        self._others = np.random.default_rng(seed).permutation(graph.n_nodes)
        self._passed = 0
        self._undone: dict[Hashable, None] = {}

    def of(self, annotator: str) -> Question | None:
        """Return the question of an annotator, the same until they answer; None if nothing is left for them."""
        node = self.leases.of(annotator)
        if node is None or annotator in self.answers.of(node):
            self.leases.release(annotator)
            node = self._next(annotator)
            if node is None:
                return None
            self.leases.reserve(annotator, node)
        return self._question(node, annotator)

    def ask_again(self, annotator: str, node: Hashable) -> None:
        """Ask again for a node whose answer was undone, starting with the annotator who undid it."""
        self._undone[node] = None
        self.leases.reserve(annotator, node)

    def answered(self, annotator: str, node: Hashable) -> None:
        """Release a node that an annotator has answered."""
        if self.answers.is_done(node):
            self._undone.pop(node, None)
        if self.leases.of(annotator) == node:
            self.leases.release(annotator)

    def may_be_asked(self, annotator: str) -> Iterator[Hashable]:
        """Yield nodes that others have answered and the annotator may still be asked for."""
        return (node for node in self.answers.open if annotator not in self.answers.of(node))

    def _budget_is_reached(self) -> bool:
        """Return whether the labels and the reserved nodes reach the budget."""
        if self.budget is None:
            return False
        reserved = sum(not (node in self.answers.labels or node in self.answers.audit) for node in self.leases.counts())
        return len(self.answers.labels) + reserved >= self.budget

    def _next(self, annotator: str) -> Hashable | None:
        """Return the next node for an annotator: an audit node when it is due, or when nothing else is left."""
        drawn, others = self.answers.audit, () if self._budget_is_reached() else self._in_order()
        reserved = self.leases.counts()
        is_turn = is_turn_of_audit(self.answers.people[annotator])
        for node in chain(drawn, others) if is_turn else chain(others, drawn):
            acts = self.answers.of(node)
            is_left = not self.answers.is_done(node) and len(acts) + reserved.get(node, 0) < self.wanted(node)
            if annotator not in acts and is_left:
                return node
        return None

    def _in_order(self) -> Iterator[Hashable]:
        yield from list(self._undone)
        audit, ranked = self.answers.audit, [] if self.ranking is None else self.ranking.nodes.tolist()
        for node in chain(list(self.answers.open), map(self._id, ranked), self._unranked()):
            if node not in audit:
                yield node

    def _unranked(self) -> Iterator[Hashable]:
        """Yield all nodes in a fixed random order, from the first unfinished one."""
        while self._passed < len(self._others) and self.answers.is_done(self._id(self._others[self._passed])):
            self._passed += 1
        for place in range(self._passed, len(self._others)):
            yield self._id(self._others[place])

    def _id(self, position: int) -> Hashable:
        name = self.graph.ids[position]
        found: Hashable = name.item() if hasattr(name, "item") else name
        return found

    def _question(self, node: Hashable, annotator: str) -> Question:
        if node in self.answers.audit:
            return Question(node, Why.AUDIT)
        if node in self._undone:
            return Question(node, Why.UNDONE)
        place = None if self.ranking is None else self.ranking.place(int(self.graph.positions([node])[0]))
        if self.ranking is not None and place is not None:
            represents = int(self.ranking.represents[place])
            return Question(node, Why.RANKED, place + 1, represents, has_model=bool(self.ranking.classes))
        if any(name != annotator for name in self.answers.of(node)):
            return Question(node, Why.COMPARED)
        return Question(node, Why.RANDOM)
