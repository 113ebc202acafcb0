"""What holds now and which node comes next, in SQL.

The events of the label log are the only truth: views on them say what counts. Temporary tables hold what no event
says: the ranking, the leases, and which nodes several people label. All are on one connection, so an answer, the end of
its lease and the choice of the next question are one transaction.

- ``held``: the current answers and verdicts, of which `featprop.labels.agreement` decides what counts.
- ``ranking``: nodes to ask for. ``shared``: nodes that several people label.
- ``leases``: the questions of each annotator, in order; the first one is on their screen.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.labels import LabelLog
from featprop.labels.agreement import Decision, Disagreement, decide, krippendorff_alpha
from featprop.labels.log import parse_label
from featprop.web.page.trainer import SEED, Ranking

LEASE_S = 600.0
"""Time a node stays reserved without a sign of life."""
SHARED_NODES = 0.2
"""Share of the nodes that several people label if answers overlap."""
AUDIT_INTERVAL = 5
"""Every fifth question of a person is an audit question."""
SPARES = 500
"""Nodes added to the ranking when it runs out."""
MAX_LOOKUPS = 1000
"""Nodes looked up one by one; for more, all answers are read."""
HELD = """
SELECT number, node, annotator, kind = 'adjudicate' AS is_verdict, substr(time, 1, 13) AS hour,
CASE WHEN EXISTS (SELECT 1 FROM events WHERE kind = 'rename') THEN (
    WITH RECURSIVE named (number, label) AS (
        SELECT event.number, event.label
        UNION ALL
        SELECT rename.number, rename.label FROM named JOIN events AS rename ON rename.number = (
            SELECT min(number) FROM events WHERE kind = 'rename' AND number > named.number AND text = named.label
        )
    )
    SELECT label FROM named ORDER BY number DESC LIMIT 1
) ELSE label END AS label
FROM holding AS event
"""
"""The answers and verdicts that hold, with the class names of today."""
APART = """
SELECT one.node FROM held AS one JOIN held AS other ON other.node = one.node AND other.number > one.number
WHERE one.node IN (SELECT node FROM events WHERE kind = 'label' GROUP BY node HAVING count(*) > 1)
AND other.label <> one.label AND NOT one.is_verdict AND NOT other.is_verdict
AND NOT EXISTS (SELECT 1 FROM held AS verdict WHERE verdict.node = one.node AND verdict.is_verdict)
"""
"""Nodes with different labels that no one has settled."""
TABLES = (
    f"VIEW held AS {HELD}",
    "TABLE ranking (place INTEGER PRIMARY KEY, node TEXT UNIQUE, why TEXT, represents INTEGER, has_model INTEGER)",
    "TABLE shared (node TEXT PRIMARY KEY) WITHOUT ROWID",
    """TABLE leases (annotator TEXT, node TEXT, place INTEGER, until REAL, why TEXT, rank INTEGER, represents INTEGER,
        has_model INTEGER, PRIMARY KEY (node, annotator)) WITHOUT ROWID""",
)


class Why(StrEnum):
    """Why a node is asked for."""

    AUDIT = "audit"
    UNDONE = "undone"
    RANKED = "ranked"
    COMPARED = "compared"
    UNCERTAIN = "uncertain"
    SIMILAR = "similar"


SOURCES = {
    Why.AUDIT: "SELECT node, number AS place, 'audit' AS why FROM audit",
    Why.UNDONE: """SELECT DISTINCT node, 0 AS place, 'undone' AS why FROM events WHERE undoes IS NOT NULL
        AND node NOT IN (SELECT node FROM audit) AND NOT EXISTS (SELECT 1 FROM held WHERE held.node = events.node)""",
    Why.COMPARED: """SELECT DISTINCT node, 0 AS place, 'compared' AS why FROM held WHERE NOT is_verdict
        AND node IN (SELECT node FROM shared) AND node NOT IN (SELECT node FROM audit)""",
    Why.RANKED: "SELECT node, place, why FROM ranking",
}
"""Where questions come from."""
FIRST_FREE = """
SELECT source.node, source.why, coalesce(ranking.place + 1, 0), represents, coalesce(has_model, 0)
FROM ({}) AS source LEFT JOIN ranking ON ranking.node = source.node
WHERE NOT EXISTS (SELECT 1 FROM leases WHERE leases.node = source.node AND annotator = ?1)
AND NOT EXISTS (SELECT 1 FROM held WHERE held.node = source.node AND (is_verdict OR annotator = ?1))
AND (SELECT count(*) FROM held WHERE held.node = source.node AND NOT is_verdict)
    + (SELECT count(*) FROM leases WHERE leases.node = source.node)
    < CASE WHEN source.node IN (SELECT node FROM shared) THEN ?2 ELSE 1 END
