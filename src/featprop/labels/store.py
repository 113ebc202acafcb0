"""The SQLite file of a label log: an append-only table of events that survives crashes and accidents.

The file is in WAL mode with ``synchronous=FULL``, or with a rollback journal on a network file system. Every write is a
transaction that is on the disk before the call returns; writes that wait at the same time share one. If the file is
deleted or replaced while it is open, the next write fails and all events go to ``NAME.rescued``.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

from featprop.errors import FileError, LabelError, quote_error
from featprop.files import unused_name

log = logging.getLogger(__name__)

Result = TypeVar("Result")

LOCK_TIMEOUT_S = 10.0
"""Seconds to wait for another process that is writing."""
RETRY_S = 0.01
NETWORK_FILE_SYSTEMS = (
    *("nfs", "cifs", "smb", "fuse", "9p", "afs", "ceph", "gluster", "lustre", "vboxsf", "webdav", "davfs"),
)
"""Prefixes of file system types on which WAL cannot be trusted."""
FORMAT = 1
"""Version of the file format, stored as ``user_version``."""
APPLICATION = 0x66656174
"""``feat``: marks the file as a label log."""
SCHEMA = f"""
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL,
    annotator TEXT NOT NULL,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL,
    node TEXT NOT NULL,
    label TEXT,
    text TEXT NOT NULL,
    source TEXT NOT NULL,
    undoes INTEGER REFERENCES events (number)
);
CREATE INDEX events_of_node ON events (node);
CREATE INDEX events_of_annotator ON events (annotator, number);
CREATE INDEX renames ON events (number) WHERE kind = 'rename';
CREATE INDEX audits ON events (number) WHERE kind = 'audit';
CREATE INDEX releases ON events (number) WHERE kind = 'release';
CREATE INDEX events_undone ON events (undoes);
CREATE TRIGGER events_unchanged BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE VIEW standing AS
    SELECT * FROM events AS event
    WHERE kind IN ('label', 'skip', 'adjudicate') AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = event.number);
CREATE VIEW audit AS
    SELECT * FROM events
    WHERE kind = 'audit' AND number > coalesce((SELECT max(number) FROM events WHERE kind = 'release'), 0);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""


