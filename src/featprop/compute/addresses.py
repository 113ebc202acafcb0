"""Graphs at an address that fsspec knows (``s3://…``, ``gs://…``, ``https://…``): every machine keeps a copy to map.

The copy is of the files as they are there now: their names, sizes and marks (an ETag, a time) are in the name of its
folder. A worker of a cluster that is asked for a file of such a copy fetches what it has not.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from featprop.cache import cache_folder
from featprop.compute.scratch import remove_left_behind, scratch_folder
from featprop.errors import FileError, MissingExtraError, quote_error
from featprop.progress import tracked

__all__ = ["address_of", "fetch_file", "is_address", "local_copy"]

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}(?=[^/]|/)")
SOURCE = "address.txt"
"""The file beside a copy that says where it is from."""
MARKS = ("ETag", "etag", "mtime", "last_modified", "LastModified", "updated")


def is_address(path: str | os.PathLike[str]) -> bool:
    """Say whether this is an address rather than a path; a `Path` of one, which lost a slash, is one too."""
    return SCHEME.match(os.fspath(path)) is not None


def local_copy(address: str | os.PathLike[str]) -> Path:
    """Return a folder of this machine with the files at an address, fetched if they are not there yet."""
    scheme, _, rest = os.fspath(address).partition(":")
    found = f"{scheme}://{'/' if scheme == 'file' else ''}{rest.strip('/')}"
    files, root = _files(found)
    marks = [f"{name} {entry.get('size')} {[str(entry.get(mark)) for mark in MARKS]}" for name, entry in files.items()]
    digest = hashlib.sha256("\n".join([found, *marks]).encode()).hexdigest()[:16]
    folder = cache_folder() / "addresses" / digest
    remove_left_behind(folder.parent)
    if (folder / SOURCE).is_file():
        return folder
    with _fetching(folder.parent) as scratch:
        new = scratch / digest
        new.mkdir()
        for name in tracked(files, f"fetching {found}", len(files)):
            _get(root, files[name]["name"], new / name, found)
        (new / SOURCE).write_text(found, encoding="utf-8")
        try:
            new.rename(folder)
        except OSError:  # another process was first, or has fetched some of the files as a worker
            for name in (*files, SOURCE):
                (new / name).replace(folder / name)
    return folder


def address_of(path: Path) -> str | None:
    """Return the address that a file of a copy is from; None for any other file."""
    try:
        return (path.parent / SOURCE).read_text(encoding="utf-8") + f"/{path.name}"
    except OSError:
        return None


def fetch_file(address: str, path: Path) -> None:
    """Fetch one file to where another machine has it, whole or not at all."""
    import fsspec

    path.parent.mkdir(parents=True, exist_ok=True)
    system, there = fsspec.core.url_to_fs(address)
    with _fetching(path.parent.parent) as scratch:
        _get(system, there, scratch / path.name, address)
        (scratch / path.name).replace(path)


@contextmanager
def _fetching(above: Path) -> Iterator[Path]:
    """Yield a folder to fetch to; what a killed process left in such folders goes, whoever fetches next."""
    try:
        with scratch_folder(above) as folder:
            yield folder
    except OSError as error:
        message = f"Cannot keep a copy of the graph in {above}: {error.strerror or quote_error(error)}."
        hint = "Free some space there or set FEATPROP_CACHE to another folder."
        raise FileError(message, hint=hint, path=above) from error


def _files(address: str) -> tuple[dict[str, dict[str, Any]], Any]:
    """Return the files at an address by name, and the file system they are on."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("Reading a graph from a URL", "cluster", "fsspec") from error
    try:
        system, root = fsspec.core.url_to_fs(address)
        entries = system.ls(root, detail=True)
        files = {each["name"].rstrip("/").rsplit("/", 1)[-1]: each for each in entries if each["type"] == "file"}
        files = {name: system.info(files[name]["name"]) | files[name] for name in sorted(files)}
    except Exception as error:  # whatever the library of a store raises
        raise _unreadable(address, error) from error
    if not files:
        raise FileError(f"There are no files at {address}.", hint="Check the address.", path=address)
    return files, system


def _get(system: Any, there: str, here: Path, address: str) -> None:
    try:
        system.get_file(there, str(here))
    except Exception as error:  # whatever the library of a store raises
        raise _unreadable(address, error) from error


def _unreadable(address: str, error: Exception) -> FileError:
    message, hint = f"Cannot read {address}: {quote_error(error)}.", "Check the address and your access rights."
    return FileError(message, hint=hint, path=address)
