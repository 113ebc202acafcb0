"""Which node each annotator is asked for next, in SQL.

Temporary tables in the connection of the label log hold what no event says, so an answer, the end of its lease and the
choice of the next question are one transaction:

- ``queue``: the nodes to ask for, in order. A node leaves it when enough people have answered it or have it as a
  question, so the next question is always among its first rows.
- ``leases``: the questions of each annotator, in order; the first one is on their screen.
- ``shared``: the nodes that several people label.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.labels import LabelLog
from featprop.labels.log import parse_label
from featprop.web.page.trainer import NO_RANKING, SEED, Ranking

LEASE_S = 600.0
"""Time a node stays reserved without a sign of life."""
SHARED_NODES = 0.2
"""Share of the nodes that several people label if answers overlap."""
AUDIT_INTERVAL = 5
"""Every fifth question of a person is an audit question."""
SPARES = 500
"""Nodes added to the queue when it runs out."""
TABLES = (
    "CREATE TEMP TABLE shared (node TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TEMP TABLE queue (node TEXT UNIQUE, rank INTEGER, why TEXT, represents INTEGER)",
    "CREATE INDEX temp.queue_in_order ON queue (why = 'audit', rank)",
    """CREATE TEMP TABLE leases (node TEXT, rank INTEGER, why TEXT, represents INTEGER,
        annotator TEXT, turn INTEGER, until REAL, PRIMARY KEY (node, annotator)) WITHOUT ROWID""",
    """CREATE TEMP VIEW open AS SELECT * FROM queue
        WHERE NOT EXISTS (SELECT 1 FROM answers WHERE answers.node = queue.node AND holds AND is_verdict)
        AND (SELECT count(*) FROM answers WHERE answers.node = queue.node AND holds)
        + (SELECT count(*) FROM leases WHERE leases.node = queue.node)
        < CASE WHEN queue.node IN (SELECT node FROM shared) THEN {overlap} ELSE 1 END""",
    "INSERT OR IGNORE INTO queue SELECT node, 0, 'audit', NULL FROM audit ORDER BY number",
)
"""Statements that make the tables; ``open`` are the nodes in the queue that need more answers."""
COMPARED = """
INSERT OR REPLACE INTO queue SELECT DISTINCT node, 0, 'compared', NULL FROM answers
WHERE holds AND node IN (SELECT node FROM shared) AND node NOT IN (SELECT node FROM audit)
"""
EXPIRED = "INSERT OR IGNORE INTO queue SELECT node, rank, why, represents FROM leases WHERE until < ?"
CLOSED = "DELETE FROM queue WHERE NOT EXISTS (SELECT 1 FROM open WHERE open.node = queue.node)"
FIRST_OPEN = """
SELECT node, rank, why, represents FROM open WHERE (why = 'audit') = ?2
AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.node = open.node AND annotator = ?1)
AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.node = open.node AND holds AND annotator = ?1)
ORDER BY rank LIMIT 1
"""
"""The first node for an annotator, of the audit or else of the others."""
N_LABELLED = """
SELECT count(*) FROM (
    SELECT DISTINCT node FROM answers WHERE holds AND label IS NOT NULL AND node NOT IN (SELECT node FROM audit)
)
"""
N_RESERVED = """
SELECT count(DISTINCT node) FROM leases WHERE why != 'audit'
AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.node = leases.node AND holds AND label IS NOT NULL)
"""
HIDDEN = """
SELECT node FROM answers WHERE holds AND node IN (SELECT node FROM shared) GROUP BY node
HAVING count(*) < ? AND max(is_verdict) = 0 AND max(annotator = ?) = 0
"""
"""Nodes that others have answered and an annotator may still be asked for."""


class Why(StrEnum):
    """Why a node is asked for."""

    AUDIT = "audit"
    UNDONE = "undone"
    RANKED = "ranked"
    COMPARED = "compared"
    UNCERTAIN = "uncertain"
    SIMILAR = "similar"


@dataclass(frozen=True)
class Question:
    """A node that an annotator is asked to label."""

    node: Hashable  # id of the node
    rank: int  # place in the ranking, from 1; 0 if it is not ranked
    why: Why  # why it is asked for
    represents: int | None  # number of nodes it represents, if known

    @property
    def is_audit(self) -> bool:
        """Whether it checks the model, so that the model's prediction stays hidden."""
        return self.why is Why.AUDIT


