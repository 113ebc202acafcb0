"""The label log: every act of a person in one SQLite file, never changed and never lost.

An act (label, correction, skip, undo, note) is a row of the table ``acts``; a trigger refuses to change or delete one.
What holds now is a view: ``answers`` has the last act that stands for each node and annotator. The file is in WAL mode
with ``synchronous=FULL``, there is one writer connection, and each write is a transaction of its own that takes the
lock at once, so an act is on the disk before the call returns. Every act has a key of its own: the same act sent again
under its key changes nothing, whatever was done in between.

Nodes and labels are kept as JSON with their types (`featprop.names`).
"""

from __future__ import annotations

import datetime as dt
import logging
import sqlite3
import threading
import uuid
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from featprop.errors import FileError, LabelError, reason
from featprop.graph import is_missing
from featprop.names import name_from_text, name_to_text

__all__ = ["Act", "LabelLog"]

log = logging.getLogger(__name__)

FORMAT = 1
APPLICATION = 0x66656174
"""``feat``: by this SQLite, and `file`, know whose file it is."""
PATIENCE = 10_000
"""Milliseconds to wait for another process that is writing."""
SCHEMA = f"""
CREATE TABLE acts (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL,
    annotator TEXT NOT NULL,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('label', 'correct', 'skip', 'undo', 'note')),
    node TEXT NOT NULL,
    label TEXT,
    text TEXT NOT NULL,
    undoes INTEGER REFERENCES acts (number)
);
CREATE INDEX acts_of_node ON acts (node);
CREATE INDEX acts_undone ON acts (undoes);
CREATE TRIGGER acts_stay BEFORE UPDATE ON acts BEGIN SELECT RAISE(ABORT, 'an act is never changed'); END;
CREATE TRIGGER acts_last BEFORE DELETE ON acts BEGIN SELECT RAISE(ABORT, 'an act is never deleted'); END;
CREATE VIEW standing AS
    SELECT * FROM acts AS act
    WHERE kind IN ('label', 'correct', 'skip') AND NOT EXISTS (SELECT 1 FROM acts WHERE undoes = act.number);
CREATE VIEW answers AS
    SELECT * FROM standing WHERE number IN (SELECT max(number) FROM standing GROUP BY node, annotator);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""
COLUMNS = "number, key, time, annotator, round, kind, node, label, text, undoes"


@dataclass(frozen=True)
class Act:
    """One act of a person.

    Attributes
    ----------
    number
        Its place in the log, from 1.
    key
        What makes it distinct: the same act under the same key is written once.
    time
        When, in UTC.
    annotator
        Who; empty where nobody was named.
    round
        How many times nodes had been asked for by then.
    kind
        ``"label"``, ``"correct"``, ``"skip"``, ``"undo"`` or ``"note"``.
    node
        Of what.
    label
        The class, of a label or a correction.
    text
        The reason of a skip, or the note.
    undoes
        The number of the act that an undo takes back.
    """

    number: int
    key: str
    time: dt.datetime
    annotator: str
    round: int
    kind: str
    node: Hashable
    label: Hashable | None
    text: str
    undoes: int | None


class _Act(NamedTuple):
    """An act that is to be written."""

    kind: str
    annotator: str
    node: Hashable
    label: Hashable | None = None
    text: str = ""
    undoes: int | None = None

    @property
    def row(self) -> tuple[Any, ...]:
        label = None if self.label is None else name_to_text(self.label)
        return self.kind, self.annotator, name_to_text(self.node), label, self.text, self.undoes


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
        if not empty and (known, version) != (APPLICATION, FORMAT):
            found = f"version {version} of one" if known == APPLICATION else "another database"
            raise FileError(f"{self.path}", "must be a label log of this version", found, "choose another file")
        mode = ask("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode not in ("wal", "memory"):
            log.info("%s: no write-ahead log on this file system, a journal is kept instead (%s)", self.path, mode)
        ask("PRAGMA synchronous = FULL")
        if empty:
            with self._writing():
                if ask("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                    for statement in _statements(SCHEMA):
                        ask(statement)

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
                act = _Act("label", annotator, node, label)
                if self._was_sent(act, keys.get(node)):
                    continue
                before = self._answer(node, annotator)
                if before is not None and before.kind != "skip" and not _same(before.label, label):
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
            act = _Act("correct", annotator, node, label)
            if self._was_sent(act, key):
                return
            before = self._answer(node, annotator)
            if before is None or before.kind == "skip":
                raise LabelError(f"Node {node!r}", "must have a label to correct", "none", "call tell to give it one")
            if key is not None or not _same(before.label, label):
                self._write(act, turn, key)

    def skip(
        self, node: Hashable, reason: str = "", *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> None:
        """Say that a node cannot be labelled, and why; a label the annotator gave it no longer holds."""
        with self._writing():
            act, before = _Act("skip", annotator, node, text=reason), self._answer(node, annotator)
            is_new = before is None or (before.kind, before.text) != ("skip", reason)
            if not self._was_sent(act, key) and (is_new or key is not None):
                self._write(act, turn, key)

    def note(self, node: Hashable, text: str, *, annotator: str = "", turn: int = 0, key: str | None = None) -> None:
        """Write something down about a node."""
        with self._writing():
            act = _Act("note", annotator, node, text=text)
            if not self._was_sent(act, key):
                self._write(act, turn, key)

    def undo(self, *, annotator: str = "", turn: int = 0, key: str | None = None) -> Act | None:
        """Take back the last act of the annotator that stands and return it; None if there is none."""
        with self._writing():
            for sent in self._select("SELECT {} FROM acts WHERE key = ?", key):
                self._was_sent(_Act("undo", annotator, sent.node, undoes=sent.undoes), key)
                undone = self._select("SELECT {} FROM acts WHERE number = ?", sent.undoes)
                return undone[0] if undone else None
            last = self._select("SELECT {} FROM standing WHERE annotator = ? ORDER BY number DESC LIMIT 1", annotator)
            if last:
                self._write(_Act("undo", annotator, last[0].node, undoes=last[0].number), turn, key)
            elif key is not None:
                self._write(_Act("undo", annotator, None), turn, key)
            return last[0] if last else None

    def acts(self) -> list[Act]:
        """Return everything that was ever done, in order."""
        return self._select("SELECT {} FROM acts ORDER BY number")

    def answers(self) -> list[Act]:
        """Return what holds now, an answer for each node and annotator, in the order the nodes first came up."""
        first = "(SELECT min(number) FROM acts WHERE acts.node = answers.node)"
        return self._select(f"SELECT {{}} FROM answers ORDER BY {first}, number")

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label of each node that has one; of several annotators, the last to answer counts."""
        return {node: act.label for node, act in self._latest().items() if act.kind != "skip"}

    def skips(self) -> dict[Hashable, str]:
        """Return the nodes that cannot be labelled, and why."""
        return {node: act.text for node, act in self._latest().items() if act.kind == "skip"}

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

    def _latest(self) -> dict[Hashable, Act]:
        latest: dict[Hashable, Act] = {}
        for act in self.answers():
            if act.node not in latest or latest[act.node].number < act.number:
                latest[act.node] = act
        return latest

    def _answer(self, node: Hashable, annotator: str) -> Act | None:
        query = "SELECT {} FROM standing WHERE node = ? AND annotator = ? ORDER BY number DESC LIMIT 1"
        found = self._select(query, name_to_text(node), annotator)
        return found[0] if found else None

    def _was_sent(self, act: _Act, key: str | None) -> bool:
        """Say whether this very act is there under its key already; another one under that key is an error."""
        sent = self._connection.execute(
            "SELECT kind, annotator, node, label, text, undoes FROM acts WHERE key = ?", (key,)
        ).fetchone()
        if sent is not None and sent != act.row:
            found = f"{key!r} for {sent[0]} of {sent[2]} and {act.kind} of {act.row[2]}"
            raise LabelError("The key of an act", "must be used once", found, "make a new key for each act")
        return sent is not None

    def _write(self, act: _Act, turn: int, key: str | None) -> None:
        """Write one act, inside a transaction."""
        now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
        self._connection.execute(
            "INSERT INTO acts (key, time, round, kind, annotator, node, label, text, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (key or uuid.uuid4().hex, now, turn, *act.row),
        )

    def _select(self, query: str, *values: object) -> list[Act]:
        with self._lock:
            try:
                rows = self._connection.execute(query.format(COLUMNS), values).fetchall()
                return [_act(row) for row in rows]
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


def _act(row: tuple[Any, ...]) -> Act:
    number, key, time, annotator, turn, kind, node, label, text, undoes = row
    name = None if label is None else name_from_text(label)
    when = dt.datetime.fromisoformat(time)
    return Act(number, key, when, annotator, turn, kind, name_from_text(node), name, text, undoes)


def _same(label: Hashable, other: Hashable) -> bool:
    """Say whether two labels are equal and of one type: 1 and 1.0 are two."""
    return label == other and type(label) is type(other)


def _statements(script: str) -> Iterator[str]:
    """Cut a script into statements; `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _check_classes(labels: Mapping[Hashable, Hashable]) -> None:
    for node, label in labels.items():
        if is_missing(label):
            raise LabelError(f"The label of node {node!r}", "must be a class", repr(label), "leave the node out")