class EventStore:
    """An append-only SQLite file.

    Parameters
    ----------
    path
        The file, created if it does not exist; None to keep the events in memory.
    read_only
        Whether to open the file for reading only, even where nothing can be written.
    exclusive
        Whether to keep other processes from opening the log exclusively. Reading and writing stay possible for them.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False, exclusive: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.RLock()
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._writer = 0
        self._descriptor: int | None = None
        self._rescued: Path | None = None
        try:
            if self.path is not None and read_only:
                self._connection = _connect_read_only(self.path)
            else:
                self._connection = _connect(self.path or ":memory:")
            self._check_format()
            if not read_only:
                self._set_journal()
                self._create_tables()
            if self.path is not None:
                self._descriptor = os.open(self.path, os.O_RDONLY)
                if exclusive:
                    self._lock_file()
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

    def _lock_file(self) -> None:
        """Lock the database file itself; SQLite's own locks are of another kind, so others can still read."""
        assert self._descriptor is not None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            message = f"The label log {self.path} is open in another featprop process."
            raise FileError(message, hint="Stop that process, or use another file.", path=self.path) from error

    def _check_format(self) -> None:
        """Refuse another database, another version, and views or triggers that featprop did not make."""
        ask, is_empty = self._connection.execute, self._is_empty()  # first: another process may be creating the tables
        application, version = ask("PRAGMA application_id").fetchone()[0], self._version()
        if not is_empty and (application != APPLICATION or version != FORMAT):
            found = f"it has version {version}" if application == APPLICATION else "it is another database"
            raise FileError(f"{self.path} is not a label log of this version: {found}.", path=self.path)
        if version and not self._has_own_schema():
            message = f"{self.path} has tables, views or triggers that featprop did not create."
            raise FileError(message, hint="Use another file.", path=self.path)

    def _has_own_schema(self) -> bool:
        """Return whether the file runs nothing but our SQL: a foreign view may never end, a trigger may write."""
        found, known = _read_schema(self._connection), _own_schema()
        may_run = {each for each in found if each[0] in ("view", "trigger")}
        return known <= found and may_run <= known

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
                mode: str = self._connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0]
                return mode
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(RETRY_S)

    def _create_tables(self) -> None:
        """Create the tables of a new file, unless another process just did."""
        if self._version() == FORMAT:
            return
        with self._transaction():
            self._check_format()
            if self._version() != FORMAT:
                for statement in _split(SCHEMA):
                    self._connection.execute(statement)

    def _version(self) -> int:
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        return version

    def _is_empty(self) -> bool:
        tables: int = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return tables == 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other threads from reading and writing inside the block."""
        with self._lock:
            yield

    def query(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self._lock:
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise self._failure(error) from error

    def write_together(self, work: Callable[[], Result]) -> Result:
        """Run `work` in one transaction with all other work that waits, and return its result.

        `work` writes at most one event, and nothing if it raises, so it never undoes what others do. It may call
        methods of the log that write.
        """
        if self._writer == threading.get_ident():
            return work()
        done: Future[Result] = Future()
        self._waiting.append((work, done))
        with self._lock:
            if not done.done():
                self._run_waiting()
        return done.result()

    def _run_waiting(self) -> None:
        pieces = [self._waiting.popleft() for _ in range(len(self._waiting))]
        results: list[tuple[Any, LabelError | None]] = []
        try:
            with self._transaction():
                for work, _ in pieces:
                    try:
                        results.append((work(), None))
                    except LabelError as refused:
                        results.append((None, refused))
        except BaseException as error:  # nothing was written: everybody who waits must know
            for _, done in pieces:
                done.set_exception(error)
            return
        for (_, done), (result, refusal) in zip(pieces, results, strict=True):
            if refusal is None:
                done.set_result(result)
            else:
                done.set_exception(refusal)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run the block as one transaction; an error in it rolls everything back."""
        with self._lock:
            self._check_in_place()
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                self._writer = threading.get_ident()
                yield
                self._connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back()
                if isinstance(error, sqlite3.Error):
                    raise self._failure(error) from error
                raise
            finally:
                self._writer = 0
            self._check_in_place()

    def _roll_back(self) -> None:
        """Undo a failed transaction; if even that fails, as on a full disk, SQLite does it at the next read."""
        with suppress(sqlite3.ProgrammingError):
            if self._connection.in_transaction:
                try:
                    self._connection.execute("ROLLBACK")
                except sqlite3.Error as error:
                    log.warning("%s: the failed write is rolled back later (%s)", self.path, quote_error(error))

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
            self.copy_to(target)
        finally:
            for ending in ("-wal", "-shm"):
                path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
        log.error("The label log %s was deleted or replaced while it was open; its events are in %s", path, target)
        return target

    def copy_to(self, path: str | os.PathLike[str]) -> None:
        """Write all events to another file, which must not exist."""
        if Path(path).exists():
            raise FileError(f"{path} already exists.", path=path)
        with self._lock:
            try:
                with closing(sqlite3.connect(path)) as target:
                    self._connection.backup(target)
            except sqlite3.Error as error:
                raise self._failure(error, path) from error

    def _failure(self, error: Exception, path: str | os.PathLike[str] | None = None) -> FileError:
        """Return the error for a file that SQLite cannot use."""
        place = path or self.path
        return FileError(
            f"Cannot use the label log {place}: {quote_error(error)}.",
            hint="Nothing of this step was saved. Check the disk, the folder and its permissions, then try again.",
            path=place,
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
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False, uri=uri)
    connection.execute(f"PRAGMA busy_timeout = {int(LOCK_TIMEOUT_S * 1000)}")
    return connection


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
    connection.execute("PRAGMA query_only = 1")
    return connection


def _split(script: str) -> Iterator[str]:
    """Split a script into statements; `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _read_schema(connection: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Return type, name and SQL of everything a database defines, with normalised spaces."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return frozenset((str(kind), str(name), " ".join(str(text).split())) for kind, name, text in rows)


@cache
def _own_schema() -> frozenset[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in _split(SCHEMA):
            made.execute(statement)
        return _read_schema(made)
