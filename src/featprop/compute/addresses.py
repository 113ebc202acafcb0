"""Graphs at a URL that fsspec can read (``s3://…``, ``gs://…``, ``https://…``), copied to the local cache.

The name of the copy's folder is a digest of the names, sizes and versions (ETag or time) of the files, so changed files
are downloaded again. A Dask worker without the copy downloads the files it needs.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from featprop.compute.scratch import remove_abandoned_folders, scratch_folder
from featprop.errors import FileError, MissingExtraError, quote_error
from featprop.files import cache_folder
from featprop.progress import tracked

URL_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}(?=[^/]|/)")
ADDRESS_FILE = "address.txt"
"""Name of the file in a copy that holds its URL."""
VERSION_FIELDS = ("ETag", "etag", "mtime", "last_modified", "LastModified", "updated")


def is_address(path: str | os.PathLike[str]) -> bool:
    """Return whether this is a URL rather than a path, also after `Path` has removed one of its slashes."""
    return URL_SCHEME.match(os.fspath(path)) is not None


def local_copy(address: str | os.PathLike[str]) -> Path:
    """Return a local folder with the files at an address, downloading them if necessary."""
    scheme, _, rest = os.fspath(address).partition(":")
    url = f"{scheme}://{'/' if scheme == 'file' else ''}{rest.strip('/')}"
    files, system = _files(url)
    versions = [
        f"{name} {entry.get('size')} {[str(entry.get(field)) for field in VERSION_FIELDS]}"
        for name, entry in files.items()
    ]
    digest = hashlib.sha256("\n".join([url, *versions]).encode()).hexdigest()[:16]
    folder = cache_folder() / "addresses" / digest
    remove_abandoned_folders(folder.parent)
    if (folder / ADDRESS_FILE).is_file():
        return folder
    with _download_folder(folder.parent) as scratch:
        new = scratch / digest
        new.mkdir()
        for name in tracked(files, f"downloading {url}", len(files)):
            _download(system, files[name]["name"], new / name, url)
        (new / ADDRESS_FILE).write_text(url, encoding="utf-8")
        try:
            new.rename(folder)
        except OSError:  # another process was faster, or downloaded some of the files as a worker
            for name in (*files, ADDRESS_FILE):
                (new / name).replace(folder / name)
    return folder


def address_of(path: Path) -> str | None:
    """Return the URL of a file in a copy; None for any other file."""
    try:
        return (path.parent / ADDRESS_FILE).read_text(encoding="utf-8") + f"/{path.name}"
    except OSError:
        return None


def fetch_file(address: str, path: Path) -> None:
    """Download one file to the path another machine has it at; write all of it or nothing."""
    import fsspec

    path.parent.mkdir(parents=True, exist_ok=True)
    system, there = fsspec.core.url_to_fs(address)
    with _download_folder(path.parent.parent) as scratch:
        _download(system, there, scratch / path.name, address)
        (scratch / path.name).replace(path)


@contextmanager
def _download_folder(above: Path) -> Iterator[Path]:
    """Yield a temporary folder; leftovers of killed processes are removed."""
    try:
        with scratch_folder(above) as folder:
            yield folder
    except OSError as error:
        raise FileError(
            f"Cannot keep a copy of the graph in {above}: {error.strerror or quote_error(error)}.",
            hint="Free some space there or set FEATPROP_CACHE to another folder.",
            path=above,
        ) from error


def _files(address: str) -> tuple[dict[str, dict[str, Any]], Any]:
    """Return the files at an address by name, and their fsspec file system."""
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


def _download(system: Any, there: str, here: Path, address: str) -> None:
    try:
        system.get_file(there, str(here))
    except Exception as error:  # whatever the library of a store raises
        raise _unreadable(address, error) from error


def _unreadable(address: str, error: Exception) -> FileError:
    return FileError(
        f"Cannot read {address}: {quote_error(error)}.", hint="Check the address and your access rights.", path=address
    )
