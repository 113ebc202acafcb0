"""The label log: every act of a person in one SQLite file, never changed and never lost.

An act (label, correction, skip, verdict, undo, note, draw or release of an audit) is a row of the table ``acts``; a
trigger refuses to change or delete one. What holds now is a view: ``answers`` has the last act that stands for each
node and annotator, ``verdicts`` the last one that settled a node, ``audit`` the nodes that are drawn for checking.
Which label counts where people differ is said in `featprop.labelling.agreement`. The file is in WAL mode with
``synchronous=FULL``, there is one writer connection, and each write is a transaction of its own that takes the lock at
once, so an act is on the disk before the call returns. Every act has a key of its own: the same act sent again under
its key changes nothing, whatever was done in between.

Nodes and labels are kept as JSON with their types (`featprop.names`).
"""

from __future__ import annotations

import datetime as dt
import logging
import sqlite3
import threading
import uuid
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from featprop.errors import FileError, LabelError, first_five, reason
from featprop.interop.plain import is_missing
from featprop.labelling.acts import Act, NewAct, Told, act_of, same
from featprop.labelling.agreement import consensus
from featprop.labelling.schema import APPLICATION, COLUMNS, FORMAT, FROM_OLDER, SCHEMA, statements
from featprop.names import name_to_text

__all__ = ["LabelLog"]

log = logging.getLogger(__name__)

PATIENCE = 10_000
"""Milliseconds to wait for another process that is writing."""


