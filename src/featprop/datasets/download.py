"""The official source: files over HTTP, checked before they are used."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Iterator
from pathlib import Path

from featprop.datasets.entry import Form, RawFile
from featprop.progress import tracked

__all__ = ["RouteError", "check_digest", "fetch_official"]

log = logging.getLogger(__name__)

TIMEOUT = 15.0
"""Seconds to wait for a server that says nothing."""

CHUNK = 1 << 18


class RouteError(Exception):
    """Why a route did not bring a data set; the next route is tried."""


def fetch_official(form: Form, folder: Path) -> None:
    """Download the files of a form into `folder`."""
    for file in form.files:
        if file.url is None:
            raise RouteError(f"{file.name} has no official address any more")
    for file in form.files:
        _download(file, folder / file.name)
        check_digest(folder / file.name, file)


def check_digest(path: Path, file: RawFile) -> None:
    """Compare the content of a file with what the data set's file has, or say that nobody knows what that is."""
    if file.digest is None:
        log.warning("%s has no published digest: what was sent was not checked against one", file.name)
        return
    kind, _, expected = file.digest.partition(":")
    found = _sha256(path) if kind == "sha256" else _git_name(path)
    if found != expected:
        word = "SHA-256" if kind == "sha256" else "SHA-1"
        raise RouteError(f"{file.name} must have the {word} {expected[:12]}…, found {found[:12]}…")


def _sha256(path: Path) -> str:
    import pooch

    return str(pooch.file_hash(str(path), alg="sha256"))


def _git_name(path: Path) -> str:
    """Return the SHA-1 by which git names a file of this content."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _download(file: RawFile, path: Path) -> None:
    import pooch
    from requests.exceptions import RequestException

    headers = {"User-Agent": "featprop", "Accept-Encoding": "identity"}
    bar = _Bar(f"downloading {file.name}")
    try:
        get = pooch.HTTPDownloader(progressbar=bar, chunk_size=CHUNK, timeout=TIMEOUT, headers=headers)
        get(file.url, str(path), None)
    except (RequestException, ValueError) as error:
        answer = getattr(error, "response", None)
        if answer is not None:
            raise RouteError(f"{file.url} answered {answer.status_code} {answer.reason}") from error
        raise RouteError(f"{file.url} could not be downloaded ({_root(error)})") from error


def _root(error: BaseException) -> BaseException:
    """Return the error that the others came of: those around it repeat the address."""
    while error.__context__ is not None:
        error = error.__context__
    return error


class _Bar:
    """What pooch calls a progress bar: `featprop.progress` is told of each chunk.

    Attributes
    ----------
    total
        The length of the file in bytes, set by pooch before the first chunk.
    """

    total = 0

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.steps: Iterator[int] | None = None

    def update(self, _: int) -> None:
        """Count one chunk more."""
        if self.steps is None:
            steps = math.ceil(self.total / CHUNK)
            self.steps = tracked(range(steps), self.stage, steps)
            next(self.steps, None)
        next(self.steps, None)

    def reset(self) -> None:
        """Do nothing: no chunk is forgotten."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
