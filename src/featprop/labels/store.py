"""The SQLite file of a label log: an append-only table of events that survives crashes and accidents.

The table ``events`` is the only truth. Triggers derive two tables from it in the same transaction, so that nothing
ever reads all events: ``answers``, the answers and verdicts that were not undone, and ``classes``.

The file is in WAL mode with ``synchronous=FULL``, or with a rollback journal on a network file system. Every write is a
transaction that is on the disk before the call returns. If the file is deleted or replaced while it is open, the next
write fails and all events go to ``NAME.rescued``.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Self

from featprop.errors import FileError, quote_error
from featprop.files import unused_name

log = logging.getLogger(__name__)

LOCK_TIMEOUT_S = 10.0
"""Seconds to wait for another process that is writing."""
RETRY_S = 0.01
NETWORK_FILE_SYSTEMS = (
    *("nfs", "cifs", "smb", "fuse", "9p", "afs", "ceph", "gluster", "lustre", "vboxsf", "webdav", "davfs"),
)
"""Prefixes of file system types on which WAL cannot be trusted."""
SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL CHECK (time GLOB '*T*+00:00'),
    annotator TEXT NOT NULL,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL,
    node TEXT NOT NULL CHECK (json_valid(node)),
    label TEXT CHECK (label IS NULL OR json_valid(label)),
    text TEXT NOT NULL CHECK (kind != 'audit' OR CAST(text AS REAL) > 0),
    source TEXT NOT NULL,
    undoes INTEGER REFERENCES events (number),
    CHECK (kind NOT IN ('label', 'adjudicate', 'rename') OR label IS NOT NULL)
) STRICT;
CREATE INDEX IF NOT EXISTS events_of_node ON events (node, kind);
CREATE INDEX IF NOT EXISTS events_of_kind ON events (kind);
CREATE TRIGGER IF NOT EXISTS events_unchanged BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER IF NOT EXISTS events_kept BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TABLE IF NOT EXISTS answers (  -- answers and verdicts that were not undone, with the class names of today
    number INTEGER PRIMARY KEY REFERENCES events (number),
    node TEXT NOT NULL,
    annotator TEXT NOT NULL,
    is_verdict INTEGER NOT NULL,
    label TEXT,
    holds INTEGER NOT NULL  -- whether it is the last answer of its annotator to the node, or the last verdict
) STRICT;
CREATE INDEX IF NOT EXISTS answers_of_node ON answers (node, holds, is_verdict, annotator, label);
CREATE INDEX IF NOT EXISTS answers_of_annotator ON answers (annotator);
CREATE TABLE IF NOT EXISTS classes (  -- in order
    name TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TRIGGER IF NOT EXISTS answered AFTER INSERT ON events WHEN new.kind IN ('label', 'skip', 'adjudicate', 'undo')
BEGIN
    DELETE FROM answers WHERE number = new.undoes;
    INSERT INTO answers SELECT new.number, new.node, new.annotator, new.kind = 'adjudicate', new.label, 0
        WHERE new.kind != 'undo';
    UPDATE answers SET holds = number IN (
        SELECT max(number) FROM answers WHERE node = new.node GROUP BY is_verdict, iif(is_verdict, '', annotator)
    ) WHERE node = new.node;
    INSERT OR IGNORE INTO classes (name) SELECT new.label WHERE new.label IS NOT NULL;
END;
CREATE TRIGGER IF NOT EXISTS classes_listed AFTER INSERT ON events WHEN new.kind = 'classes'
BEGIN
    DELETE FROM classes;
    INSERT INTO classes
        SELECT json_extract(value, '$.name'), json_extract(value, '$.key'), json_extract(value, '$.description')
        FROM json_each(new.text);
END;
CREATE TRIGGER IF NOT EXISTS class_renamed AFTER INSERT ON events
WHEN new.kind = 'rename' AND new.label <> new.text
BEGIN
    UPDATE answers SET label = new.label WHERE label = new.text;
    UPDATE OR IGNORE classes SET name = new.label WHERE name = new.text;
    DELETE FROM classes WHERE name = new.text;
END;
CREATE VIEW IF NOT EXISTS holding AS  -- of each node, the last answer of each person and the last verdict
    SELECT answers.node, answers.label, kind, answers.annotator, time, round, source, key, text, number, undoes
    FROM answers JOIN events USING (number) WHERE holds;
CREATE VIEW IF NOT EXISTS audit AS  -- nodes drawn since an audit was released
    SELECT * FROM events
    WHERE kind = 'audit' AND number > coalesce((SELECT max(number) FROM events WHERE kind = 'release'), 0);
PRAGMA application_id = 0x66656174;
PRAGMA user_version = 1;
COMMIT;
"""
"""What a label log contains; the application is ``feat``, the version that of the format."""
FINGERPRINT = """
SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
(SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_master WHERE name NOT GLOB 'sqlite_*' ORDER BY name))
"""
EMPTY = (0, 0, "")


