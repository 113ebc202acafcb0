"""Write files that appear whole or not at all, and overwrite an existing one only when asked to.

The one rule for every output: an existing file is refused unless `force`; with `force`, a file that holds labels is
first copied to ``NAME.bak``. Results that took long to compute are kept in the cache folder.
"""

from __future__ import annotations

import errno
import logging
import os
import platform
import shutil
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from filecmp import cmp
from glob import escape
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from featprop.errors import FileError, ParameterError, already_exists, quote_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

STALE_AFTER_S = 24 * 3600.0
"""Age in seconds after which a temporary file of another machine is removed."""
TABLES = (".csv", ".tsv", ".txt", ".parquet")
EXPORTS = (".json", ".jsonl")
MIN_SECONDS = 0.5
"""A result that took less time to compute is not cached."""
MAX_RESULTS = 20
"""Cached results of each kind; the oldest go."""


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write; it is flushed and renamed to `path` when the block ends without an error.

    A symbolic link stays, and the file it points to is replaced. An `OSError` of the block becomes a `FileError`.
    """
    place = Path(os.path.realpath(path))
    temporary = _temporary_name(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(place)
        temporary.touch()
        if place.exists():
            shutil.copymode(place, temporary)
        yield temporary
        flush(temporary)
        temporary.replace(place)
        flush(place.parent)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill; it is renamed to `path` when the block ends without an error.

    An existing folder is first moved to ``.NAME.old`` and then removed. `restore_interrupted` moves it back if the
    process was killed between the two renames.
    """
    place = Path(os.path.realpath(path))
    temporary = _temporary_name(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        restore_interrupted(place)
        _remove_stale(place)
        temporary.mkdir()
        yield temporary
        old = _set_aside(place)
        if place.exists():
            shutil.rmtree(old, ignore_errors=True)
            place.rename(old)
        temporary.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        restore_interrupted(place)
        shutil.rmtree(temporary, ignore_errors=True)


def restore_interrupted(path: Path) -> None:
    """Move back a folder that a killed process had moved aside to replace it; call this before reading the folder."""
    place = Path(os.path.realpath(path))
    if not os.path.lexists(place):
        with suppress(OSError):
            _set_aside(place).rename(place)


def _set_aside(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")


def check_output(path: Path, *, force: bool, suffixes: Sequence[str] = ()) -> None:
    """Refuse to write to a folder, to a name with another suffix, or to an existing file unless `force`."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise ParameterError(
            f"`out` must end in {' or '.join(suffixes)}, not {path.name!r}.",
            hint=f"Write to {path.stem or path.name}{suffixes[0]}.",
            parameter="out",
            value=str(path),
            choices=suffixes,
        )
    if path.is_dir():
        raise FileError(f"{path} is a folder.", hint="Choose the name of a file.", path=path)
    if path.exists() and not force:
        raise already_exists(path)


@contextmanager
def writing_output(path: Path, *, force: bool, suffixes: Sequence[str] = ()) -> Iterator[Path]:
    """Apply the overwrite rule to `path`, then write it as `replacing_file` does."""
    check_output(path, force=force, suffixes=suffixes)
    if path.exists() and _holds_labels(path):
        log.warning("%s held labels; they are kept in %s", path, _back_up(path))
    with replacing_file(path) as temporary:
        yield temporary


def _back_up(path: Path) -> Path:
    """Copy a file to an unused name, unless an earlier backup holds the same; return the backup."""
    for backup in path.parent.glob(f"{escape(path.name)}.bak*"):
        if cmp(path, backup, shallow=False):
            return backup
    backup = unused_name(path, ".bak")
    with replacing_file(backup) as temporary:
        shutil.copyfile(path, temporary)
    return backup


def unused_name(path: Path, ending: str) -> Path:
    """Return `path` with `ending`, or with `ending` and the first number that makes it new."""
    names = (f"{path.name}{ending}{f'.{number}' if number > 1 else ''}" for number in count(1))
    return next(place for place in map(path.with_name, names) if not place.exists())


def write_error(path: Path, error: OSError) -> FileError:
    """Return the error for a file that the system could not write."""
    message = f"Cannot write {path}: {error.strerror or quote_error(error)}."
    return FileError(message, hint="Check the free space and your permissions, or write elsewhere.", path=path)


def flush(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _prefix(place: Path) -> str:
    """Return how the temporary files of an output begin on this machine."""
    return f".{place.name}.{zlib.crc32(platform.node().encode()):08x}-"


def _temporary_name(place: Path) -> Path:
    return place.with_name(f"{_prefix(place)}{os.getpid()}-{uuid4().hex[:8]}.tmp")


def _remove_stale(place: Path) -> None:
    """Remove temporary files and folders of this output that killed runs left: here, or long ago on another machine."""
    import psutil

    ours = _prefix(place)
    for left in place.parent.glob(f".{escape(place.name)}.*.tmp"):
        pid = left.name.removeprefix(ours).partition("-")[0]
        is_ours = left.name.startswith(ours) and pid.isdecimal()
        with suppress(OSError):
            if not psutil.pid_exists(int(pid)) if is_ours else time.time() - left.stat().st_mtime > STALE_AFTER_S:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _holds_labels(path: Path) -> bool:
    """Return whether a file has a label column with anything in it; a file that cannot be read may."""
    import duckdb

    suffix = path.suffix.lower()
    if suffix not in TABLES:
        return suffix in EXPORTS
    connection = duckdb.connect()
    reading = "read_parquet(?)" if suffix == ".parquet" else "read_csv(?, header = true, all_varchar = true)"
    query = f"SELECT 1 FROM {reading} WHERE trim(label::VARCHAR) <> '' LIMIT 1"
    try:
        return connection.execute(query, [str(path)]).fetchone() is not None
    except duckdb.Error:
        return True


def cache_folder() -> Path:
    """Return ``FEATPROP_CACHE``, or featprop's folder in the cache folder of the platform."""
    import platformdirs

    chosen = os.environ.get("FEATPROP_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("featprop", appauthor=False)


def cached_array(kind: str, key: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return the array of a key, a digest of all it is computed from, or `make` it and keep it if that took long."""
    import numpy as np

    path = cache_folder() / kind / f"{key}.npy"
    with suppress(OSError, ValueError, EOFError):
        found: NDArray[Any] = np.load(path, allow_pickle=False)
        return found
    start = time.monotonic()
    array = make()
    if time.monotonic() - start >= MIN_SECONDS:
        with suppress(OSError, FileError):
            with replacing_file(path) as temporary, temporary.open("wb") as file:
                np.save(file, array, allow_pickle=False)
            kept = sorted(path.parent.glob("*.npy"), key=lambda each: each.stat().st_mtime)
            for old in kept[:-MAX_RESULTS]:
                old.unlink(missing_ok=True)
    return array