ORDER BY source.place LIMIT 1
"""
"""First node of a source that an annotator may be asked for."""
RECENT = f"""
SELECT node IN (SELECT node FROM audit) FROM (
    SELECT node, 1e9 + place AS place FROM leases WHERE annotator = ?1
    UNION ALL SELECT * FROM (
        SELECT node, number FROM held WHERE annotator = ?1 AND NOT is_verdict
        ORDER BY number DESC LIMIT {AUDIT_INTERVAL - 1}
    )
) ORDER BY place DESC LIMIT {AUDIT_INTERVAL - 1}
"""
"""Whether each of the annotator's last questions belongs to the audit."""
LABELLED = """
SELECT count(*) FROM (SELECT DISTINCT node FROM events WHERE kind IN ('label', 'adjudicate')) AS named
WHERE node NOT IN (SELECT node FROM audit) AND (
    node NOT IN (SELECT node FROM events WHERE kind IN ('undo', 'skip'))
    OR EXISTS (SELECT 1 FROM held WHERE held.node = named.node AND label IS NOT NULL)
)
"""
"""Number of labelled nodes outside the audit; only an undo or a skip can take a label away."""
RESERVED = """
SELECT count(DISTINCT node) FROM leases WHERE node NOT IN (SELECT node FROM audit)
AND NOT EXISTS (SELECT 1 FROM held WHERE held.node = leases.node AND label IS NOT NULL)
"""
"""Number of reserved nodes that are neither labelled nor part of the audit."""
HIDDEN = """
SELECT node FROM held WHERE node IN (SELECT node FROM shared) GROUP BY node
HAVING count(*) < ? AND max(is_verdict) = 0 AND max(annotator = ?) = 0
"""
"""Nodes that others have answered and an annotator may still be asked for."""


@dataclass(frozen=True)
class Question:
    """A node that an annotator is asked to label."""

    node: Hashable  # id of the node
    why: Why  # why it is asked for
    rank: int = 0  # place in the ranking, from 1; 0 if it is not ranked
    represents: int | None = None  # number of nodes it represents, if known
    has_model: bool = False  # whether a model chose it

    @property
    def is_audit(self) -> bool:
        """Whether it checks the model, so that the model's prediction stays hidden."""
        return self.why is Why.AUDIT

    @property
    def explanation(self) -> str:
        """The reason in a sentence."""
        if self.why is Why.RANKED:
            if self.represents is None or self.represents < 2:
                return f"Unlike any other node (no. {self.rank})."
            known = "nodes the model is unsure about" if self.has_model else "nodes of the graph"
            return f"Represents {self.represents:,} {known} (no. {self.rank})."
        return {
            Why.AUDIT: "Picked at random to check the model.",
            Why.UNDONE: "You or someone else undid the answer to this node.",
            Why.COMPARED: "Someone else labelled this node too, to compare answers.",
            Why.UNCERTAIN: "The last model is least certain about this node; the next ranking is on its way.",
            Why.SIMILAR: "Similar to a node selected before, while the first model trains.",
        }[self.why]


