"""The label log: every event of labelling in one SQLite file, never changed and never lost.

An event (label, skip, verdict, undo, note, audit, class, rename, ask) is a row; triggers refuse to change or delete
one. Views compute what holds now: the last answer of each annotator for each node, the last verdict of each node, the
audited nodes. `featprop.labels.agreement` decides which label counts where people differ. An event sent twice under the
same key is written once; another event under that key is refused.

Nodes and labels are stored as JSON with their types (`featprop.ids`).
"""

from __future__ import annotations

import datetime as dt
import json
import math
import uuid
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from featprop.errors import LabelError, first_five
from featprop.ids import is_missing, name_from_text, name_to_text
from featprop.labels.agreement import Consensus, consensus, pool_audits
from featprop.labels.annotation import Annotation, Kind, is_same, time_to_text, to_milliseconds
from featprop.labels.store import EventStore

COLUMNS = "number, key, time, annotator, round, kind, node, label, text, source, undoes"
NAMING = frozenset({Kind.LABEL, Kind.VERDICT, Kind.CLASS, Kind.RENAME, Kind.DESCRIBE, Kind.REMOVE})
"""Kinds that name a class."""
LAST_HELD = """
SELECT {} FROM standing AS held WHERE annotator = ? AND NOT (kind = 'adjudicate' AND EXISTS (
    SELECT 1 FROM standing WHERE node = held.node AND kind = held.kind AND number > held.number
)) ORDER BY number DESC LIMIT 1
"""
"""The last event of a person that holds: a verdict that a later one replaced does not."""
KINDS = {str(kind): kind for kind in Kind}
OPTIONAL_INT, OPTIONAL_STR = (int, type(None)), (str, type(None))
parse_label = lru_cache(maxsize=10_000)(name_from_text)


class ClassEntry(NamedTuple):
    """A class, its key on the keyboard (empty if it follows from the order), and its description."""

    name: Hashable
    key: str = ""
    description: str = ""


class Outcome(NamedTuple):
    """The result of an event.

    Attributes
    ----------
    node
        The node it is about.
    before
        What it replaced: the annotator's earlier answer or the earlier verdict; None if nothing.
    held
        Answers and verdict of the node that hold now.
    """

    node: Hashable
    before: Annotation | None
    held: tuple[Annotation, ...]


@dataclass(frozen=True)
class Added:
    """What `LabelLog.add` did with annotations from elsewhere.

    Attributes
    ----------
    counts
        Number of added annotations by kind.
    repeated
        Number that hold in the log already.
    superseded
        Number that were in the log before, or are older than what the same person says now.
    known_audit
        Number of audited nodes that were not added as such.
    """

    counts: Counter[Kind]
    repeated: int = 0
    superseded: int = 0
    known_audit: int = 0


