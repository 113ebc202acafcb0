"""The official source: files over HTTP, checked before they are used."""

from __future__ import annotations

import hashlib
import http.client
import math
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from featprop.datasets.entry import Form, RawFile
from featprop.progress import tracked

__all__ = ["RouteError", "check_digest", "fetch_official"]

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
    """Compare the content of a file with what the data set's file has."""
    if file.digest is None:
        return
    kind, _, expected = file.digest.partition(":")
    digest = hashlib.sha256() if kind == "sha256" else hashlib.sha1(usedforsecurity=False)
    if kind == "git":
        digest.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    if digest.hexdigest() != expected:
        word = "SHA-256" if kind == "sha256" else "SHA-1"
        raise RouteError(f"{file.name} must have the {word} {expected[:12]}…, found {digest.hexdigest()[:12]}…")


def _download(file: RawFile, path: Path) -> None:
    request = urllib.request.Request(file.url or "", headers={"User-Agent": "featprop"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response, path.open("wb") as out:
            length = int(response.headers.get("Content-Length") or 0)
            steps = math.ceil(length / CHUNK)
            for chunk in tracked(_chunks(response), f"downloading {file.name}", steps):
                out.write(chunk)
            if length and out.tell() != length:
                raise RouteError(f"{file.url} sent {out.tell():,} of {length:,} bytes")
    except urllib.error.HTTPError as error:
        error.close()
        raise RouteError(f"{file.url} answered {error.code} {error.reason}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise RouteError(f"{file.url} could not be downloaded ({reason})") from error


def _chunks(response: IO[bytes]) -> Iterator[bytes]:
    while chunk := response.read(CHUNK):
        yield chunk
