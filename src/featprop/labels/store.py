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
    CHECK (kind NOT IN ('label', 'adjudicate', 'class', 'rename', 'describe', 'remove') OR label IS NOT NULL)
) STRICT;
CREATE INDEX IF NOT EXISTS events_of_node ON events (node, kind);
CREATE INDEX IF NOT EXISTS withdrawals ON events (node) WHERE kind IN ('undo', 'skip');
CREATE INDEX IF NOT EXISTS events_of_annotator ON events (annotator, number);
CREATE INDEX IF NOT EXISTS events_undone ON events (undoes);
CREATE INDEX IF NOT EXISTS uses ON events (label, number) WHERE kind IN ('label', 'adjudicate', 'rename');
CREATE INDEX IF NOT EXISTS namings ON events (number) WHERE kind IN ('class', 'remove', 'describe');
CREATE INDEX IF NOT EXISTS renames ON events (number) WHERE kind = 'rename';
CREATE INDEX IF NOT EXISTS audits ON events (number) WHERE kind = 'audit';
CREATE INDEX IF NOT EXISTS releases ON events (number) WHERE kind = 'release';
CREATE TRIGGER IF NOT EXISTS events_unchanged BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER IF NOT EXISTS events_kept BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE VIEW IF NOT EXISTS standing AS  -- answers and verdicts that were not undone
    SELECT * FROM events AS event WHERE kind IN ('label', 'skip', 'adjudicate')
    AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = event.number);
CREATE VIEW IF NOT EXISTS holding AS  -- of each node, the last answer of each person and the last verdict
    SELECT * FROM standing AS held WHERE NOT EXISTS (
        SELECT 1 FROM standing WHERE node = held.node AND number > held.number
        AND (kind = 'adjudicate') = (held.kind = 'adjudicate') AND (kind = 'adjudicate' OR annotator = held.annotator)
    );
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
            if self._is_empty(read_only=read_only):
                self._set_journal()
                self._connection.executescript(SCHEMA)
            elif not read_only:
                self._set_journal()
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

    def _is_empty(self, *, read_only: bool) -> bool:
        """Return whether to create the tables; refuse other databases, versions, and foreign views or triggers.

        A foreign view may never end, and a trigger may write.
        """
        found = _fingerprint(self._connection)
        if found == EMPTY and not read_only:
            return True
        if found != _own_fingerprint():
            raise FileError(
                f"{self.path} is not a label log of this version of featprop.", hint="Use another file.", path=self.path
            )
        return False

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
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        results: list[tuple[Any, LabelError | None]] = []
        try:
            with self._transaction():
                for work, _ in waiting:
                    try:
                        results.append((work(), None))
                    except LabelError as refusal:
                        results.append((None, refusal))
        except BaseException as error:  # nothing was written: everybody who waits must know
            for _, done in waiting:
                done.set_exception(error)
            return
        for (_, done), (result, refused) in zip(waiting, results, strict=True):
            if refused is None:
                done.set_result(result)
            else:
                done.set_exception(refused)

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
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

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
    return sqlite3.connect(database, LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False, uri=uri)


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


def _fingerprint(connection: sqlite3.Connection) -> tuple[int, int, str]:
    """Return application, version and SQL of a database, read at one moment."""
    application, version, schema = connection.execute(FINGERPRINT).fetchone()
    return application, version, " ".join((schema or "").split())


@cache
def _own_fingerprint() -> tuple[int, int, str]:
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(SCHEMA)
        return _fingerprint(made)
