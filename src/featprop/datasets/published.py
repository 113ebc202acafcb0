"""The public files of data sets: their names, official addresses and digests."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class RawFile:
    """One public file of a data set."""

    name: str  # in the cache and in a folder of placed files
    url: str | None = None  # its official address, if it still has one
    digest: str | None = None  # "sha256:…", or "git:…" (git's SHA-1 of the content) where no SHA-256 is known

    @property
    def official_name(self) -> str:
        """Its name at the official address, which may be too short for a folder of many files: ``cora.npz``."""
        return PurePosixPath(self.url).name if self.url else self.name


def _read_registry() -> dict[str, RawFile]:
    lines = files("featprop.datasets").joinpath("registry.txt").read_text(encoding="utf-8").splitlines()
    known = {}
    for name, digest, *url in (line.split() for line in lines if not line.startswith("#")):
        known[name] = RawFile(name, url[0] if url else None, None if digest == "-" else digest)
    return known


FILES = _read_registry()
"""The files by name."""


def digest_of(path: Path, kind: str) -> str:
    """Return the digest of a file, of the kind ``sha256`` or ``git``."""
    digest = hashlib.sha256() if kind == "sha256" else hashlib.sha1(usedforsecurity=False)
    if kind == "git":
        digest.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as file:
        return f"{kind}:{hashlib.file_digest(file, lambda: digest).hexdigest()}"


def is_published(path: Path) -> bool:
    """Return whether a file is one whose digest is known: only such a file may be unpickled."""
    return {digest_of(path, "sha256"), digest_of(path, "git")} & {file.digest for file in FILES.values()} != set()