class State:
    """Current answers and questions of a session, with the parameters of `featprop.web.page.session.Session`."""

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
        self.graph, self.log, self.overlap, self.budget = graph, log, overlap, budget
        self._n_annotators, self._clock = n_annotators, clock
        self.ranking: Ranking | None = None
        self._n_spares = 0
        self._ask("PRAGMA temp_store = MEMORY")
        for table in TABLES:
            self._ask(f"CREATE TEMP {table}")
        if overlap > 1:
            for text in filter(_is_shared, map(name_to_text, graph.ids)):
                self._ask("INSERT INTO shared VALUES (?)", text)

    # Questions

    def questions(self, annotator: str, ahead: int) -> list[Question]:
        """Return the question of an annotator and up to `ahead` more; reserves nodes where there are too few.

        The question stays the same until it is answered. The list is empty if nothing is left. A question in advance
        takes no node of the budget from someone else.
        """
        self._ask("DELETE FROM leases WHERE until < ?", self._clock())
        found = self._leased(annotator)
        left = self._left() if len(found) <= ahead else 0
        while len(found) <= ahead and (not found or left >= self._n_annotators) and self._reserve(annotator, left > 0):
            found = self._leased(annotator)
            left -= not found[-1].is_audit
        return found

    def release(self, annotator: str, node: Hashable) -> None:
        """Take a node that an annotator has answered out of the ranking and end its lease."""
        self._ask("DELETE FROM leases WHERE annotator = ? AND node = ?", annotator, name_to_text(node))
        self._ask("DELETE FROM ranking WHERE node = ?", name_to_text(node))

    def ask_again(self, annotator: str, node: Hashable) -> None:
        """Make a node whose answer was undone the question of the annotator who undid it."""
        why = Why.AUDIT if self.is_audit(node) else Why.UNDONE
        ((first,),) = self._ask("SELECT coalesce(min(place), 0) - 1 FROM leases WHERE annotator = ?", annotator)
        self._lease(annotator, first, name_to_text(node), why, 0, None, False)

    def renew(self, annotator: str, node: Hashable) -> bool:
        """Extend the leases of an annotator; False if a node is not (any longer) among them."""
        now = self._clock()
        self._ask("UPDATE leases SET until = ? WHERE annotator = ? AND until >= ?", now + LEASE_S, annotator, now)
        held = "SELECT 1 FROM leases WHERE annotator = ? AND node = ? AND until >= ?"
        return bool(self._ask(held, annotator, name_to_text(node), now))

    def use(self, ranking: Ranking) -> None:
        """Replace the ranking."""
        self.ranking = ranking
        self._ask("DELETE FROM ranking")
        has_model = ranking.probabilities is not None
        ranked = zip(ranking.nodes.tolist(), ranking.represents.tolist(), strict=True)
        for place, (node, represents) in enumerate(ranked):
            self._rank(place, node, Why.RANKED, represents, has_model)
        self._n_spares = 0

    def _left(self) -> float:
        """Return how many nodes may still be reserved until labels and reserved nodes reach the budget."""
        if self.budget is None:
            return float("inf")
        return self.budget - self.n_labelled() - int(self._ask(RESERVED)[0][0])

    def _leased(self, annotator: str) -> list[Question]:
        rows = self._ask(
            "SELECT node, why, rank, represents, has_model FROM leases WHERE annotator = ? ORDER BY place", annotator
        )
        return [Question(parse_label(row[0]), Why(row[1]), row[2], row[3], bool(row[4])) for row in rows]

    def _reserve(self, annotator: str, may_be_ranked: bool) -> bool:
        """Reserve the next node for an annotator; False if nothing is left for them.

        An audit node comes when none of the last four questions was one, and when nothing else is left.
        """
        recent = [is_audit for (is_audit,) in self._ask(RECENT, annotator)]
        is_due = len(recent) == AUDIT_INTERVAL - 1 and not any(recent)
        others = [Why.UNDONE, *([Why.COMPARED] if self.overlap > 1 else []), Why.RANKED] if may_be_ranked else []
        for why in [Why.AUDIT, *others] if is_due else [*others, Why.AUDIT]:
            found = self._ask(FIRST_FREE.format(SOURCES[why]), annotator, self.overlap)
            while not found and why is Why.RANKED and self._rank_spares():
                found = self._ask(FIRST_FREE.format(SOURCES[why]), annotator, self.overlap)
            if found:
                ((last,),) = self._ask("SELECT coalesce(max(place), 0) + 1 FROM leases WHERE annotator = ?", annotator)
                self._lease(annotator, last, *found[0])
                return True
        return False

    def _lease(self, annotator: str, place: int, node: str, *question: object) -> None:
        row = (annotator, node, place, self._clock() + LEASE_S, *question)
        self._ask("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)

    def _rank(self, place: int, position: int, why: Why, represents: int | None, has_model: bool) -> None:
        row = (place, name_to_text(self.graph.ids[position]), why, represents, has_model)
        self._ask("INSERT INTO ranking VALUES (?, ?, ?, ?, ?)", *row)

    def _rank_spares(self) -> bool:
        """Add more nodes to a ranking that runs out; False if there are none."""
        if self.ranking is None:
            return False
        has_model, first = self.ranking.probabilities is not None, len(self.ranking.nodes) + self._n_spares
        spares = self.ranking.spares[self._n_spares : self._n_spares + SPARES].tolist()
        for place, node in enumerate(spares, start=first):
            self._rank(place, node, Why.UNCERTAIN if has_model else Why.SIMILAR, None, has_model)
        self._n_spares += len(spares)
        return bool(spares)

    # What counts

    def decisions(self, nodes: Sequence[Hashable] | None = None) -> dict[Hashable, Decision]:
        """Return what counts for each node that has an answer, or for those of some nodes that have one."""
        if nodes is None or len(nodes) > MAX_LOOKUPS:
            rows = self._ask("SELECT node, label FROM held ORDER BY number")
        else:
            wanted = json.dumps([name_to_text(node) for node in nodes])
            rows = self._ask("SELECT node, label FROM held WHERE node IN (SELECT value FROM json_each(?))", wanted)
        labels: dict[str, set[str]] = {}
        for node, label in rows:
            labels.setdefault(node, set()).update([] if label is None else [label])
        return {
            node: decide(self.log.holding_of(node))
            if len(found) > 1
            else Decision(*map(parse_label, found or ["null"]))
            for node, found in zip(map(parse_label, labels), labels.values(), strict=True)
        }

    def labels(self, *, audit: bool = False, ties: bool = True) -> dict[Hashable, Hashable]:
        """Return the label of each labelled node outside the audit, or of each labelled audit node."""
        drawn = self.log.audit()
        return {
            node: each.label
            for node, each in self.decisions().items()
            if each.label is not None and (node in drawn) == audit and (ties or not each.is_tie)
        }

    def n_labelled(self) -> int:
        """Return the number of labelled nodes outside the audit."""
        ((count,),) = self._ask(LABELLED)
        return int(count)

    def n_apart(self) -> int:
        """Return the number of open disagreements."""
        ((count,),) = self._ask(f"SELECT count(DISTINCT node) FROM ({APART})")
        return int(count)

    def has_several_classes(self) -> bool:
        """Return whether there are labels of two classes."""
        ((is_so,),) = self._ask("SELECT min(label) < max(label) FROM held")
        return bool(is_so)

    def answered(self) -> list[Hashable]:
        """Return the nodes with a current answer, and the audit nodes."""
        return [parse_label(node) for (node,) in self._ask("SELECT node FROM held UNION SELECT node FROM audit")]

    def is_audit(self, node: Hashable) -> bool:
        """Return whether a node belongs to the audit."""
        return bool(self._ask("SELECT 1 FROM audit WHERE node = ?", name_to_text(node)))

    def history(self, annotator: str, limit: int) -> list[int]:
        """Return the event numbers of an annotator's current answers and verdicts, newest first."""
        rows = self._ask("SELECT number FROM held WHERE annotator = ? ORDER BY number DESC LIMIT ?", annotator, limit)
        return [number for (number,) in rows]

    def verdicts(self) -> list[int]:
        """Return the event numbers of the current verdicts."""
        return [number for (number,) in self._ask("SELECT number FROM held WHERE is_verdict ORDER BY number")]

    def apart(self, annotator: str | None = None) -> list[Disagreement]:
        """Return the open disagreements, except nodes that the annotator may still be asked for."""
        rows = self._ask(
            f"SELECT node, annotator, label FROM held WHERE label IS NOT NULL AND node IN ({APART}) ORDER BY number"
        )
        hidden = set() if annotator is None else self.hidden(annotator)
        found: dict[Hashable, dict[str, Hashable]] = {}
        for node, person, label in rows:
            found.setdefault(parse_label(node), {})[person] = parse_label(label)
        return [Disagreement(node, answers) for node, answers in found.items() if node not in hidden]

    def hidden(self, annotator: str) -> set[Hashable]:
        """Return the nodes that others have answered and the annotator may still be asked for."""
        if self.overlap == 1:
            return set()
        return {parse_label(node) for (node,) in self._ask(HIDDEN, self.overlap, annotator)}

    def people(self) -> dict[str, int]:
        """Return the number of answers of each person."""
        return dict(self._ask("SELECT annotator, count(*) FROM held WHERE NOT is_verdict GROUP BY annotator"))

    def hours(self) -> dict[dt.datetime, int]:
        """Return the number of answers in each hour."""
        rows = self._ask("SELECT hour, count(*) FROM held WHERE NOT is_verdict GROUP BY hour ORDER BY hour")
        return {dt.datetime.fromisoformat(f"{hour}:00:00+00:00"): count for hour, count in rows}

    def alpha(self) -> float | None:
        """Return Krippendorff's alpha; None where it is undefined."""
        given: dict[str, list[str]] = {}
        for node, label in self._ask("SELECT node, label FROM held WHERE NOT is_verdict AND label IS NOT NULL"):
            given.setdefault(node, []).append(label)
        return krippendorff_alpha(given.values())

    def _ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self.log.query(query, *values)


def _is_shared(node: str) -> bool:
    """Return whether several people label a node, chosen by a hash that is the same on every day."""
    digest = hashlib.blake2b(f"{SEED};{node}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) < SHARED_NODES * 2**32
