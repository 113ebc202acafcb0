"""Outputs appear whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from featprop.errors import FileError

__all__ = ["replacing_file", "replacing_folder"]


@contextmanager
def replacing_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write; it takes the place of `path` when the block ends without error."""
    with _workspace(path) as workspace:
        temporary = workspace / path.name
        yield temporary
        temporary.replace(path)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill; it takes the place of `path` when the block ends without error."""
    path = path.resolve()
    with _workspace(path) as workspace:
        temporary = workspace / "new"
        temporary.mkdir()
        yield temporary
        old = workspace / "old"
        if path.exists():
            path.replace(old)
        try:
            temporary.replace(path)
        except BaseException:
            if old.exists():
                old.replace(path)
            raise


@contextmanager
def _workspace(path: Path) -> Iterator[Path]:
    """Make a private folder beside `path`, so that renaming stays on one file system."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        workspace = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        cure = "choose a place you may write to"
        raise FileError(f"{path}", "must be in a writable folder", error.strerror, cure) from error
    try:
        yield workspace
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
