"""Outputs appear whole or not at all, readers see one of them, and what killed runs leave is put back or swept away.

A file or folder is made in a workspace beside its place, ``.featprop-HOST-PID-…``, and renamed to it. A folder that
takes the place of another needs two renames, the old one into the workspace and then the new one out of it; a process
that is killed between the two leaves nothing at the place, and `restore_interrupted` brings the old one back. Where
several replace a folder at once, each takes the place of the one before; `read_whole` reads all files of one of them.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from featprop.files import flush, write_error

__all__ = ["read_whole", "replacing_folder", "restore_interrupted", "sweep"]

Read = TypeVar("Read")

PATIENCE = 5.0
"""Seconds to wait for a run that is between its two renames, and to read a folder that is replaced again and again."""

LEFT_BEHIND = 24 * 3600.0
"""Seconds after which a workspace made on another computer belongs to nobody who is still running."""

MOMENT = 60.0
"""Seconds that no run spends between its two renames, and that clocks may differ by."""

TAKEN = frozenset({errno.ENOTEMPTY, errno.EEXIST})
"""The errors of a rename to a place where another run was first."""

WORKSPACE = ".featprop-"
NAME = re.compile(re.escape(WORKSPACE) + r"([0-9a-f]{8})-(\d+)-\w+")


@contextmanager
def replacing_folder(
    path: Path, *, durable: bool = True, check: Callable[[Path], None] | None = None
) -> Iterator[Path]:
    """Yield a temporary folder to fill; it takes the place of `path` when the block ends without error.

    Links and errors are treated as `featprop.files.replacing_file` treats them.

    Parameters
    ----------
    durable
        Wait until the files are on the disk before the old ones go. Files of gigabytes that can be made again need not.
    check
        Called with what was at `path`, moved aside, where no other run can replace it any more; if it raises, that
        stays. So a folder that was made of the one before takes the place of that one alone.
    """
    with _workspace(path) as (place, workspace):
        new, old = workspace / "new" / place.name, workspace / "old" / place.name
        new.mkdir(parents=True)
        old.parent.mkdir()
        yield new
        for written in [*new.rglob("*"), new] if durable else []:
            flush(written)
        _take_place(new, place, old, check)
        flush(place.parent)


def read_whole(folder: Path, read: Callable[[], Read]) -> Read:
    """Return what `read` returns of a folder that may be replaced at any moment: what it reads is of one folder.

    A folder that was moved aside comes back first (`restore_interrupted`); one that was replaced while it was read is
    read again.
    """
    given_up = time.monotonic() + PATIENCE
    while time.monotonic() < given_up:
        restore_interrupted(folder)
        try:
            held = os.open(folder, os.O_RDONLY)
        except OSError:
            if _is_aside(Path(os.path.realpath(folder))):
                continue
            break
        try:
            found = read()
        except Exception:
            if _is_at(folder, held):
                raise
        else:
            if _is_at(folder, held):
                return found
        finally:
            os.close(held)
    return read()


def restore_interrupted(path: Path) -> None:
    """Put back a folder that a run had moved aside to replace it when it was killed; call it before reading a folder.

    Where there is something at `path` nothing is done. A run that is between its two renames is waited for.
    """
    place = Path(os.path.realpath(path))
    given_up = time.monotonic() + PATIENCE
    while not os.path.lexists(place):
        sweep(place.parent)
        if not _is_aside(place) or time.monotonic() > given_up:
            return
        time.sleep(0.01)


def sweep(folder: Path) -> None:
    """Put back what killed runs had moved aside in `folder`, and remove their workspaces."""
    for workspace in _workspaces(folder):
        if _is_abandoned(workspace):
            for old in _moved_aside(workspace):
                if not os.path.lexists(folder / old.name):
                    with suppress(OSError):
                        old.rename(folder / old.name)
            if not _moved_aside(workspace):
                shutil.rmtree(workspace, ignore_errors=True)


@contextmanager
def _workspace(path: Path) -> Iterator[tuple[Path, Path]]:
    """Make a private folder beside the place `path` stands for, so that renaming stays on one file system."""
    place = Path(os.path.realpath(path))
    made = [folder for folder in place.parents if not folder.exists()]
    workspace = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        sweep(place.parent)
        workspace = Path(tempfile.mkdtemp(prefix=f"{WORKSPACE}{_host()}-{os.getpid()}-", dir=place.parent))
        yield place, workspace
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        if workspace is not None:
            shutil.rmtree(workspace, ignore_errors=True)
        with suppress(OSError):
            for folder in made:
                folder.rmdir()


def _take_place(new: Path, place: Path, old: Path, check: Callable[[Path], None] | None) -> None:
    """Rename a new folder to its place and what is there to `old`; another run may be doing the same."""
    while True:
        try:
            if old.exists():  # what came to the place since then is newer
                shutil.rmtree(old)
            if place.exists():
                with suppress(FileNotFoundError):  # another run moved it aside
                    place.replace(old)
            if check is not None:
                check(old)
            new.replace(place)
            return
        except BaseException as error:
            if isinstance(error, OSError) and error.errno in TAKEN:
                continue
            if old.exists() and not os.path.lexists(place):
                old.replace(place)
            raise


def _is_at(folder: Path, held: int) -> bool:
    """Say whether the folder that is open under this number is the one at a path; it keeps its number while open."""
    try:
        return os.path.samestat(os.fstat(held), folder.stat())
    except OSError:
        return False


def _is_aside(place: Path) -> bool:
    """Say whether a run has moved aside what was at a place."""
    return any((workspace / "old" / place.name).exists() for workspace in _workspaces(place.parent))


def _workspaces(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if NAME.fullmatch(entry.name)]
    except OSError:
        return []


def _moved_aside(workspace: Path) -> list[Path]:
    """Return what was moved into a workspace without anything coming out of it to take its place."""
    return [old for old in (workspace / "old").glob("*") if (workspace / "new" / old.name).exists()]


def _is_abandoned(workspace: Path) -> bool:
    """Say whether the process that made a workspace has ended."""
    import psutil

    host, pid = NAME.fullmatch(workspace.name).groups()  # type: ignore[union-attr]
    try:
        made = workspace.stat().st_mtime
        if host != _host():
            is_stuck = bool(_moved_aside(workspace)) and time.time() - (workspace / "old").stat().st_mtime > MOMENT
            return is_stuck or time.time() - made > LEFT_BEHIND
        process = psutil.Process(int(pid))
        return bool(process.status() == psutil.STATUS_ZOMBIE or process.create_time() > made + MOMENT)
    except psutil.NoSuchProcess:
        return True
    except (OSError, psutil.Error):
        return False


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"
