"""Who is asked for which node next, and why.

First come nodes whose answer was taken back, then those that others have answered and more people are to, then those
of the last ranking, then all others in a fixed order. Nobody is asked for a node that others have in hand, unless
overlap wants it of several. Every fifth question is of the audit, as long as there is one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator
from itertools import chain

import numpy as np

from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.web.page.answers import Answers
from featprop.web.page.auditing import is_turn_of_audit
from featprop.web.page.leases import Leases
from featprop.web.page.ranking import Ranking
from featprop.web.page.reports import Question

__all__ = ["Questions", "wanted_of"]

SHARED = 0.2
"""The share of the nodes that several people are asked for, where they are to overlap."""


def wanted_of(overlap: int, seed: int) -> Callable[[Hashable], int]:
    """Return how many people are to answer a node: by a hash, so that it does not change from day to day."""

    def wanted(node: Hashable) -> int:
        if overlap == 1:
            return 1
        digest = hashlib.blake2b(f"{seed};{name_to_text(node)}".encode(), digest_size=4).digest()
        return overlap if int.from_bytes(digest) < SHARED * 2**32 else 1

    return wanted


class Questions:
    """The questions that people have and get; not thread-safe by itself.

    Parameters
    ----------
    graph
        The graph.
    answers
        What was answered.
    wanted
        Returns how many people are to answer a node.
    budget
        How many labels are wanted; None for all nodes.
    seed
        Decides the order of nodes that are not ranked.
    clock
        Of the leases.
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
        """Return what somebody is asked for, the same until they answer; None if nothing is left for them."""
        node = self.leases.of(annotator)
        if node is None or annotator in self.answers.of(node):
            self.leases.give_back(annotator)
            node = self._next(annotator)
            if node is None:
                return None
            self.leases.take(annotator, node)
        return self._question(node, annotator)

    def ask_again(self, annotator: str, node: Hashable) -> None:
        """Ask for a node whose answer was taken back: whoever did so first, and else others."""
        self._undone[node] = None
        self.leases.take(annotator, node)

    def answered(self, annotator: str, node: Hashable) -> None:
        """Take a node out of the hand of somebody who has answered it."""
        if self.answers.is_done(node):
            self._undone.pop(node, None)
        if self.leases.of(annotator) == node:
            self.leases.give_back(annotator)

    def may_be_asked(self, annotator: str) -> Iterator[Hashable]:
        """Yield the nodes that others have answered and somebody may still be asked for."""
        return (node for node in self.answers.open if annotator not in self.answers.of(node))

    def _is_enough(self) -> bool:
        """Say whether the labels that are there, and those in other people's hands, are all that are wanted."""
        if self.budget is None:
            return False
        in_hand = sum(not (node in self.answers.labels or node in self.answers.audit) for node in self.leases.nodes())
        return len(self.answers.labels) + in_hand >= self.budget

    def _next(self, annotator: str) -> Hashable | None:
        """Return the first node that somebody may be asked for: of the audit when it is its turn, or of the others.

        Where there are labels enough, or no other node is left, only the audit remains.
        """
        drawn, others = self.answers.audit, () if self._is_enough() else self._in_order()
        in_hand = self.leases.nodes()
        is_turn = is_turn_of_audit(self.answers.people[annotator])
        for node in chain(drawn, others) if is_turn else chain(others, drawn):
            acts = self.answers.of(node)
            is_left = not self.answers.is_done(node) and len(acts) + in_hand.get(node, 0) < self.wanted(node)
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
        """Yield all nodes in a fixed order, from the first one that is not done."""
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
            why = f"One of {len(self.answers.audit):,} nodes drawn at random to check the model."
            return Question(node, 0, None, why, is_audit=True)
        if node in self._undone:
            return Question(node, 0, None, "Its answer was taken back: it is asked again.")
        place = None if self.ranking is None else self.ranking.place(int(self.graph.positions([node])[0]))
        if self.ranking is not None and place is not None:
            stands = int(self.ranking.represents[place])
            known = "that the model is unsure of" if self.ranking.classes else "of the graph"
            others = f"it stands for {stands:,} nodes {known}" if stands > 1 else "no other node is like it"
            return Question(node, place + 1, stands, f"Number {place + 1} in the ranking: {others}.")
        if any(name != annotator for name in self.answers.of(node)):
            return Question(node, 0, None, "Somebody else has answered it too: answers are compared.")
        return Question(node, 0, None, "The next ranking is not ready yet: this is any node without an answer.")