class LabelLog:
    """The acts of people on the nodes of a graph.

    Parameters
    ----------
    path
        The file, made if it is not there; None to keep the acts in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            self._connection = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
            self._open()
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def _open(self) -> None:
        ask = self._connection.execute
        ask(f"PRAGMA busy_timeout = {PATIENCE}")
        known = ask("PRAGMA application_id").fetchone()[0]
        empty = ask("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        version = ask("PRAGMA user_version").fetchone()[0]
        if not empty and (known != APPLICATION or not 1 <= version <= FORMAT):
            found = f"version {version} of one" if known == APPLICATION else "another database"
            raise FileError(f"{self.path}", "must be a label log of this version", found, "choose another file")
        mode = ask("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode not in ("wal", "memory"):
            log.info("%s: no write-ahead log on this file system, a journal is kept instead (%s)", self.path, mode)
        ask("PRAGMA synchronous = FULL")
        if empty or version != FORMAT:
            with self._writing():
                self._make()

    def _make(self) -> None:
        """Make the tables, or those of now out of those of an older format, unless another process just did."""
        ask = self._connection.execute
        version = ask("PRAGMA user_version").fetchone()[0]
        if version == FORMAT:
            return
        for statement in statements((FROM_OLDER if version else "") + SCHEMA):
            ask(statement)
        if version:
            ask(f"INSERT INTO acts ({COLUMNS}) SELECT {COLUMNS} FROM old_acts ORDER BY number")
            ask("DROP TABLE old_acts")
            log.info("%s: a label log of version %d, made one of version %d", self.path, version, FORMAT)

    def tell(
        self, labels: Mapping[Hashable, Hashable], *, annotator: str = "", turn: int = 0, keys: Mapping[Any, str] = {}
    ) -> None:
        """Take labels, all of them or none; a node the annotator has labelled otherwise is an error.

        Parameters
        ----------
        labels
            The class of each node.
        annotator
            Who says so.
        turn
            How many times nodes have been asked for.
        keys
            The key of each act, by node, where a repeated call must not write it again.
        """
        _check_classes(labels)
        with self._writing():
            for node, label in labels.items():
                act = NewAct("label", annotator, node, label)
                if self._was_sent(act, keys.get(node)):
                    continue
                before = self._answer(node, annotator)
                if before is not None and before.kind != "skip" and not same(before.label, label):
                    found, cure = f"{before.label!r} and {label!r} for node {node!r}", "call correct to change it"
                    raise LabelError("labels", "must give a node one label", found, cure)
                if before is None or before.kind == "skip" or node in keys:
                    self._write(act, turn, keys.get(node))

    def correct(
        self, node: Hashable, label: Hashable, *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> None:
        """Change the label the annotator gave a node."""
        _check_classes({node: label})
        with self._writing():
            act = NewAct("correct", annotator, node, label)
            if self._was_sent(act, key):
                return
            before = self._answer(node, annotator)
            if before is None or before.kind == "skip":
                raise LabelError(f"Node {node!r}", "must have a label to correct", "none", "call tell to give it one")
            if key is not None or not same(before.label, label):
                self._write(act, turn, key)

    def skip(
        self, node: Hashable, reason: str = "", *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> None:
        """Say that a node cannot be labelled, and why; a label the annotator gave it no longer holds."""
        with self._writing():
            act, before = NewAct("skip", annotator, node, text=reason), self._answer(node, annotator)
            is_new = before is None or (before.kind, before.text) != ("skip", reason)
            if not self._was_sent(act, key) and (is_new or key is not None):
                self._write(act, turn, key)

    def adjudicate(
        self, node: Hashable, label: Hashable, *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> None:
        """Settle what a node is: this counts, whatever anybody answers, until it is undone or settled anew."""
        _check_classes({node: label})
        with self._writing():
            act, before = NewAct("adjudicate", annotator, node, label), self._verdict(node)
            is_new = before is None or before.annotator != annotator or not same(before.label, label)
            if not self._was_sent(act, key) and (is_new or key is not None):
                self._write(act, turn, key)

    def note(self, node: Hashable, text: str, *, annotator: str = "", turn: int = 0, key: str | None = None) -> None:
        """Write something down about a node."""
        with self._writing():
            act = NewAct("note", annotator, node, text=text)
            if not self._was_sent(act, key):
                self._write(act, turn, key)

    def undo(self, *, annotator: str = "", turn: int = 0, key: str | None = None) -> Act | None:
        """Take back the last act of the annotator that stands and return it; None if there is none."""
        with self._writing():
            for sent in self._select("SELECT {} FROM acts WHERE key = ?", key):
                self._was_sent(NewAct("undo", annotator, sent.node, undoes=sent.undoes), key)
                undone = self._select("SELECT {} FROM acts WHERE number = ?", sent.undoes)
                return undone[0] if undone else None
            last = self._select("SELECT {} FROM standing WHERE annotator = ? ORDER BY number DESC LIMIT 1", annotator)
            if last:
                self._write(NewAct("undo", annotator, last[0].node, undoes=last[0].number), turn, key)
            elif key is not None:
                self._write(NewAct("undo", annotator, None), turn, key)
            return last[0] if last else None

    def draw_audit(self, weights: Mapping[Hashable, float], *, annotator: str = "", turn: int = 0) -> None:
        """Mark nodes that were drawn for checking, all of them or none: what people say of them is no label.

        Parameters
        ----------
        weights
            How many nodes each stands for. Of a node that is drawn already the new weight counts.
        annotator
            Who had them drawn.
        turn
            How many times nodes have been asked for.
        """
        with self._writing():
            before, labelled = self.audit(), self.labels()
            found = [repr(node) for node in weights if node in labelled]
            if found:
                rule, cure = "must be drawn from nodes without a label", "draw others"
                raise LabelError("An audit", rule, f"labels for {first_five(found)}", cure)
            for node, weight in weights.items():
                if before.get(node) != float(weight):
                    self._write(NewAct("audit", annotator, node, text=repr(float(weight))), turn, None)

    def release_audit(self, *, annotator: str = "", turn: int = 0) -> dict[Hashable, float]:
        """Make labels like any others of what was said of the audit, and return the nodes, which are one no more."""
        with self._writing():
            released = self.audit()
            if released:
                self._write(NewAct("release", annotator, None), turn, None)
            return released

    def audit(self) -> dict[Hashable, float]:
        """Return the nodes that are drawn for checking, and how many nodes each stands for."""
        return {act.node: float(act.text) for act in self._select("SELECT {} FROM audit ORDER BY number")}

    def audited(self) -> dict[Hashable, Hashable]:
        """Return the label of each node of the audit that has one: what counts as in `labels`."""
        drawn = self.audit()
        labels = consensus(self.holding()).labels if drawn else {}
        return {node: label for node, label in labels.items() if node in drawn}

    def take_over(self, told: Iterable[Told]) -> list[str]:
        """Take acts that happened elsewhere, all of them or none, with the times they have.

        Returns what became of each: ``"taken"``; ``"repeated"``, which is what holds already; or ``"superseded"``,
        which was said here before, or earlier than what holds, and stays as it is.
        """
        with self._writing():
            return [self._take_over(each) for each in told]

    def has(self, key: str) -> bool:
        """Say whether there is an act of that key."""
        return bool(self._select("SELECT {} FROM acts WHERE key = ?", key))

    def acts(self) -> list[Act]:
        """Return everything that was ever done, in order."""
        return self._select("SELECT {} FROM acts ORDER BY number")

    def answers(self) -> list[Act]:
        """Return what holds now, an answer for each node and annotator, in the order the nodes first came up."""
        return self._in_order("SELECT * FROM answers")

    def holding_of(self, node: Hashable) -> list[Act]:
        """Return the answers and the verdict that hold now of one node; it takes no longer in a long log."""
        query = "SELECT {} FROM standing WHERE node = ? ORDER BY number"
        held = {(act.kind == "adjudicate" or act.annotator): act for act in self._select(query, name_to_text(node))}
        return list(held.values())

    def holding(self) -> list[Act]:
        """Return the answers and the verdicts that hold now, in the order the nodes first came up."""
        return self._in_order("SELECT * FROM answers UNION ALL SELECT * FROM verdicts")

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label of each node that has one: the verdict, or else what most annotators say, or the latest.

        Nodes of the audit are not among them (`audited`).
        """
        drawn = self.audit()
        return {node: label for node, label in consensus(self.holding()).labels.items() if node not in drawn}

    def skips(self) -> dict[Hashable, str]:
        """Return the nodes that cannot be labelled, as everybody says who answered, and why."""
        return consensus(self.holding()).skips

    def notes_of(self, node: Hashable) -> list[Act]:
        """Return what was written down about one node; it takes no longer in a long log."""
        query = "SELECT {} FROM acts WHERE node = ? AND kind = 'note' ORDER BY number"
        return self._select(query, name_to_text(node))

    def notes(self) -> list[tuple[Hashable, str]]:
        """Return what was written down about nodes."""
        return [(act.node, act.text) for act in self.acts() if act.kind == "note"]

    @property
    def last(self) -> int:
        """The number of the last act that says what a node is or is not, which a note does not; 0 if there is none."""
        found = self._select("SELECT {} FROM acts WHERE kind != 'note' ORDER BY number DESC LIMIT 1")
        return found[0].number if found else 0

    def copy_to(self, path: Path) -> None:
        """Write all acts to another file, which must not have acts that are not in this log."""
        with self._lock:
            with LabelLog(path) as other:
                strange = {act.key for act in other.acts()} - {act.key for act in self.acts()}
            if strange:
                rule = "must be new or hold these acts"
                found = f"{len(strange):,} acts of people that are not among them"
                raise FileError(f"{path}", rule, found, "choose another place")
            target = sqlite3.connect(path)
            try:
                self._connection.backup(target)
            except sqlite3.Error as error:
                raise self._damaged(error) from error
            finally:
                target.close()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _in_order(self, acts: str) -> list[Act]:
        first = "(SELECT min(number) FROM acts WHERE acts.node = held.node)"
        return self._select(f"SELECT {{}} FROM ({acts}) AS held ORDER BY {first}, number")

    def _take_over(self, told: Told) -> str:
        """Take an act that happened elsewhere, inside a transaction, and return what became of it."""
        if told.kind == "audit":
            return self._take_over_draw(told)
        query = "SELECT {} FROM acts WHERE node = ? AND annotator = ? AND kind != 'undo'"
        said = self._select(query, name_to_text(told.node), told.annotator)
        alike = [act for act in said if told.is_said_by(act)]
        if told.kind == "note":
            before = alike[0] if alike else None
        else:
            is_verdict = told.kind == "adjudicate"
            before = self._verdict(told.node) if is_verdict else self._answer(told.node, told.annotator)
        if before is not None and before.annotator == told.annotator and told.is_said_by(before):
            return "repeated"
        is_older = before is not None and told.time is not None and told.time < before.time
        if is_older or self.has(told.key) or any(act.time == told.time for act in alike):
            return "superseded"
        is_correction = told.kind == "label" and before is not None and before.kind != "skip"
        was_edited = before is not None and before.time == told.time
        act = NewAct("correct" if is_correction else told.kind, told.annotator, told.node, told.label, told.text)
        self._write(act, 0, told.key, None if was_edited else told.time)
        return "taken"

    def _take_over_draw(self, told: Told) -> str:
        """Take that a node was drawn elsewhere, unless it is or was in the audit here, or has a label."""
        if self.audit().get(told.node) == float(told.text):
            return "repeated"
        query = "SELECT {} FROM acts WHERE node = ? AND kind = 'audit' UNION SELECT {} FROM standing WHERE node = ?"
        if self._select(query, name_to_text(told.node), name_to_text(told.node)):
            return "superseded"
        self._write(NewAct("audit", told.annotator, told.node, text=told.text), 0, told.key, told.time)
        return "taken"

    def _answer(self, node: Hashable, annotator: str) -> Act | None:
        which = "node = ? AND annotator = ? AND kind != 'adjudicate'"
        query = f"SELECT {{}} FROM standing WHERE {which} ORDER BY number DESC LIMIT 1"
        found = self._select(query, name_to_text(node), annotator)
        return found[0] if found else None

    def _verdict(self, node: Hashable) -> Act | None:
        query = "SELECT {} FROM standing WHERE node = ? AND kind = 'adjudicate' ORDER BY number DESC LIMIT 1"
        found = self._select(query, name_to_text(node))
        return found[0] if found else None

    def _was_sent(self, act: NewAct, key: str | None) -> bool:
        """Say whether this very act is there under its key already; another one under that key is an error."""
        sent = self._connection.execute(
            "SELECT kind, annotator, node, label, text, undoes FROM acts WHERE key = ?", (key,)
        ).fetchone()
        if sent is not None and sent != act.row:
            found = f"{key!r} for {sent[0]} of {sent[2]} and {act.kind} of {act.row[2]}"
            raise LabelError("The key of an act", "must be used once", found, "make a new key for each act")
        return sent is not None

    def _write(self, act: NewAct, turn: int, key: str | None, time: dt.datetime | None = None) -> None:
        """Write one act, inside a transaction: one of now, or of another time."""
        when = (time or dt.datetime.now(dt.UTC)).astimezone(dt.UTC).isoformat(timespec="milliseconds")
        self._connection.execute(
            "INSERT INTO acts (key, time, round, kind, annotator, node, label, text, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (key or uuid.uuid4().hex, when, turn, *act.row),
        )

    def _select(self, query: str, *values: object) -> list[Act]:
        with self._lock:
            try:
                rows = self._connection.execute(query.format(COLUMNS), values).fetchall()
                return [act_of(row) for row in rows]
            except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
                raise self._damaged(error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Make a transaction of the block, for this connection alone; whatever goes wrong in it undoes it."""
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._damaged(error) from error
                raise

    def _damaged(self, error: Exception) -> FileError:
        rule, cure = (
            "must be a label log that can be read and written",
            "look at its disk and folder, then try again",
        )
        return FileError(f"{self.path}", rule, reason(error), cure)


def _check_classes(labels: Mapping[Hashable, Hashable]) -> None:
    for node, label in labels.items():
        if is_missing(label):
            raise LabelError(f"The label of node {node!r}", "must be a class", repr(label), "leave the node out")
