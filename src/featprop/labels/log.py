"""The label log: every event of labelling in one SQLite file, never changed and never lost.

An event (label, skip, verdict, undo, note, audit, classes, rename, ask) is a row. Tables and views derived from them
say what holds now: the last answer of each annotator for each node, the last verdict of each node, the audited nodes,
the classes (`featprop.labels.store`). `featprop.labels.agreement` decides which label counts where people differ. An
event sent twice under the same key is written once; another event under that key is refused.

Nodes and labels are stored as JSON with their types (`featprop.ids`).
"""

from __future__ import annotations

import datetime as dt
import json
import os
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

from featprop.errors import LabelError, first_five
from featprop.ids import is_missing, name_from_text, name_to_text
from featprop.labels.agreement import Consensus, consensus
from featprop.labels.annotation import Annotation, Kind, is_same, time_to_text, to_milliseconds
from featprop.labels.store import EventStore

Result = TypeVar("Result")

COLUMNS = "node, label, kind, annotator, time, round, source, key, text, number, undoes"
"""The fields of an annotation, which are the columns of the table."""
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

        Repeating a current answer, or the key of an earlier one, writes nothing.
        """
        with self.transaction():
            if new.kind in (Kind.LABEL, Kind.VERDICT):
                _check_class(new.label, new.node)
            before = self.find_earlier(new)
            holds = not new.key and before is not None and new.says_same(before) and new.text == before.text
            if not self._was_sent(new) and not holds:
                self._write(new)
            return before

    def extend(self, annotations: Iterable[Annotation]) -> None:
        """Add annotations as `append` does, all or none."""
        with self.transaction():
            for each in annotations:
                self.append(each)

    def answer(self, node: Hashable, label: Hashable, **details: Unpack[Details]) -> Annotation | None:
        """Add a label, which replaces an earlier answer of the same annotator, and return that answer."""
        return self.append(Annotation(node, label, **details))

    def skip(self, node: Hashable, reason: str = "", **details: Unpack[Details]) -> Annotation | None:
        """Record that the annotator cannot label a node, and return their earlier answer, which no longer holds."""
        return self.append(Annotation(node, None, Kind.SKIP, text=reason, **details))

    def adjudicate(self, node: Hashable, label: Hashable, **details: Unpack[Details]) -> Annotation | None:
        """Settle the label of a node. It overrides all answers until it is undone or settled again."""
        return self.append(Annotation(node, label, Kind.VERDICT, **details))

    def note(self, node: Hashable, text: str, **details: Unpack[Details]) -> None:
        """Add a note to a node."""
        self.append(Annotation(node, None, Kind.NOTE, text=text, **details))

    def tell(self, labels: Mapping[Hashable, Hashable], **details: Unpack[Details]) -> None:
        """Add the label of each node, all or none; refuse one that contradicts the annotator's own label."""
        with self.transaction():
            for node, label in labels.items():
                new = Annotation(node, label, **details)
                before = self.find_earlier(new)
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
        with self.transaction():
            for sent in self._select("SELECT {} FROM events WHERE key = ?", key):
                self._was_sent(replace(sent, kind=Kind.UNDO, annotator=annotator))
                return next(iter(self._select("SELECT {} FROM events WHERE number = ?", sent.undoes)), None)
            last = next(iter(self.history(annotator, 1)), None)
            undo = Annotation(None, None, Kind.UNDO, annotator, round=round, key=key)
            if last is not None:
                self._write(replace(undo, node=last.node, undoes=last.number))
            elif key:
                self._write(undo)
            return last

    def set_classes(self, classes: Iterable[Hashable | ClassEntry], *, annotator: str = "") -> None:
        """Record the classes in their order, by name or as entries; a class that answers use must be among them."""
        with self.transaction():
            given = [each if isinstance(each, ClassEntry) else ClassEntry(each) for each in classes]
            entries = {name_to_text(each.name): each for each in given}
            rows = [(text, each.key, each.description) for text, each in entries.items()]
            if rows == self.query("SELECT name, key, description FROM classes ORDER BY rowid"):
                return
            for each in given:
                _check_class(each.name)
            listed = json.dumps([dict(zip(ClassEntry._fields, row, strict=True)) for row in rows], ensure_ascii=False)
            names = "SELECT value ->> 'name' FROM json_each(?)"
            used = self.query(f"SELECT node, label FROM answers WHERE holds AND label NOT IN ({names})", listed)
            if used:
                node, name = map(parse_label, used[0])
                count = f"{len(used):,} {'answer uses' if len(used) == 1 else 'answers use'}"
                message = f"The class {name!r} cannot be removed: {count} it."
                hint = "Merge it into another class instead."
                raise LabelError(message, hint=hint, node=node, value=name)
            self._write(Annotation(None, None, Kind.CLASSES, annotator, text=listed))

    def rename_class(self, old: Hashable, new: Hashable, *, annotator: str = "") -> None:
        """Rename a class in all annotations so far; to merge two classes, rename one to the other."""
        with self.transaction():
            _check_class(new)
            if not self.query("SELECT 1 FROM classes WHERE name = ?", name_to_text(old)):
                raise LabelError(f"The label log has no class {old!r}.", value=old)
            self._write(Annotation(None, new, Kind.RENAME, annotator, text=name_to_text(old)))

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
        with self.transaction():
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
        with self.transaction():
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
        with self.transaction():
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
        query = "SELECT {} FROM events WHERE kind = 'ask' AND node NOT IN (SELECT node FROM answers) ORDER BY number"
        return list(dict.fromkeys(each.node for each in self._select(query)))

    def events(self) -> list[Annotation]:
        """Return every event as it was written, in order."""
        return self._select("SELECT {} FROM events ORDER BY number")

    def classes(self) -> list[Hashable]:
        """Return the classes: those named, in the order of the last naming, then those used as a label."""
        return [each.name for each in self.class_entries()]

    def class_entries(self) -> list[ClassEntry]:
        """Return the classes as `classes` does, each with its key and description."""
        query = "SELECT name, key, description FROM classes ORDER BY rowid"
        return self._read(lambda name, key, description: ClassEntry(parse_label(name), key, description), query)

    def holding(self) -> list[Annotation]:
        """Return the answers and verdicts that hold, in the order the nodes first came up."""
        query = "SELECT {} FROM holding ORDER BY (SELECT min(number) FROM answers WHERE node = holding.node), number"
        return self._select(query)

    def holding_of(self, node: Hashable) -> list[Annotation]:
        """Return the answers and the verdict of one node that hold; takes no longer in a long log."""
        return self._select("SELECT {} FROM holding WHERE node = ? ORDER BY number", name_to_text(node))

    def history(self, annotator: str, limit: int = -1) -> list[Annotation]:
        """Return an annotator's answers and verdicts that hold, newest first; all of them if `limit` is negative."""
        return self._select("SELECT {} FROM holding WHERE annotator = ? ORDER BY number DESC LIMIT ?", annotator, limit)

    def verdicts(self) -> list[Annotation]:
        """Return the verdicts that hold."""
        return self._select("SELECT {} FROM holding WHERE kind = 'adjudicate' ORDER BY number")

    def consensus(self) -> Consensus:
        """Return the label that counts for each node (`featprop.labels.agreement`)."""
        return consensus(self.holding())

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label that counts for each node, without audited nodes."""
        drawn = self.audit()
        return {node: label for node, label in self.consensus().labels.items() if node not in drawn}

    def skips(self) -> dict[Hashable, str]:
        """Return the nodes that every annotator skipped, and the reason."""
        return self.consensus().skips

    def notes(self) -> list[Annotation]:
        """Return all notes."""
        return self._select("SELECT {} FROM events WHERE kind = 'note' ORDER BY number")

    def notes_of(self, node: Hashable) -> list[Annotation]:
        """Return the notes on a node."""
        query = "SELECT {} FROM events WHERE node = ? AND kind = 'note' ORDER BY number"
        return self._select(query, name_to_text(node))

    def _select(self, query: str, *values: object) -> list[Annotation]:
        """Return the annotations that a query finds."""
        return self._read(_parse, query.replace("{}", COLUMNS), *values)

    def _read(self, parse: Callable[..., Result], query: str, *values: object) -> list[Result]:
        """Return the rows of a query, parsed; a row that featprop cannot have written is an error."""
        try:
            return [parse(*row) for row in self.query(query, *values)]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._failure(error) from error

    def find_earlier(self, new: Annotation) -> Annotation | None:
        """Return what an answer or verdict would replace, or a note that says the same."""
        if new.kind is Kind.NOTE:
            return next((note for note in self.notes_of(new.node) if new.says_same(note)), None)
        is_verdict = new.kind is Kind.VERDICT
        held = [each for each in self.holding_of(new.node) if (each.kind is Kind.VERDICT) == is_verdict]
        return next((each for each in held if is_verdict or each.annotator == new.annotator), None)

    def _was_sent(self, new: Annotation) -> bool:
        """Return whether this event is in the log under its key; another event under that key is an error."""
        if not new.key:
            return False
        for found in self._select("SELECT {} FROM events WHERE key = ?", new.key):
            if not (new.says_same(found) and is_same(new.node, found.node) and new.undoes == found.undoes):
                raise LabelError(
                    f"The key {new.key!r} already belongs to another event ({found.kind} of {found.node!r}).",
                    hint="Use a new key for each event. If you answered already, change it under Your answers.",
                    node=new.node,
                    value=new.key,
                )
            return True
        return False

    def _write(self, new: Annotation) -> None:
        """Write one event inside a transaction."""
        label = None if new.label is None else name_to_text(new.label)
        time = time_to_text(to_milliseconds(new.time or dt.datetime.now(dt.UTC)))
        key = new.key or uuid.uuid4().hex
        values = (name_to_text(new.node), label, new.kind, new.annotator, time, new.round, new.source, key, new.text)
        marks = ", ".join("?" * (len(values) + 2))
        self.query(f"INSERT INTO events ({COLUMNS}) VALUES ({marks})", *values, None, new.undoes)


@contextmanager
def open_exclusively(path: str | os.PathLike[str]) -> Iterator[LabelLog]:
    """Open or create a label log that no other process may open exclusively; an error leaves no new log behind."""
    is_new = not Path(path).exists()
    with LabelLog(path, exclusive=True) as log:
        try:
            yield log
        except BaseException:
            if is_new:
                log.discard()
            raise


def _parse(node: str, label: str | None, kind: str, annotator: str, time: str, *others: Any) -> Annotation:
    """Return the annotation in a row."""
    name = None if label is None else parse_label(label)
    return Annotation(name_from_text(node), name, Kind(kind), annotator, dt.datetime.fromisoformat(time), *others)


def _check_class(label: Hashable, node: Hashable = None) -> None:
    """Refuse None, empty text and NaN as a class."""
    if is_missing(label):
        where = "" if node is None else f" of node {node!r}"
        raise LabelError(f"The label{where} is missing ({label!r}).", node=node, value=label)