class LabelLog(EventStore):
    """The annotations of a graph's nodes.

    Parameters
    ----------
    path
        The file, created if it does not exist; None to keep the annotations in memory.
    read_only
        Whether to open the file for reading only, even where nothing can be written.
    exclusive
        Whether to refuse a log that another process has opened exclusively, such as a labelling server.

    Examples
    --------
    >>> log = LabelLog()
    >>> _ = log.answer("a", "fraud", annotator="ada")
    >>> _ = log.answer("a", "ok", annotator="bob")
    >>> log.consensus().ties
    frozenset({'a'})
    """

    def answer(
        self,
        node: Hashable,
        label: Hashable,
        *,
        annotator: str = "",
        round: int = 0,
        key: str | None = None,
        source: str = "",
    ) -> Outcome:
        """Add a label, which replaces an earlier answer of the same annotator."""
        _check_classes({node: label})
        return self._hold(Annotation(node, label, annotator=annotator, round=round, source=source), key)

    def skip(
        self,
        node: Hashable,
        reason: str = "",
        *,
        annotator: str = "",
        round: int = 0,
        key: str | None = None,
        source: str = "",
    ) -> Outcome:
        """Record that the annotator cannot label a node; an earlier label of theirs no longer holds."""
        skipped = Annotation(node, None, Kind.SKIP, annotator, round=round, source=source, text=reason)
        return self._hold(skipped, key)

    def adjudicate(
        self, node: Hashable, label: Hashable, *, annotator: str = "", round: int = 0, key: str | None = None
    ) -> Outcome:
        """Settle the label of a node: it counts, whatever anybody answers, until it is undone or settled again."""
        _check_classes({node: label})
        return self._hold(Annotation(node, label, Kind.VERDICT, annotator, round=round), key)

    def tell(
        self, labels: Mapping[Hashable, Hashable], *, annotator: str = "", round: int = 0, keys: Mapping[Any, str] = {}
    ) -> None:
        """Add labels, all or none; refuse one that contradicts the annotator's own label.

        Parameters
        ----------
        labels
            Class of each node.
        annotator
            Who says so.
        round
            Number of times nodes have been asked for.
        keys
            Idempotency key of each label, by node.
        """
        _check_classes(labels)
        with self._transaction():
            for node, label in labels.items():
                new = Annotation(node, label, annotator=annotator, round=round)
                if self._was_sent(new, keys.get(node)):
                    continue
                before = self._current(node, annotator)
                is_label = before is not None and before.kind is Kind.LABEL
                if before is not None and is_label and not is_same(before.label, label):
                    raise LabelError(
                        f"Node {node!r} is already labelled {before.label!r}, not {label!r}.",
                        hint="Call `correct` to change a label.",
                        node=node,
                        value=label,
                    )
                if not is_label or node in keys:
                    self._write(new, keys.get(node))

    def hold(self, annotations: Iterable[Annotation]) -> None:
        """Make answers and verdicts hold, all or none, and add notes: what holds already is not written again."""
        with self._transaction():
            for each in annotations:
                if each.kind is Kind.NOTE:
                    before = next((note for note in self.notes_of(each.node) if each.says_same(note)), None)
                else:
                    before = self._current(each.node, None if each.kind is Kind.VERDICT else each.annotator)
                if not each.says_same(before):
                    self._write(each, None)

    def note(
        self, node: Hashable, text: str, *, annotator: str = "", round: int = 0, key: str | None = None
    ) -> Annotation | None:
        """Add a note to a node and return it; None if it was sent before."""

        def write() -> Annotation | None:
            new = Annotation(node, None, Kind.NOTE, annotator, round=round, text=text)
            return None if self._was_sent(new, key) else self._write(new, key)

        return self.write_together(write)

    def undo(self, *, annotator: str = "", round: int = 0, key: str | None = None) -> Annotation | None:
        """Undo the annotator's last answer or verdict that holds and return it; None if there is none."""

        def write() -> Annotation | None:
            for sent in self._select("SELECT {} FROM events WHERE key = ?", key):
                self._was_sent(replace(sent, kind=Kind.UNDO, annotator=annotator), key)
                undone = self._select("SELECT {} FROM events WHERE number = ?", sent.undoes)
                return undone[0] if undone else None
            last = self._select(LAST_HELD, annotator)
            if last:
                undo = Annotation(last[0].node, None, Kind.UNDO, annotator, round=round, undoes=last[0].number)
                self._write(undo, key)
            elif key is not None:
                self._write(Annotation(None, None, Kind.UNDO, annotator, round=round), key)
            return last[0] if last else None

        return self.write_together(write)

    def name_classes(self, classes: Iterable[Hashable], *, annotator: str = "") -> None:
        """Record the classes and their order, unless the log has them in this order already."""
        named = list(classes)
        _check_classes(dict(enumerate(named)))
        with self._transaction():
            if list(map(name_to_text, named)) != list(map(name_to_text, self.classes())):
                for label in named:
                    self._write(Annotation(None, label, Kind.CLASS, annotator), None)

    def rename_class(self, old: Hashable, new: Hashable, *, annotator: str = "") -> None:
        """Rename a class in all annotations so far; to merge two classes, rename one to the other."""
        _check_classes({old: new})
        with self._transaction():
            if name_to_text(old) not in map(name_to_text, self.classes()):
                raise LabelError(f"The label log has no class {old!r}.", value=old)
            self._write(Annotation(None, new, Kind.RENAME, annotator, text=name_to_text(old)), None)

    def describe_class(self, name: Hashable, *, key: str = "", description: str = "", annotator: str = "") -> None:
        """Record the key and the description of a class, unless the log has them already."""
        _check_classes({name: name})
        with self._transaction():
            if ClassEntry(name, key, description) not in self.class_entries():
                text = json.dumps({"key": key, "description": description})
                self._write(Annotation(None, name, Kind.DESCRIBE, annotator, text=text), None)

    def remove_class(self, name: Hashable, *, annotator: str = "") -> None:
        """Remove a class that no current answer uses."""
        with self._transaction():
            used = [each.node for each in self.holding() if each.label is not None and is_same(each.label, name)]
            if used:
                count = f"{len(used):,} {'answer uses' if len(used) == 1 else 'answers use'}"
                message = f"The class {name!r} cannot be removed: {count} it."
                raise LabelError(message, hint="Merge it into another class instead.", node=used[0], value=name)
            if name_to_text(name) not in map(name_to_text, self.classes()):
                raise LabelError(f"The label log has no class {name!r}.", value=name)
            self._write(Annotation(None, name, Kind.REMOVE, annotator), None)

    def add(self, annotations: Iterable[Annotation]) -> Added:
        """Add annotations from elsewhere, such as `featprop.labels.read` returns, all or none, with their times.

        Adding the same annotations twice changes nothing, whatever happened in between: an annotation that was added
        once is not added again, nor is one that is older than what the same person says now. Uniform audits are pooled.
        """
        found = list(getattr(annotations, "annotations", annotations))
        with self._transaction():
            before = self.audit()
            results = [(each.kind, self._add(each)) for each in found]
            drawn = self.audit()
            new = {node: weight for node, weight in drawn.items() if node not in before}
            for node, weight in pool_audits([before, new]).items():
                if drawn[node] != weight:
                    self._write(Annotation(node, None, Kind.AUDIT, text=repr(weight)), None)
        others = [result for kind, result in results if kind is not Kind.AUDIT]
        return Added(
            Counter(kind for kind, result in results if result == "added"),
            others.count("repeated"),
            others.count("superseded"),
            sum(kind is Kind.AUDIT and result != "added" for kind, result in results),
        )

    def draw_audit(self, weights: Mapping[Hashable, float], *, annotator: str = "", round: int = 0) -> None:
        """Mark nodes as drawn for an audit, all or none: no model learns from their labels.

        Parameters
        ----------
        weights
            Number of nodes each stands for. A node drawn before gets the new weight.
        annotator
            Who drew them.
        round
            Number of times nodes have been asked for.
        """
        with self._transaction():
            before, labelled = self.audit(), self.labels()
            found = [node for node in weights if node in labelled]
            if found:
                listed = first_five([repr(node) for node in found])
                raise LabelError(f"Nodes drawn for an audit already have labels: {listed}.", node=found[0])
            for node, weight in weights.items():
                if before.get(node) != float(weight):
                    drawn = Annotation(node, None, Kind.AUDIT, annotator, round=round, text=repr(float(weight)))
                    self._write(drawn, None)

    def release_audit(self, *, annotator: str = "", round: int = 0) -> dict[Hashable, float]:
        """Turn the labels of the audit into ordinary labels, and return the nodes that were in it."""
        with self._transaction():
            released = self.audit()
            if released:
                self._write(Annotation(None, None, Kind.RELEASE, annotator, round=round), None)
            return released

    def audit(self) -> dict[Hashable, float]:
        """Return the audited nodes and how many nodes each stands for."""
        return {each.node: float(each.text) for each in self._select("SELECT {} FROM audit ORDER BY number")}

    def released(self) -> set[Hashable]:
        """Return the nodes that were audited once and are no longer."""
        drawn = {each.node for each in self._select("SELECT {} FROM events WHERE kind = 'audit'")}
        return drawn - self.audit().keys()

    def audited(self) -> dict[Hashable, Hashable]:
        """Return the label of each audited node that has one."""
        drawn = self.audit()
        labels = self.consensus().labels if drawn else {}
        return {node: label for node, label in labels.items() if node in drawn}

    def save_round(self, nodes: Iterable[Hashable], state: Mapping[str, Any], round: int) -> None:
        """Record that nodes were asked for in a round, and the state of the learner after it.

        If another learner has recorded a round since the last one of this learner, nothing is recorded.
        """
        with self._transaction():
            before = self.learner_state()
            if before is not None and before["rounds"] != round - 1:
                message = f"Another learner has recorded round {before['rounds']:,} in this label log."
                raise LabelError(message, hint="Continue with a new learner of the same log.", value=round)
            for node in nodes:
                self._write(Annotation(node, None, Kind.ASK, round=round), None)
            self._write(Annotation(None, None, Kind.LEARNER, round=round, text=json.dumps(state)), None)

    def learner_state(self) -> dict[str, Any] | None:
        """Return the last state that `save_round` recorded; None if there is none."""
        found = self._select("SELECT {} FROM events WHERE kind = 'learner' ORDER BY number DESC LIMIT 1")
        state: dict[str, Any] | None = json.loads(found[0].text) if found else None
        return state

    def asked(self) -> list[Hashable]:
        """Return the nodes that were asked for and have no answer."""
        asked = dict.fromkeys(each.node for each in self._select("SELECT {} FROM events WHERE kind = 'ask'"))
        answered = {each.node for each in self.holding()} if asked else set()
        return [node for node in asked if node not in answered]

    def events(self) -> list[Annotation]:
        """Return every event, in order."""
        return self._select("SELECT {} FROM events ORDER BY number")

    def classes(self) -> list[Hashable]:
        """Return the classes: those named, in the order of the last naming, then those used as a label."""
        return [each.name for each in self.class_entries()]

    def class_entries(self) -> list[ClassEntry]:
        """Return the classes as `classes` does, each with its key and description."""
        named: dict[str, Hashable] = {}
        used: dict[str, Hashable] = {}
        details: dict[str, Any] = {}
        events = self._select(
            "WITH uses (first, last) AS (SELECT min(number), max(number) FROM events "
            "WHERE kind IN ('label', 'adjudicate', 'rename') GROUP BY label) "
            "SELECT {} FROM events WHERE kind IN ('class', 'remove', 'describe') "
            "OR number IN (SELECT first FROM uses UNION SELECT last FROM uses) ORDER BY number"
        )
        for each in events:
            name = name_to_text(each.label)
            if each.kind is Kind.REMOVE:
                named.pop(name, None), used.pop(name, None)
            elif each.kind is Kind.CLASS:
                named.pop(name, None)
                named[name] = each.label
            elif each.kind is Kind.DESCRIBE:
                details[name] = json.loads(each.text)
            else:
                used[name] = each.label
        return [
            ClassEntry(label, **details.get(name, {"key": "", "description": ""}))
            for name, label in {**named, **used}.items()
        ]

    def answers(self) -> list[Annotation]:
        """Return the answers that hold, one per node and annotator, in the order the nodes first came up."""
        return [each for each in self.holding() if each.kind is not Kind.VERDICT]

    def holding(self) -> list[Annotation]:
        """Return the answers and verdicts that hold, in the order the nodes first came up."""
        last: dict[str, dict[str | None, tuple[Any, ...]]] = {}
        for row in self.query(f"SELECT {COLUMNS} FROM standing ORDER BY number"):
            annotator, kind, node = row[3], row[5], row[6]
            of_node = last.setdefault(node, {})
            of_node.pop(place := None if kind == Kind.VERDICT else annotator, None)  # keeps the order of numbers
            of_node[place] = row
        return self._parse([row for of_node in last.values() for row in of_node.values()])

    def holding_of(self, node: Hashable) -> list[Annotation]:
        """Return the answers and the verdict of one node that hold; takes no longer in a long log."""
        return list(self._held(node).values())

    def numbered(self, numbers: Sequence[int]) -> list[Annotation]:
        """Return the events with these numbers, in the order of the numbers given."""
        found = self._select(
            "SELECT {} FROM events WHERE number IN (SELECT value FROM json_each(?))", json.dumps(numbers)
        )
        by_number = {each.number: each for each in found}
        return [by_number[number] for number in numbers]

    def consensus(self) -> Consensus:
        """Return the label that counts for each node (`featprop.labels.agreement`)."""
        return consensus(self.holding())

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label that counts for each node, without audited nodes."""
        drawn = self.audit()
        return {node: label for node, label in self.consensus().labels.items() if node not in drawn}

    def skips(self) -> dict[Hashable, str]:
        """Return the nodes that everybody skipped, and the reason."""
        return self.consensus().skips

    def notes(self) -> list[tuple[Hashable, str]]:
        """Return all notes with their nodes."""
        return [(each.node, each.text) for each in self._select("SELECT {} FROM events WHERE kind = 'note'")]

    def notes_of(self, node: Hashable) -> list[Annotation]:
        """Return the notes on a node."""
        return self._select(
            "SELECT {} FROM events WHERE node = ? AND kind = 'note' ORDER BY number", name_to_text(node)
        )

    @property
    def last(self) -> int:
        """Number of the last event that changes what a node is; 0 if there is none."""
        rows = self.query(
            "SELECT number FROM events WHERE kind NOT IN ('note', 'class', 'describe', 'remove', 'ask', 'learner') "
            "ORDER BY number DESC LIMIT 1"
        )
        number: int = rows[0][0] if rows else 0
        return number

    def _select(self, query: str, *values: object) -> list[Annotation]:
        return self._parse(self.query(query.replace("{}", COLUMNS), *values))

    def _parse(self, rows: list[tuple[Any, ...]]) -> list[Annotation]:
        """Return events with the class names that renames gave them."""
        with self._lock:
            try:
                found = [_parse_event(row) for row in rows]
                renames = [
                    _parse_event(row) for row in self.query(f"SELECT {COLUMNS} FROM events WHERE kind = 'rename'")
                ]
            except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
                raise self._failure(error) from error
        return [_rename(each, renames) for each in found] if renames else found

    def _hold(self, new: Annotation, key: str | None) -> Outcome:
        """Write an answer or verdict, unless it holds already and has no key."""

        def write() -> Outcome:
            held = self._held(new.node)
            place = None if new.kind is Kind.VERDICT else new.annotator
            before = held.get(place)
            is_repeated = key is None and new.says_same(before) and before is not None and before.text == new.text
            if not self._was_sent(new, key) and not is_repeated:
                held[place] = self._write(new, key)
            return Outcome(new.node, before, tuple(held.values()))

        return self.write_together(write)

    def _held(self, node: Hashable) -> dict[str | None, Annotation]:
        """Return the answers to a node by annotator, and the verdict by None."""
        found = self._select("SELECT {} FROM standing WHERE node = ? ORDER BY number", name_to_text(node))
        return {None if each.kind is Kind.VERDICT else each.annotator: each for each in found}

    def _current(self, node: Hashable, annotator: str | None) -> Annotation | None:
        return self._held(node).get(annotator)

    def _add(self, new: Annotation) -> str:
        """Add an annotation from elsewhere inside a transaction, and return what happened to it."""
        if new.kind is Kind.AUDIT:
            return self._add_draw(new)
        query = "SELECT {} FROM events WHERE node = ? AND annotator = ? AND kind != 'undo'"
        alike = [each for each in self._select(query, name_to_text(new.node), new.annotator) if new.says_same(each)]
        if new.kind is Kind.NOTE:
            before = alike[0] if alike else None
        else:
            before = self._current(new.node, None if new.kind is Kind.VERDICT else new.annotator)
        if new.says_same(before):
            return "repeated"
        key = new.import_key()
        is_older = before is not None and before.time and new.time is not None and new.time < before.time
        was_added = bool(self.query("SELECT 1 FROM events WHERE key = ?", key))
        if is_older or was_added or any(each.time == new.time for each in alike):
            return "superseded"
        was_edited = before is not None and before.time == new.time
        self._write(replace(new, time=None if was_edited else new.time), key)
        return "added"

    def _add_draw(self, new: Annotation) -> str:
        """Add that a node was drawn elsewhere, unless it is or was in the audit here, or has a label."""
        if self.audit().get(new.node) == float(new.text):
            return "repeated"
        drawn = self.query("SELECT 1 FROM events WHERE node = ? AND kind = 'audit'", name_to_text(new.node))
        if drawn or any(each.kind is not Kind.SKIP for each in self.holding_of(new.node)):
            return "superseded"
        self._write(new, new.import_key())
        return "added"

    def _was_sent(self, new: Annotation, key: str | None) -> bool:
        """Return whether this event is in the log under its key; another event under that key is an error."""
        if key is None:
            return False
        sent = self.query("SELECT kind, annotator, node, label, text, undoes FROM events WHERE key = ?", key)
        if not sent:
            return False
        kind, annotator, node, label, text, _, undoes = _values(new)
        if sent[0] != (kind, annotator, node, label, text, undoes):
            raise LabelError(
                f"The key {key!r} already belongs to another event ({sent[0][0]} of {sent[0][2]}).",
                hint="Use a new key for each event. If you answered already, change it under Your answers.",
                node=new.node,
                value=key,
            )
        return True

    def _write(self, new: Annotation, key: str | None) -> Annotation:
        """Write one event inside a transaction."""
        time, name = to_milliseconds(new.time or dt.datetime.now(dt.UTC)), key or uuid.uuid4().hex
        number = self._connection.execute(
            "INSERT INTO events (key, time, round, kind, annotator, node, label, text, source, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (name, time_to_text(time), new.round, *_values(new)),
        ).lastrowid
        assert number is not None
        return replace(new, number=number, key=name, time=time)


def _values(new: Annotation) -> tuple[Any, ...]:
    """Return the columns of an event that say what it does."""
    label = None if new.label is None else name_to_text(new.label)
    return str(new.kind), new.annotator, name_to_text(new.node), label, new.text, new.source, new.undoes


def _parse_event(row: tuple[Any, ...]) -> Annotation:
    """Return the event in a row; one that featprop did not write is a `ValueError`."""
    number, key, time, annotator, round_, kind, node, label, text, source, undoes = row
    texts = {type(key), type(time), type(annotator), type(kind), type(node), type(text), type(source)}
    if texts != {str} or type(round_) is not int or type(undoes) not in OPTIONAL_INT or type(label) not in OPTIONAL_STR:
        raise ValueError(f"event {number} has values of wrong types")
    known, name, when = KINDS[kind], None if label is None else parse_label(label), dt.datetime.fromisoformat(time)
    is_whole = name is not None or known not in NAMING
    if not is_whole or when.tzinfo is None or (known is Kind.AUDIT and not 0 < float(text) < math.inf):
        raise ValueError(f"event {number} is incomplete")
    return Annotation(name_from_text(node), name, known, annotator, when, round_, source, key, text, number, undoes)


def _rename(each: Annotation, renames: Iterable[Annotation]) -> Annotation:
    """Return an annotation with the class name that later renames gave it."""
    if each.label is None or each.kind is Kind.RENAME:
        return each
    label = each.label
    for rename in renames:
        if rename.number > each.number and name_to_text(label) == rename.text:
            assert rename.label is not None
            label = rename.label
    return replace(each, label=label)


def _check_classes(labels: Mapping[Hashable, Hashable]) -> None:
    for node, label in labels.items():
        if is_missing(label):
            raise LabelError(f"The label of node {node!r} is missing ({label!r}).", node=node, value=label)
