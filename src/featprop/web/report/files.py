"""The HTML file of a report."""

from __future__ import annotations

from pathlib import Path

from featprop.errors import FileError, ParameterError
from featprop.io.atomic import replacing_file

COMMAND = "featprop report"


def check_replaceable(path: Path, *, force: bool, command: str = COMMAND) -> None:
    """Refuse to overwrite a file that is not a report of the command, and paths that are not HTML files."""
    if path.suffix.lower() not in (".html", ".htm"):
        hint = f"Write to {path.stem or 'report'}.html."
        raise ParameterError(
            f"`out` must end in .html, not {path.name!r}.", hint=hint, parameter="out", value=str(path)
        )
    if path.is_dir():
        raise FileError(f"{path} is a folder.", hint="Choose another path.", path=path)
    if path.exists() and not force and not _is_report(path, command):
        raise FileError(
            f"{path} already exists and is not a report of `{command}`.",
            hint="Pass `force=True` to overwrite it.",
            path=path,
        )


def write_page(path: Path, page: str, *, force: bool) -> None:
    """Write a report atomically."""
    check_replaceable(path, force=force)
    with replacing_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def _is_report(path: Path, command: str) -> bool:
    """Return whether a file starts like every page of the command."""
    opening = f"<!doctype html><!-- {command} -->\n"
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(opening)) == opening
