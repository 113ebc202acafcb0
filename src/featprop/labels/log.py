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
import uuid
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypedDict, Unpack

from featprop.errors import LabelError, first_five
from featprop.ids import is_missing, name_from_text, name_to_text
from featprop.labels.agreement import Consensus, consensus, pool_audits
from featprop.labels.annotation import Annotation, Kind, is_same, time_to_text, to_milliseconds
from featprop.labels.store import EventStore

COLUMNS = "node, label, kind, annotator, time, round, source, key, text, number, undoes"
"""The fields of an annotation, which are the columns of the table."""
USE = "kind IN ('label', 'adjudicate', 'rename')"
NAMINGS = f"""
WITH RECURSIVE used (label) AS (
    SELECT min(label) FROM events WHERE {USE}
    UNION ALL
    SELECT (SELECT min(label) FROM events WHERE {USE} AND label > used.label) FROM used WHERE label IS NOT NULL
)
SELECT {{}} FROM events WHERE number IN (
    SELECT number FROM events WHERE kind IN ('class', 'remove', 'describe')
    UNION SELECT (SELECT min(number) FROM events WHERE {USE} AND label = used.label) FROM used
    UNION SELECT (SELECT max(number) FROM events WHERE {USE} AND label = used.label) FROM used
) ORDER BY number
"""
"""The events that say which classes there are: those about classes, and the first and last use of each label."""
parse_label = lru_cache(maxsize=10_000)(name_from_text)


class ClassEntry(NamedTuple):
    """A class, its key on the keyboard (empty if it follows from the order), and its description."""

    name: Hashable
    key: str = ""
    description: str = ""


class Details(TypedDict, total=False):
    """Who answers, the number of rounds by then, where the answer comes from, and its idempotency key."""

    annotator: str
    round: int
    source: str
    key: str


