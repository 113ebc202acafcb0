"""The SQLite file of a label log: how it is opened, read and written.

It is in WAL mode with ``synchronous=FULL``; on the file system of another machine, where WAL cannot be trusted, with a
journal. There is one writer connection, and each write is a transaction that takes the lock at once, so what was
written is on the disk before the call returns. Pieces of work that wait at the same time are one transaction: the disk
is waited for once, and each of them returns after that (`ActFile._in_turn`).
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from featprop.errors import FileError, LabelError, quote_error
from featprop.labels.acts import Act, act_of
from featprop.labels.schema import APPLICATION, COLUMNS, FORMAT, SCHEMA, own_schema, schema_of, statements

__all__ = ["ActFile"]

log = logging.getLogger(__name__)

Result = TypeVar("Result")

PATIENCE = 10_000
"""Milliseconds to wait for another process that is writing."""
AGAIN = 0.01
"""Seconds until it is asked again where SQLite itself does not wait."""
REMOTE = ("nfs", "cifs", "smb", "fuse", "9p", "afs", "ceph", "gluster", "lustre", "vboxsf", "webdav", "davfs")
"""How the types of file systems begin that another machine, or another program, may stand behind."""


class ActFile:
    """The file that acts are in.

    Parameters
    ----------
    path
        The file, made if it is not there; None to keep the acts in memory.
    read_only
        Whether the file is only read: it may lie where nothing can be written.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.RLock()
        self._turn = 0
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="featprop-log")
        try:
            if self.path is not None and read_only:
                self._connection = _reading(self.path)
            else:
                self._connection = _connected(self.path or ":memory:")
            self._check()
            if not read_only:
                self._keep_safe()
                self._make_tables()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where SQLite quotes bytes that are no text
            raise self._damaged(error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._writer.shutdown()
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        """Refuse another database, a log of another version, or one with views or triggers that are not ours."""
        ask, is_empty = self._connection.execute, self._is_empty()  # first: another process may be making the tables
        known, version = ask("PRAGMA application_id").fetchone()[0], self._version()
        if not is_empty and (known != APPLICATION or version != FORMAT):
            found = f"version {version} of one" if known == APPLICATION else "another database"
            raise FileError(f"{self.path}", "must be a label log of this version", found, "choose another file")
        if version and not self._has_own_schema():
            found = "views or triggers that featprop did not make"
            raise FileError(f"{self.path}", "must be a label log of this version", found, "choose another file")

    def _has_own_schema(self) -> bool:
        """Say whether all that the file may have SQLite run is ours: a view may take forever, a trigger write acts."""
        found, known = schema_of(self._connection), own_schema()
        may_run = {each for each in found if each[0] in ("view", "trigger")}
        return known <= found and may_run <= known

    def _keep_safe(self) -> None:
        """Set how writes reach the disk, and say where that is done in another way than usual."""
        ask = self._connection.execute
        kind = "" if self.path is None else file_system(self.path)
        wanted = "DELETE" if kind.startswith(REMOTE) else "WAL"
        mode = self._journal(wanted)
        if mode not in ("wal", "memory"):
            where = kind or "this file system"
            log.warning("%s: no write-ahead log on %s, a journal is kept instead (%s)", self.path, where, mode)
        ask("PRAGMA synchronous = FULL")

    def _journal(self, wanted: str) -> str:
        """Set the kind of journal and return which it is; SQLite does not wait for another process that does so."""
        until = time.monotonic() + PATIENCE / 1000
        while True:
            try:
                mode: str = self._connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0]
                return mode
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(AGAIN)

    def _make_tables(self) -> None:
        """Make the tables of a new file, unless another process just did."""
        if self._version() == FORMAT:
            return
        with self._writing():
            self._check()
            if self._version() != FORMAT:
                for statement in statements(SCHEMA):
                    self._connection.execute(statement)

    def _version(self) -> int:
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        return version

    def _is_empty(self) -> bool:
        tables: int = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return tables == 0

    def _select(self, query: str, *values: object) -> list[Act]:
        with self._lock:
            try:
                rows = self._connection.execute(query.replace("{}", COLUMNS), values).fetchall()
                return [act_of(row) for row in rows]
            except (sqlite3.Error, ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
                raise self._damaged(error) from error

    def _in_turn(self, work: Callable[[], Result]) -> Result:
        """Do a piece of work in a transaction, together with all that waits by then, and return what it returns.

        The work writes one row or, where it refuses, none: what others do in the same transaction is not undone.
        """
        done: Future[Result] = Future()
        self._waiting.append((work, done))
        try:
            self._writer.submit(self._do_waiting)
        except RuntimeError as error:  # the file is closed
            raise self._damaged(error) from error
        return done.result()

    def _do_waiting(self) -> None:
        with self._lock:
            pieces = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not pieces:
                return
            results: list[tuple[Any, LabelError | None]] = []
            try:
                with self._writing():
                    for work, _ in pieces:
                        try:
                            results.append((work(), None))
                        except LabelError as refused:
                            results.append((None, refused))
            except BaseException as error:  # whoever waits is told: nothing of it was written
                for _, done in pieces:
                    done.set_exception(error)
                return
        for (_, done), (result, refusal) in zip(pieces, results, strict=True):
            if refusal is None:
                done.set_result(result)
            else:
                done.set_exception(refusal)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Make a transaction of the block, for this connection alone; whatever goes wrong in it undoes it."""
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException as error:
                self._undo_all()
                if isinstance(error, sqlite3.Error):
                    raise self._damaged(error) from error
                raise

    def _undo_all(self) -> None:
        """Undo a transaction that failed; on a full disk that may fail too, and SQLite does it when it reads again."""
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                log.warning("%s: what failed could not be undone at once (%s)", self.path, quote_error(error))

    def _damaged(self, error: Exception, path: str | os.PathLike[str] | None = None) -> FileError:
        """Return what to raise where this file, or another one that it is written to, is not what it must be."""
        rule, cure = (
            "must be a label log that can be read and written",
            "look at its disk and folder, then try again",
        )
        return FileError(f"{path or self.path}", rule, quote_error(error), cure)


def file_system(path: Path) -> str:
    """Return the type of the file system that a path is on, such as ``"ext4"`` or ``"nfs4"``; empty if unknown."""
    import psutil

    whole = path.resolve()
    try:
        mounted = [part for part in psutil.disk_partitions(all=True) if whole.is_relative_to(part.mountpoint)]
    except (OSError, RuntimeError):
        return ""
    nearest = max(mounted, key=lambda part: len(part.mountpoint), default=None)
    return "" if nearest is None else nearest.fstype.lower()


class _Connection(sqlite3.Connection):
    """Closes itself when nobody holds it any more, as logs in memory are never closed by hand."""

    def __del__(self) -> None:
        with suppress(sqlite3.Error):
            self.close()


def _connected(database: Path | str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False, uri=uri, factory=_Connection)
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE}")
    return connection


def _reading(path: Path) -> sqlite3.Connection:
    """Connect to a file for reading; where nothing can be written beside it, as one that does not change."""
    address = path.resolve().as_uri()
    connection = _connected(f"{address}?mode=rw", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        waiting = path.with_name(f"{path.name}-wal")
        if waiting.exists() and waiting.stat().st_size:
            rule, found = "must be where its last answers can be read", f"{waiting.name} where nothing can be written"
            raise FileError(f"{path}", rule, found, "copy both to another folder, and read it there") from None
        connection = _connected(f"{address}?mode=ro&immutable=1", uri=True)
    connection.execute("PRAGMA query_only = 1")
    return connection
