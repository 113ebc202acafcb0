"""Graphs at a URL that fsspec can read (``s3://…``, ``gs://…``, ``https://…``), copied to the local cache.

The name of the copy's folder is a digest of the names, sizes and versions (ETag or time) of the files, so changed files
are downloaded again.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from featprop.errors import FileError, MissingExtraError, quote_error
from featprop.files import cache_folder
from featprop.progress import tracked
from featprop.resources import scratch_folder

URL_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}(?=[^/]|/)")
VERSION_FIELDS = ("size", "ETag", "etag", "mtime", "last_modified", "LastModified", "updated")


def is_address(path: str | os.PathLike[str]) -> bool:
    """Return whether this is a URL rather than a path, also after `Path` has removed one of its slashes."""
    return URL_SCHEME.match(os.fspath(path)) is not None


def local_copy(address: str | os.PathLike[str]) -> Path:
    """Return a local folder with the files at an address, downloading them if necessary."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("Reading a graph from a URL", "cluster", "fsspec") from error
    scheme, _, rest = os.fspath(address).partition(":")
    url = f"{scheme}://{'/' if scheme == 'file' else ''}{rest.strip('/')}"
    above = cache_folder() / "addresses"
    with scratch_folder(above) as scratch:
        try:
            system, root = fsspec.core.url_to_fs(url)
            files = sorted(each["name"] for each in system.ls(root, detail=True) if each["type"] == "file")
            facts = [(file, *map(system.info(file).get, VERSION_FIELDS)) for file in files]
            if not files:
                raise FileNotFoundError("there are no files")
            folder = above / hashlib.sha256(f"{url} {facts}".encode()).hexdigest()[:16]
            if not folder.exists():
                new = scratch / "copy"
                new.mkdir()
                for file in tracked(files, f"downloading {url}", len(files)):
                    system.get_file(file, str(new / file.rstrip("/").rsplit("/", 1)[-1]))
                with suppress(OSError):  # another process was faster
                    new.rename(folder)
        except Exception as error:  # whatever the library of a store raises
            raise FileError(
                f"Cannot read {url}: {quote_error(error)}.",
                hint=f"Check the address, your access rights, and the space in {above} (`FEATPROP_CACHE`).",
                path=url,
            ) from error
    return folder