class Questions:
    """The questions of a session, with the parameters of `featprop.web.page.session.Session`."""

    def __init__(
        self,
        graph: Graph,
        log: LabelLog,
        *,
        overlap: int = 1,
        budget: int | None = None,
        n_annotators: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.graph, self.overlap, self.budget = graph, overlap, budget
        self._n_annotators, self._clock, self._ask = n_annotators, clock, log.query
        self._ranking, self._n_ranked = NO_RANKING, 0
        self._turns: Counter[str] = Counter()
        self._ask("PRAGMA temp_store = MEMORY")
        for statement in TABLES:
            self._ask(statement.format(overlap=overlap))
        if overlap > 1:
            for text in filter(_is_shared, map(name_to_text, graph.ids)):
                self._ask("INSERT INTO shared VALUES (?)", text)
            self._ask(COMPARED)
        self._ask(CLOSED)

    def of(self, annotator: str, ahead: int) -> list[Question]:
        """Return the question of an annotator and up to `ahead` more; reserves nodes where there are too few.

        The question stays the same until it is answered. The list is empty if nothing is left. A question in advance
        takes no node of the budget from someone else.
        """
        now = self._clock()
        self._ask(EXPIRED, now)
        self._ask("DELETE FROM leases WHERE until < ?", now)
        found = self._leased(annotator)
        left = self._left() if len(found) <= ahead else 0
        while len(found) <= ahead and (not found or left >= self._n_annotators) and self._reserve(annotator, left > 0):
            found = self._leased(annotator)
            left -= not found[-1].is_audit
        return found

    def release(self, annotator: str, node: Hashable) -> None:
        """End the lease of a node that an annotator has answered; if it is shared, ask others for it."""
        self._ask("DELETE FROM leases WHERE annotator = ? AND node = ?", annotator, name_to_text(node))
        if self.overlap > 1:
            self._ask(f"{COMPARED} AND node = ?", name_to_text(node))
        self._ask(f"{CLOSED} AND node = ?", name_to_text(node))

    def ask_again(self, annotator: str, node: Hashable) -> None:
        """Make a node whose answer was undone the question of the annotator who undid it."""
        why = Why.AUDIT if self.is_audit(node) else Why.UNDONE
        ((first,),) = self._ask("SELECT min(turn) FROM leases WHERE annotator = ?", annotator)
        turn = self._turns[annotator] if first is None else first - 1
        self._lease(annotator, turn, name_to_text(node), 0, why, None)

    def renew(self, annotator: str, node: Hashable) -> bool:
        """Extend the leases of an annotator; False if a node is not (any longer) among them."""
        now = self._clock()
        self._ask("UPDATE leases SET until = ? WHERE annotator = ? AND until >= ?", now + LEASE_S, annotator, now)
        held = "SELECT 1 FROM leases WHERE annotator = ? AND node = ? AND until >= ?"
        return bool(self._ask(held, annotator, name_to_text(node), now))

    def use(self, ranking: Ranking) -> None:
        """Replace the ranking."""
        self._ranking, self._n_ranked = ranking, 0
        self._ask("DELETE FROM queue WHERE rank > 0")
        self._rank(ranking.nodes, Why.RANKED, ranking.represents.tolist())

    def is_audit(self, node: Hashable) -> bool:
        """Return whether a node belongs to the audit."""
        return bool(self._ask("SELECT 1 FROM audit WHERE node = ?", name_to_text(node)))

    def n_labelled(self) -> int:
        """Return the number of labelled nodes outside the audit."""
        return int(self._ask(N_LABELLED)[0][0])

    def hidden(self, annotator: str) -> set[Hashable]:
        """Return the nodes that others have answered and the annotator may still be asked for."""
        if self.overlap == 1:
            return set()
        return {parse_label(node) for (node,) in self._ask(HIDDEN, self.overlap, annotator)}

    def _left(self) -> float:
        """Return how many nodes may still be reserved until labels and reserved nodes reach the budget."""
        if self.budget is None:
            return float("inf")
        return self.budget - self.n_labelled() - int(self._ask(N_RESERVED)[0][0])

    def _leased(self, annotator: str) -> list[Question]:
        rows = self._ask("SELECT node, rank, why, represents FROM leases WHERE annotator = ? ORDER BY turn", annotator)
        return [Question(parse_label(node), rank, Why(why), represents) for node, rank, why, represents in rows]

    def _reserve(self, annotator: str, may_be_ranked: bool) -> bool:
        """Reserve the next node for an annotator; False if nothing is left for them.

        Every fifth question is of the audit, and those that come when nothing else is left.
        """
        turn = self._turns[annotator] + 1
        for is_audit in (True, False) if turn % AUDIT_INTERVAL == 0 else (False, True):
            found = self._ask(FIRST_OPEN, annotator, is_audit) if is_audit or may_be_ranked else []
            while not found and not is_audit and may_be_ranked and self._rank_spares():
                found = self._ask(FIRST_OPEN, annotator, is_audit)
            if found:
                self._turns[annotator] = turn
                self._lease(annotator, turn, *found[0])
                return True
        return False

    def _lease(self, annotator: str, turn: int, node: str, *question: object) -> None:
        row = (node, *question, annotator, turn, self._clock() + LEASE_S)
        self._ask("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?)", *row)
        self._ask(f"{CLOSED} AND node = ?", node)

    def _rank(self, nodes: NDArray[np.intp], why: Why, represents: Sequence[int | None]) -> None:
        """Add nodes to the end of the queue."""
        for node, count in zip(self.graph.ids[nodes].tolist(), represents, strict=True):
            self._n_ranked += 1
            row = (name_to_text(node), self._n_ranked, why, count)
            self._ask("INSERT OR IGNORE INTO queue VALUES (?, ?, ?, ?)", *row)
        self._ask(CLOSED)

    def _rank_spares(self) -> bool:
        """Add more nodes to a queue that runs out; False if there are none."""
        first = self._n_ranked - len(self._ranking.nodes)
        spares = self._ranking.spares[first : first + SPARES]
        why = Why.SIMILAR if self._ranking.probabilities is None else Why.UNCERTAIN
        self._rank(spares, why, [None] * len(spares))
        return bool(spares.size)


def _is_shared(node: str) -> bool:
    """Return whether several people label a node, chosen by a hash that is the same on every day."""
    digest = hashlib.blake2b(f"{SEED};{node}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) < SHARED_NODES * 2**32
