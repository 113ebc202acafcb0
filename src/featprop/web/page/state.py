"""The state of a session as SQL: temporary tables on the connection of the label log.

The events of the log are the only truth. The tables here are computed from them at the start, and for one node whenever
an event about it is written, in the same transaction; so every question is a query and nothing can disagree with the
log.

- ``answers``: current answers and verdicts. ``nodes``: what counts for each node that has or had an answer.
- ``audited``: audit nodes. ``classes``: the classes in the order of their keys.
- ``ranking``: nodes to ask for. ``shares``: nodes that several people label.
- ``leases``: the questions of each annotator, in order; the first one is on their screen.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.graph import UNKNOWN, Graph
from featprop.ids import name_to_text
from featprop.labels import Annotation, Kind, LabelLog
from featprop.labels.agreement import decide, group_by_node, krippendorff_alpha
from featprop.labels.log import ClassEntry, parse_label
from featprop.web.page.ranking import Ranking
from featprop.web.page.types import Question, Why

LEASE_S = 600.0
"""Time a node stays reserved without a sign of life."""
SHARED_NODES = 0.2
"""Share of the nodes that several people label if answers overlap."""
AUDIT_INTERVAL = 5
"""Every fifth question of a person is an audit question."""
SPARES = 500
"""Nodes added to the ranking when it runs out."""
TABLES = (
    """answers (number INTEGER PRIMARY KEY, position INTEGER NOT NULL, annotator TEXT NOT NULL, is_verdict INTEGER,
        label TEXT, hour TEXT)""",
    """nodes (position INTEGER PRIMARY KEY, label TEXT, answers INTEGER, labels INTEGER, is_tie INTEGER,
        is_settled INTEGER, is_audit INTEGER)""",
    "audited (position INTEGER PRIMARY KEY, place INTEGER)",
    "classes (place INTEGER PRIMARY KEY, label TEXT UNIQUE, key TEXT, description TEXT)",
    """ranking (place INTEGER PRIMARY KEY, position INTEGER UNIQUE, why TEXT, represents INTEGER, has_model INTEGER,
        is_answered INTEGER DEFAULT 0)""",
    "shares (position INTEGER PRIMARY KEY, people INTEGER)",
    """leases (annotator TEXT, position INTEGER, place INTEGER, until REAL, why TEXT, rank INTEGER, represents INTEGER,
        has_model INTEGER, PRIMARY KEY (annotator, position))""",
    "coverage (labels INTEGER PRIMARY KEY, distance REAL)",
)
INDEXES = (
    "answers_of_position ON answers (position)",
    "answers_of_annotator ON answers (annotator, number)",
    "undone ON nodes (position) WHERE answers = 0 AND NOT is_settled",
    "apart ON nodes (position) WHERE labels > 1 AND NOT is_settled",
    "labelled ON nodes (is_audit, label) WHERE label IS NOT NULL",
    "leases_of_position ON leases (position)",
    "unanswered ON ranking (place) WHERE NOT is_answered",
)
SOURCES = {
    Why.AUDIT: "SELECT position, place, 'audit' AS why, 0 AS rank, NULL AS represents, 0 AS has_model FROM audited",
    Why.UNDONE: """SELECT position, 0 AS place, 'undone' AS why, 0 AS rank, NULL AS represents, 0 AS has_model
        FROM nodes WHERE answers = 0 AND NOT is_settled AND NOT is_audit""",
    Why.COMPARED: """SELECT position, 0 AS place, 'compared' AS why, 0 AS rank, NULL AS represents, 0 AS has_model
        FROM shares JOIN nodes USING (position) WHERE answers > 0 AND answers < people AND NOT is_audit""",
    Why.RANKED: """SELECT position, place, why, CASE why WHEN 'ranked' THEN place + 1 ELSE 0 END AS rank, represents,
        has_model FROM ranking WHERE NOT is_answered""",
}
"""Where questions come from."""
FIRST_FREE = """
SELECT source.position, why, rank, represents, has_model FROM ({}) AS source
LEFT JOIN nodes USING (position) LEFT JOIN shares USING (position)
WHERE NOT coalesce(is_settled, 0)
AND coalesce(answers, 0) + (SELECT count(*) FROM leases WHERE leases.position = source.position) < coalesce(people, 1)
AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.position = source.position AND annotator = ?1)
AND NOT EXISTS (
    SELECT 1 FROM answers WHERE answers.position = source.position AND annotator = ?1 AND NOT is_verdict
)
ORDER BY source.place LIMIT 1
"""
"""First node of a source that an annotator may be asked for."""


class State:
    """Current answers, questions and classes of a session.

    Parameters
    ----------
    graph, log
        The graph and its label log.
    overlap
        Number of people who label each shared node.
    budget
        Number of labels wanted; None for all nodes.
    n_annotators
        Number of annotators.
    seed
        Seed of the choice of shared nodes.
    clock
        Monotonic clock of the leases.
    """

    def __init__(
        self,
        graph: Graph,
        log: LabelLog,
        *,
        overlap: int,
        budget: int | None,
        n_annotators: int,
        seed: int,
        clock: Callable[[], float],
    ) -> None:
        self.graph, self.log, self.overlap, self.budget, self.seed = graph, log, overlap, budget, seed
        self.n_annotators = n_annotators
        self.clock = clock
        self.ranking: Ranking | None = None
        log.query("PRAGMA temp_store = MEMORY")
        for table in TABLES:
            log.query(f"CREATE TEMP TABLE {table}")
        for index in INDEXES:
            log.query(f"CREATE INDEX temp.{index}")
        self.rebuild()

    def rebuild(self) -> None:
        """Compute all tables from the events."""
        for table in ("answers", "nodes", "audited", "shares"):
            self._ask(f"DELETE FROM temp.{table}")
        for place, node in enumerate(self.log.audit()):
            self._ask("INSERT INTO audited VALUES (?, ?)", self._position(node), place)
            self._share(self._position(node))
        for node, held in group_by_node(self.log.holding()).items():
            self._put(self._position(node), held)
        self.reload_classes()
        self._version = self._data_version()

    def reload_classes(self) -> None:
        """Read the classes from the log."""
        self._ask("DELETE FROM temp.classes")
        for place, each in enumerate(self.log.class_entries()):
            self._ask("INSERT INTO classes VALUES (?, ?, ?, ?)", place, name_to_text(each.name), *each[1:])

    def follow(self) -> None:
        """Read the log again if another process has written to it."""
        if self._data_version() != self._version:
            self.rebuild()

    def refresh(self, node: Hashable) -> None:
        """Compute what counts for a node from its events."""
        position = self._position(node)
        self._ask("DELETE FROM answers WHERE position = ?", position)
        self._put(position, self.log.holding_of(node))

    def _put(self, position: int, held: Iterable[Annotation]) -> None:
        held, labels = list(held), set()
        for each in held:
            label = None if each.label is None else name_to_text(each.label)
            is_verdict = each.kind is Kind.VERDICT
            assert each.time is not None
            hour = each.time.isoformat()[:13]
            row = (each.number, position, each.annotator, is_verdict, label, hour)
            self._ask("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", *row)
            if label is not None and not is_verdict:
                labels.add(label)
        decision = decide(held) if held else None
        counted = None if decision is None or decision.label is None else name_to_text(decision.label)
        is_settled = any(each.kind is Kind.VERDICT for each in held)
        self._ask(
            "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?)",
            position,
            counted,
            len(held) - is_settled,
            len(labels),
            decision is not None and decision.is_tie,
            is_settled,
            self.is_audit(position),
        )
        self._share(position)
        if held:
            shared = "SELECT position FROM shares"
            self._ask(f"UPDATE ranking SET is_answered = 1 WHERE position = ? AND position NOT IN ({shared})", position)

    # Questions

    def questions(self, annotator: str, ahead: int = 0) -> list[Question]:
        """Return the question of an annotator and up to `ahead` more; reserves nodes where there are too few.

        The question stays the same until it is answered. The list is empty if nothing is left.
        """
        self._ask("DELETE FROM leases WHERE until < ?", self.clock())
        found = self._leased(annotator)
        while len(found) <= ahead and (not found or self._may_reserve()) and self._reserve(annotator):
            found = self._leased(annotator)
        return found

    def release(self, annotator: str, node: Hashable) -> None:
        """Release a node that an annotator has answered."""
        self._ask("DELETE FROM leases WHERE annotator = ? AND position = ?", annotator, self._position(node))

    def ask_again(self, annotator: str, node: Hashable) -> None:
        """Make a node whose answer was undone the question of the annotator who undid it."""
        position = self._position(node)
        why = Why.AUDIT if self.is_audit(position) else Why.UNDONE
        ((first,),) = self._ask("SELECT coalesce(min(place), 0) - 1 FROM leases WHERE annotator = ?", annotator)
        self._lease(annotator, position, first, why, 0, None, False)

    def renew(self, annotator: str, node: Hashable) -> bool:
        """Extend the leases of an annotator; False if a node is not (any longer) among them."""
        now = self.clock()
        self._ask("UPDATE leases SET until = ? WHERE annotator = ? AND until >= ?", now + LEASE_S, annotator, now)
        held = "SELECT 1 FROM leases WHERE annotator = ? AND position = ? AND until >= ?"
        return bool(self._ask(held, annotator, self._position(node), now))

    def use(self, ranking: Ranking) -> None:
        """Replace the ranking."""
        self.ranking = ranking
        self._ask("DELETE FROM ranking")
        self._rank(ranking.n_ranked)
        if ranking.n_labels:
            self._ask("INSERT OR REPLACE INTO coverage VALUES (?, ?)", ranking.n_labels, ranking.mean_distance)

    def _leased(self, annotator: str) -> list[Question]:
        rows = self._ask(
            "SELECT position, why, rank, represents, has_model FROM leases WHERE annotator = ? ORDER BY place",
            annotator,
        )
        return [Question(self.id_of(row[0]), Why(row[1]), row[2], row[3], has_model=bool(row[4])) for row in rows]

    def _reserve(self, annotator: str) -> bool:
        """Reserve the next node for an annotator; False if nothing is left for them."""
        row = self._next(annotator)
        if row is not None:
            ((last,),) = self._ask("SELECT coalesce(max(place), 0) + 1 FROM leases WHERE annotator = ?", annotator)
            self._lease(annotator, row[0], last, *row[1:])
        return row is not None

    def _lease(self, annotator: str, position: int, place: int, *question: Any) -> None:
        row = (annotator, position, place, self.clock() + LEASE_S, *question)
        self._ask("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)

    def _next(self, annotator: str) -> tuple[Any, ...] | None:
        """Return the next node for an annotator: an audit node when it is due, or when nothing else is left."""
        others = [] if self._left() <= 0 else [Why.UNDONE, Why.COMPARED, Why.RANKED]
        order = [Why.AUDIT, *others] if self._is_turn_of_audit(annotator) else [*others, Why.AUDIT]
        for source in order:
            found = self._ask(FIRST_FREE.format(SOURCES[source]), annotator)
            while not found and source is Why.RANKED and self._rank(SPARES):
                found = self._ask(FIRST_FREE.format(SOURCES[source]), annotator)
            if found:
                return found[0]
        return None

    def _is_turn_of_audit(self, annotator: str) -> bool:
        """Return whether none of the annotator's last four questions was an audit question."""
        recent = self._ask(
            "SELECT position IN (SELECT position FROM audited) FROM ("
            "SELECT position, 1e9 + place AS place FROM leases WHERE annotator = ?1 UNION ALL "
            "SELECT position, number FROM answers WHERE annotator = ?1 AND NOT is_verdict"
            f") ORDER BY place DESC LIMIT {AUDIT_INTERVAL - 1}",
            annotator,
        )
        return len(recent) == AUDIT_INTERVAL - 1 and not any(is_audit for (is_audit,) in recent)

    def _left(self) -> float:
        """Return how many nodes may still be reserved until labels and reserved nodes reach the budget."""
        if self.budget is None:
            return float("inf")
        ((reserved,),) = self._ask(
            "SELECT count(DISTINCT position) FROM leases WHERE position NOT IN (SELECT position FROM audited) "
            "AND position NOT IN (SELECT position FROM nodes WHERE label IS NOT NULL)"
        )
        return self.budget - self.labelled() - int(reserved)

    def _may_reserve(self) -> bool:
        """Return whether enough is left to reserve a node in advance without taking it from someone else."""
        return self._left() >= self.n_annotators

    def _rank(self, count: int) -> bool:
        """Add up to `count` more nodes of the ranking; False if there are none."""
        if self.ranking is None:
            return False
        ((start,),) = self._ask("SELECT coalesce(max(place) + 1, 0) FROM ranking")
        rows = self.ranking.rows(start, start + count)
        for row in rows:
            self._ask("INSERT INTO ranking VALUES (?, ?, ?, ?, ?, 0)", *row)
            self._share(row[1])
        return bool(rows)

    def _share(self, position: int) -> None:
        """Note that several people label a node, chosen by a hash that is the same on every day."""
        if self.overlap > 1:
            text = f"{self.seed};{name_to_text(self.id_of(position))}"
            digest = hashlib.blake2b(text.encode(), digest_size=4).digest()
            if int.from_bytes(digest) < SHARED_NODES * 2**32:
                self._ask("INSERT OR IGNORE INTO shares VALUES (?, ?)", position, self.overlap)

    # What counts

    def labelled(self) -> int:
        """Return the number of labelled nodes outside the audit."""
        ((count,),) = self._ask("SELECT count(*) FROM nodes WHERE label IS NOT NULL AND NOT is_audit")
        return int(count)

    def labels(self, *, audit: bool = False, ties: bool = True) -> dict[Hashable, Hashable]:
        """Return the label of each labelled node outside the audit, or of each labelled audit node."""
        rows = self._ask(
            "SELECT position, label FROM nodes WHERE label IS NOT NULL AND is_audit = ? AND (? OR NOT is_tie)",
            audit,
            ties,
        )
        return {self.id_of(position): parse_label(label) for position, label in rows}

    def answered(self) -> list[Hashable]:
        """Return the nodes with a current answer, and the audit nodes."""
        rows = self._ask(
            "SELECT position FROM nodes WHERE answers > 0 OR is_settled UNION SELECT position FROM audited"
        )
        return [self.id_of(position) for (position,) in rows]

    def is_answered(self, position: int) -> bool:
        """Return whether a node has a current answer or belongs to the audit."""
        asked = (
            "SELECT 1 FROM nodes WHERE position = ?1 AND answers > 0 UNION SELECT 1 FROM audited WHERE position = ?1"
        )
        return bool(self._ask(asked, position))

    def is_audit(self, position: int) -> bool:
        """Return whether a node belongs to the audit."""
        return bool(self._ask("SELECT 1 FROM audited WHERE position = ?", position))

    def audit(self) -> list[Hashable]:
        """Return the audit nodes."""
        return [self.id_of(position) for (position,) in self._ask("SELECT position FROM audited ORDER BY place")]

    def history(self, annotator: str, limit: int) -> list[int]:
        """Return the event numbers of an annotator's current answers and verdicts, newest first."""
        rows = self._ask(
            "SELECT number FROM answers WHERE annotator = ? ORDER BY number DESC LIMIT ?", annotator, limit
        )
        return [number for (number,) in rows]

    def verdicts(self) -> list[int]:
        """Return the event numbers of the current verdicts."""
        return [number for (number,) in self._ask("SELECT number FROM answers WHERE is_verdict ORDER BY number")]

    def apart(self, hidden: Iterable[int] = ()) -> dict[Hashable, dict[str, Hashable]]:
        """Return the answers to nodes with different labels that no one has settled, except hidden ones."""
        found: dict[Hashable, dict[str, Hashable]] = {}
        left_out = set(hidden)
        rows = self._ask(
            "SELECT position, annotator, answers.label FROM nodes JOIN answers USING (position) "
            "WHERE labels > 1 AND NOT is_settled AND answers.label IS NOT NULL ORDER BY number"
        )
        for position, annotator, label in rows:
            if position not in left_out:
                found.setdefault(self.id_of(position), {})[annotator] = parse_label(label)
        return found

    def n_apart(self) -> int:
        """Return the number of nodes with different labels that no one has settled."""
        ((count,),) = self._ask("SELECT count(*) FROM nodes WHERE labels > 1 AND NOT is_settled")
        return int(count)

    def hidden(self, annotator: str) -> list[int]:
        """Return the positions of nodes that others have answered and the annotator may still be asked for."""
        if self.overlap == 1:
            return []
        rows = self._ask(
            "SELECT position FROM shares JOIN nodes USING (position) WHERE answers > 0 AND answers < people "
            "AND NOT is_settled AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.position = nodes.position "
            "AND annotator = ? AND NOT is_verdict)",
            annotator,
        )
        return [position for (position,) in rows]

    def codes(self) -> NDArray[np.intp]:
        """Return the class code of each node; -1 without a label."""
        codes = np.full(self.graph.n_nodes, UNKNOWN, dtype=np.intp)
        rows = self._ask("SELECT position, place FROM nodes JOIN classes USING (label)")
        if rows:
            positions, found = np.array(rows, dtype=np.intp).T
            codes[positions] = found
        return codes

    def class_entries(self) -> list[ClassEntry]:
        """Return the classes in the order of their keys."""
        rows = self._ask("SELECT label, key, description FROM classes ORDER BY place")
        return [ClassEntry(parse_label(label), key, description) for label, key, description in rows]

    def class_counts(self) -> dict[str, int]:
        """Return the number of labels of each class, by its name as text."""
        return dict(
            self._ask("SELECT label, count(*) FROM nodes WHERE label IS NOT NULL AND NOT is_audit GROUP BY label")
        )

    def n_skipped(self) -> int:
        """Return the number of nodes outside the audit that everyone skipped."""
        ((count,),) = self._ask("SELECT count(*) FROM nodes WHERE label IS NULL AND answers > 0 AND NOT is_audit")
        return int(count)

    def people(self) -> dict[str, int]:
        """Return the number of answers of each person."""
        return dict(self._ask("SELECT annotator, count(*) FROM answers WHERE NOT is_verdict GROUP BY annotator"))

    def hours(self) -> dict[dt.datetime, int]:
        """Return the number of answers in each hour."""
        rows = self._ask("SELECT hour, count(*) FROM answers WHERE NOT is_verdict GROUP BY hour ORDER BY hour")
        return {dt.datetime.fromisoformat(f"{hour}:00:00+00:00"): count for hour, count in rows}

    def alpha(self) -> float | None:
        """Return Krippendorff's alpha; None where it is undefined."""
        given: dict[int, list[str]] = {}
        rows = self._ask(
            "SELECT position, answers.label FROM nodes JOIN answers USING (position) "
            "WHERE nodes.answers > 1 AND NOT is_verdict AND answers.label IS NOT NULL"
        )
        for position, label in rows:
            given.setdefault(position, []).append(label)
        return krippendorff_alpha(given.values())

    def coverage(self) -> list[tuple[int, float]]:
        """Return the mean distance to the nearest labelled node by number of labels."""
        return [(labels, distance) for labels, distance in self._ask("SELECT * FROM coverage ORDER BY labels")]

    def id_of(self, position: int) -> Hashable:
        """Return the id of a node."""
        name = self.graph.ids[position]
        found: Hashable = name.item() if hasattr(name, "item") else name
        return found

    def _position(self, node: Hashable) -> int:
        return int(self.graph.positions([node])[0])

    def _data_version(self) -> int:
        return int(self._ask("PRAGMA data_version")[0][0])

    def _ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self.log.query(query, *values)