class EventStore:
    """An append-only SQLite file; the parameters are those of `featprop.labels.LabelLog`."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False, exclusive: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.RLock()
        self._is_writing = False
        self._descriptor: int | None = None
        self._rescued: Path | None = None
        try:
            if self.path is not None and read_only:
                self._connection = _connect_read_only(self.path)
            else:
                self._connection = _connect(self.path or ":memory:")
            is_new = self._check_schema(may_be_new=not read_only)
            if not read_only:
                self._set_journal()
            if is_new:
                self._connection.executescript(SCHEMA)
            if self.path is not None:
                self._descriptor = os.open(self.path, os.O_RDONLY)
                if exclusive:
                    self._lock_file(self._descriptor)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter if SQLite quotes bytes that are not text
            raise self._failure(error) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if hasattr(self, "_connection"):
                self._connection.close()
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def discard(self) -> None:
        """Close the file and delete it."""
        self.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _check_schema(self, *, may_be_new: bool) -> bool:
        """Return whether the database is empty; refuse others, other versions, and foreign views or triggers.

        A foreign view may never end, and a trigger may write.
        """
        found = _fingerprint(self._connection)
        if found != _own_fingerprint() and not (may_be_new and found == EMPTY):
            message = f"{self.path} is not a label log of this version of featprop."
            raise FileError(message, hint="Use another file.", path=self.path)
        return found == EMPTY

    def _set_journal(self) -> None:
        kind = "" if self.path is None else file_system(self.path)
        mode = self._set_journal_mode("DELETE" if kind.startswith(NETWORK_FILE_SYSTEMS) else "WAL")
        if mode not in ("wal", "memory"):
            log.warning("%s: %s supports no write-ahead log; SQLite uses a %s journal", self.path, kind or "disk", mode)
        self._connection.execute("PRAGMA synchronous = FULL")

    def _set_journal_mode(self, wanted: str) -> str:
        """Set the journal mode and return it, waiting for other processes as SQLite itself does not."""
        until = time.monotonic() + LOCK_TIMEOUT_S
        while True:
            try:
                return str(self._connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0])
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(RETRY_S)

    def _lock_file(self, descriptor: int) -> None:
        """Lock the database file itself; SQLite's own locks are of another kind, so others can still read."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            message = f"The label log {self.path} is open in another featprop process."
            raise FileError(message, hint="Stop that process, or use another file.", path=self.path) from error

    def locked(self) -> AbstractContextManager[bool]:
        """Keep other threads from reading and writing inside a `with` block."""
        return self._lock

    def query(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self._lock:
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise self._failure(error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a `with` block as one transaction; an error undoes all that it did.

        Inside another transaction, it becomes part of that one.
        """
        with self._lock:
            if self._is_writing:
                yield
                return
            self._check_in_place()
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._is_writing = True
                yield
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise self._failure(error) from error
            finally:
                self._is_writing = False
                with suppress(sqlite3.Error):  # as on a full disk: then SQLite rolls back at the next read
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
            self._check_in_place()

    def transact_together(self, jobs: Sequence[tuple[Callable[[], Any], Future[Any]]]) -> None:
        """Run several pieces of work in one transaction, and then set the result or the error of each.

        One that raises an error changes nothing, and does not affect the others.
        """
        outcomes: list[tuple[Any, BaseException | None]]
        try:
            with self.transaction():
                outcomes = [self._try(work) for work, _ in jobs]
        except BaseException as error:
            outcomes = [(None, error)] * len(jobs)
        for (_, done), (result, refusal) in zip(jobs, outcomes, strict=True):
            if refusal is None:
                done.set_result(result)
            else:
                done.set_exception(refusal)

    def _try(self, work: Callable[[], Any]) -> tuple[Any, Exception | None]:
        """Return the result of work inside a transaction, or its error after undoing what it did."""
        self._connection.execute("SAVEPOINT work")
        try:
            result, refusal = work(), None
        except Exception as error:
            if not self._connection.in_transaction:  # SQLite has undone everything
                raise
            self._connection.execute("ROLLBACK TO work")
            result, refusal = None, error
        self._connection.execute("RELEASE work")
        return result, refusal

    def _check_in_place(self) -> None:
        """Refuse to write if the file was deleted or replaced since it was opened."""
        if self.path is None or self._descriptor is None:
            return
        with suppress(OSError):
            if os.path.samestat(self.path.stat(), os.fstat(self._descriptor)):
                return
        if self._rescued is None:
            self._rescued = self._rescue(self.path)
        message = f"Not saved: the label log {self.path} was deleted or replaced while it was open."
        hint = f"Everything saved before is in {self._rescued}. Restore the log from it and start again."
        raise FileError(message, hint=hint, path=self.path)

    def _rescue(self, path: Path) -> Path:
        """Copy all events to a new file, and remove the journals that SQLite would apply to the wrong file."""
        target = unused_name(path, ".rescued")
        try:
            with closing(sqlite3.connect(target)) as rescued:
                self._connection.backup(rescued)
        except sqlite3.Error as error:
            raise self._failure(error) from error
        finally:
            for ending in ("-wal", "-shm"):
                path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
        log.error("The label log %s was deleted or replaced while it was open; its events are in %s", path, target)
        return target

    def _failure(self, error: Exception) -> FileError:
        """Return the error for a file that SQLite cannot use."""
        return FileError(
            f"Cannot use the label log {self.path}: {quote_error(error)}.",
            hint="Nothing of this step was saved. Check the disk, the folder and its permissions, then try again.",
            path=self.path,
        )


def file_system(path: Path) -> str:
    """Return the type of the file system of a path, such as ``"ext4"`` or ``"nfs4"``; empty if unknown."""
    import psutil

    whole = path.resolve()
    try:
        mounted = [part for part in psutil.disk_partitions(all=True) if whole.is_relative_to(part.mountpoint)]
    except (OSError, RuntimeError):
        return ""
    nearest = max(mounted, key=lambda part: len(part.mountpoint), default=None)
    return "" if nearest is None else nearest.fstype.lower()


def _connect(database: Path | str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(database, timeout=LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False, uri=uri)


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a file for reading; where SQLite cannot write its journals, as a file that does not change."""
    address = path.resolve().as_uri()
    connection = _connect(f"{address}?mode=rw", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        waiting = path.with_name(f"{path.name}-wal")
        if waiting.exists() and waiting.stat().st_size:
            message = f"Cannot read the last events of {path}: they are in {waiting.name}, in a read-only folder."
            raise FileError(message, hint="Copy both files to another folder and read them there.", path=path) from None
        connection = _connect(f"{address}?mode=ro&immutable=1", uri=True)
    except sqlite3.DatabaseError:  # not a database
        connection.close()
        raise
    connection.execute("PRAGMA query_only = 1")
    return connection


def _fingerprint(connection: sqlite3.Connection) -> tuple[int, int, str]:
    """Return application, version and SQL of a database, read at one moment."""
    application, version, schema = connection.execute(FINGERPRINT).fetchone()
    return application, version, " ".join((schema or "").split())


@cache
def _own_fingerprint() -> tuple[int, int, str]:
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(SCHEMA)
        return _fingerprint(made)