@dataclass(frozen=True)
class Imported:
    """What happened to annotations from elsewhere.

    Attributes
    ----------
    taken
        Number of labels and verdicts added.
    skipped
        Number of skips added.
    notes
        Number of notes added.
    audit, known_audit
        Number of audited nodes added, and of those that the log has already or has labels of.
    repeated
        Number of annotations that hold in the log already.
    superseded
        Number of annotations that were imported before, or are older than what the same person says now.
    unanswered
        Number of nodes listed without an answer.
    unknown_nodes
        Nodes that are not in the graph.
    unknown_classes
        Labels that are not among the classes.
    unclear
        What else was left out, in a few words each.
    """

    taken: int = 0
    skipped: int = 0
    notes: int = 0
    audit: int = 0
    known_audit: int = 0
    repeated: int = 0
    superseded: int = 0
    unanswered: int = 0
    unknown_nodes: tuple[Hashable, ...] = ()
    unknown_classes: tuple[Hashable, ...] = ()
    unclear: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether nothing of the file is in the log."""
        said = self.taken + self.skipped + self.notes + self.repeated + self.superseded
        return not said + self.audit + self.known_audit


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

    def append(self, new: Annotation) -> Annotation | None:
        """Add an answer, a verdict or a note, and return what it replaces; None if nothing.

        What holds already is not written again, nor what was sent before under its key.
        """
        if new.kind in (Kind.LABEL, Kind.VERDICT):
            _check_class(new.label, new.node)

        def write() -> Annotation | None:
            before = self._before(new)
            holds = not new.key and before is not None and new.says_same(before) and new.text == before.text
            if not self._was_sent(new) and not holds:
                self._write(new)
            return before

        return self.write_together(write)

    def extend(self, annotations: Iterable[Annotation]) -> None:
        """Add annotations as `append` does, all or none."""
        with self._transaction():
            for each in annotations:
                self.append(each)

    def answer(self, node: Hashable, label: Hashable, **details: Unpack[Details]) -> Annotation | None:
        """Add a label, which replaces an earlier answer of the same annotator, and return that answer."""
        return self.append(Annotation(node, label, **details))

    def skip(self, node: Hashable, reason: str = "", **details: Unpack[Details]) -> Annotation | None:
        """Record that the annotator cannot label a node, and return their earlier answer, which no longer holds."""
        return self.append(Annotation(node, None, Kind.SKIP, text=reason, **details))

    def adjudicate(self, node: Hashable, label: Hashable, **details: Unpack[Details]) -> Annotation | None:
        """Settle the label of a node: it counts, whatever anybody answers, until it is undone or settled again."""
        return self.append(Annotation(node, label, Kind.VERDICT, **details))

    def note(self, node: Hashable, text: str, **details: Unpack[Details]) -> None:
        """Add a note to a node."""
        self.append(Annotation(node, None, Kind.NOTE, text=text, **details))

    def tell(self, labels: Mapping[Hashable, Hashable], **details: Unpack[Details]) -> None:
        """Add the label of each node, all or none; refuse one that contradicts the annotator's own label."""
        with self._transaction():
            for node, label in labels.items():
                new = Annotation(node, label, **details)
                before = self._before(new)
                if before is not None and before.kind is Kind.LABEL and not is_same(before.label, label):
                    raise LabelError(
                        f"Node {node!r} is already labelled {before.label!r}, not {label!r}.",
                        hint="Call `correct` to change a label.",
                        node=node,
                        value=label,
                    )
                self.append(new)

    def undo(self, *, annotator: str = "", round: int = 0, key: str = "") -> Annotation | None:
        """Undo the annotator's last answer or verdict that holds and return it; None if there is none."""

        def write() -> Annotation | None:
            for sent in self._select("SELECT {} FROM events WHERE key = ?", key):
                self._was_sent(replace(sent, kind=Kind.UNDO, annotator=annotator))
                return next(iter(self.numbered([sent.undoes] if sent.undoes else [])), None)
            query = "SELECT {} FROM holding WHERE annotator = ? ORDER BY number DESC LIMIT 1"
            last = next(iter(self._select(query, annotator)), None)
            undo = Annotation(None, None, Kind.UNDO, annotator, round=round, key=key)
            if last is not None:
                self._write(replace(undo, node=last.node, undoes=last.number))
            elif key:
                self._write(undo)
            return last

        return self.write_together(write)

    def name_classes(self, classes: Iterable[Hashable], *, annotator: str = "") -> None:
        """Record the classes in their order, unless the log has them in this order already."""
        named = list(classes)
        for label in named:
            _check_class(label)
        with self._transaction():
            if list(map(name_to_text, named)) != list(map(name_to_text, self.classes())):
                for label in named:
                    self._write(Annotation(None, label, Kind.CLASS, annotator))

    def rename_class(self, old: Hashable, new: Hashable, *, annotator: str = "") -> None:
        """Rename a class in all annotations so far; to merge two classes, rename one to the other."""
        _check_class(new)
        with self._transaction():
            self._check_has_class(old)
            self._write(Annotation(None, new, Kind.RENAME, annotator, text=name_to_text(old)))

    def describe_class(self, name: Hashable, *, key: str = "", description: str = "", annotator: str = "") -> None:
        """Record the key and the description of a class, unless the log has them already."""
        _check_class(name)
        with self._transaction():
            if ClassEntry(name, key, description) not in self.class_entries():
                text = json.dumps({"key": key, "description": description})
                self._write(Annotation(None, name, Kind.DESCRIBE, annotator, text=text))

    def remove_class(self, name: Hashable, *, annotator: str = "") -> None:
        """Remove a class that no current answer uses."""
        with self._transaction():
            used = [each.node for each in self.holding() if each.label is not None and is_same(each.label, name)]
            if used:
                count = f"{len(used):,} {'answer uses' if len(used) == 1 else 'answers use'}"
                message = f"The class {name!r} cannot be removed: {count} it."
                raise LabelError(message, hint="Merge it into another class instead.", node=used[0], value=name)
            self._check_has_class(name)
            self._write(Annotation(None, name, Kind.REMOVE, annotator))

    def add(self, annotations: Iterable[Annotation]) -> Imported:
        """Add annotations from elsewhere, such as `featprop.labels.read` returns, all or none, with their times.

        Adding the same annotations twice changes nothing, whatever happened in between: an annotation that was added
        once is not added again, nor is one that is older than what the same person says now. Uniform audits are pooled.
        """
        found = list(getattr(annotations, "annotations", annotations))
        with self._transaction():
            before = self.audit()
            results = Counter((each.kind, self._add(each)) for each in found)
            drawn = self.audit()
            new = {node: weight for node, weight in drawn.items() if node not in before}
            for node, weight in pool_audits([before, new]).items():
                if drawn[node] != weight:
                    self._write(Annotation(node, None, Kind.AUDIT, text=repr(weight)))

        def count(result: str) -> int:
            return sum(times for (kind, what), times in results.items() if what == result and kind is not Kind.AUDIT)

        audit = results[Kind.AUDIT, "added"]
        return Imported(
            taken=results[Kind.LABEL, "added"] + results[Kind.VERDICT, "added"],
            skipped=results[Kind.SKIP, "added"],
            notes=results[Kind.NOTE, "added"],
            audit=audit,
            known_audit=len({each.node for each in found if each.kind is Kind.AUDIT}) - audit,
            repeated=count("repeated"),
            superseded=count("superseded"),
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
                    self._write(Annotation(node, None, Kind.AUDIT, annotator, round=round, text=repr(float(weight))))

    def release_audit(self, *, annotator: str = "", round: int = 0) -> dict[Hashable, float]:
        """Turn the labels of the audit into ordinary labels, and return the nodes that were in it."""
        with self._transaction():
            released = self.audit()
            if released:
                self._write(Annotation(None, None, Kind.RELEASE, annotator, round=round))
            return released

    def audit(self) -> dict[Hashable, float]:
        """Return the audited nodes and how many nodes each stands for."""
        return {each.node: float(each.text) for each in self._select("SELECT {} FROM audit ORDER BY number")}

    def released(self) -> set[Hashable]:
        """Return the nodes that were audited once and are no longer."""
        query = "SELECT {} FROM events WHERE kind = 'audit' AND node NOT IN (SELECT node FROM audit)"
        return {each.node for each in self._select(query)}

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
                self._write(Annotation(node, None, Kind.ASK, round=round))
            self._write(Annotation(None, None, Kind.LEARNER, round=round, text=json.dumps(state)))

    def learner_state(self) -> dict[str, Any] | None:
        """Return the last state that `save_round` recorded; None if there is none."""
        found = self._select("SELECT {} FROM events WHERE kind = 'learner' ORDER BY number DESC LIMIT 1")
        return dict(json.loads(found[0].text)) if found else None

    def asked(self) -> list[Hashable]:
        """Return the nodes that were asked for and have no answer."""
        query = "SELECT {} FROM events WHERE kind = 'ask' AND node NOT IN (SELECT node FROM standing) ORDER BY number"
        return list(dict.fromkeys(each.node for each in self._select(query)))

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
        events = self._select(NAMINGS)
        for each in events:
            name = name_to_text(each.label)
            if each.kind is Kind.REMOVE:
                named.pop(name, None)
                used.pop(name, None)
            elif each.kind is Kind.CLASS:
                named.pop(name, None)
                named[name] = each.label
            elif each.kind is Kind.DESCRIBE:
                details[name] = json.loads(each.text)
            else:
                used[name] = each.label
        return [ClassEntry(label, **details.get(name, {})) for name, label in {**named, **used}.items()]

    def holding(self) -> list[Annotation]:
        """Return the answers and verdicts that hold, in the order the nodes first came up."""
        return self._select(
            "SELECT {} FROM holding AS held ORDER BY (SELECT min(number) FROM standing WHERE node = held.node), number"
        )

    def holding_of(self, node: Hashable) -> list[Annotation]:
        """Return the answers and the verdict of one node that hold; takes no longer in a long log."""
        return self._select("SELECT {} FROM holding WHERE node = ? ORDER BY number", name_to_text(node))

    def numbered(self, numbers: Sequence[int]) -> list[Annotation]:
        """Return the events with these numbers, in the order of the numbers given."""
        query = "SELECT {} FROM events WHERE number IN (SELECT value FROM json_each(?))"
        by_number = {each.number: each for each in self._select(query, json.dumps(numbers))}
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

    def notes(self) -> list[Annotation]:
        """Return all notes."""
        return self._select("SELECT {} FROM events WHERE kind = 'note' ORDER BY number")

    def notes_of(self, node: Hashable) -> list[Annotation]:
        """Return the notes on a node."""
        query = "SELECT {} FROM events WHERE node = ? AND kind = 'note' ORDER BY number"
        return self._select(query, name_to_text(node))

    @property
    def last(self) -> int:
        """Number of the last event that changes what a node is; 0 if there is none."""
        rows = self.query(
            "SELECT number FROM events WHERE kind NOT IN ('note', 'class', 'describe', 'remove', 'ask', 'learner') "
            "ORDER BY number DESC LIMIT 1"
        )
        return int(rows[0][0]) if rows else 0

    def _select(self, query: str, *values: object) -> list[Annotation]:
        """Return the events that a query finds, with the class names that later renames gave them."""
        with self._lock:
            try:
                found = [_parse(row) for row in self.query(query.replace("{}", COLUMNS), *values)]
                renames = [_parse(row) for row in self.query(f"SELECT {COLUMNS} FROM events WHERE kind = 'rename'")]
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise self._failure(error) from error
        return [_rename(each, renames) for each in found] if renames else found

    def _before(self, new: Annotation) -> Annotation | None:
        """Return what an answer or verdict would replace, or a note that says the same."""
        if new.kind is Kind.NOTE:
            return next((note for note in self.notes_of(new.node) if new.says_same(note)), None)
        if new.kind is Kind.VERDICT:
            held = [each for each in self.holding_of(new.node) if each.kind is Kind.VERDICT]
        else:
            answers = (each for each in self.holding_of(new.node) if each.kind is not Kind.VERDICT)
            held = [each for each in answers if each.annotator == new.annotator]
        return held[0] if held else None

    def _add(self, new: Annotation) -> str:
        """Add an annotation from elsewhere inside a transaction, and return what happened to it."""
        if new.kind is Kind.AUDIT:
            return self._add_draw(new)
        query = "SELECT {} FROM events WHERE node = ? AND annotator = ? AND kind != 'undo'"
        alike = [each for each in self._select(query, name_to_text(new.node), new.annotator) if new.says_same(each)]
        before = self._before(new)
        if new.says_same(before):
            return "repeated"
        key = new.import_key()
        is_older = before is not None and before.time and new.time is not None and new.time < before.time
        was_added = bool(self.query("SELECT 1 FROM events WHERE key = ?", key))
        if is_older or was_added or any(each.time == new.time for each in alike):
            return "superseded"
        was_edited = before is not None and before.time == new.time
        self._write(replace(new, time=None if was_edited else new.time, key=key))
        return "added"

    def _add_draw(self, new: Annotation) -> str:
        """Add that a node was drawn elsewhere, unless it is or was in the audit here, or has a label."""
        drawn = self.query("SELECT 1 FROM events WHERE node = ? AND kind = 'audit'", name_to_text(new.node))
        if drawn or any(each.kind is not Kind.SKIP for each in self.holding_of(new.node)):
            return "superseded"
        self._write(replace(new, key=new.import_key()))
        return "added"

    def _was_sent(self, new: Annotation) -> bool:
        """Return whether this event is in the log under its key; another event under that key is an error."""
        sent = self.query(f"SELECT {COLUMNS} FROM events WHERE key = ?", new.key)
        if not sent:
            return False
        found = _parse(sent[0])
        if not (new.says_same(found) and is_same(new.node, found.node) and new.undoes == found.undoes):
            raise LabelError(
                f"The key {new.key!r} already belongs to another event ({found.kind} of {found.node!r}).",
                hint="Use a new key for each event. If you answered already, change it under Your answers.",
                node=new.node,
                value=new.key,
            )
        return True

    def _check_has_class(self, name: Hashable) -> None:
        if name_to_text(name) not in map(name_to_text, self.classes()):
            raise LabelError(f"The label log has no class {name!r}.", value=name)

    def _write(self, new: Annotation) -> None:
        """Write one event inside a transaction."""
        label = None if new.label is None else name_to_text(new.label)
        time = time_to_text(to_milliseconds(new.time or dt.datetime.now(dt.UTC)))
        key = new.key or uuid.uuid4().hex
        values = (name_to_text(new.node), label, new.kind, new.annotator, time, new.round, new.source, key, new.text)
        marks = ", ".join("?" * (len(values) + 2))
        self._connection.execute(f"INSERT INTO events ({COLUMNS}) VALUES ({marks})", (*values, None, new.undoes))


def _parse(row: tuple[Any, ...]) -> Annotation:
    """Return the event in a row."""
    node, label, kind, annotator, time, *others = row
    name = None if label is None else parse_label(label)
    return Annotation(name_from_text(node), name, Kind(kind), annotator, dt.datetime.fromisoformat(time), *others)


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


def _check_class(label: Hashable, node: Hashable = None) -> None:
    """Refuse None, empty text and NaN as a class."""
    if is_missing(label):
        where = "" if node is None else f" of node {node!r}"
        raise LabelError(f"The label{where} is missing ({label!r}).", node=node, value=label)
