"""The file of a report: what it begins with, by which it is known again, and where it may be written."""

from __future__ import annotations

from pathlib import Path

from featprop.errors import FileError, ParameterError, overwriting
from featprop.files import writing_output

__all__ = ["COMMAND", "SUFFIXES", "check_replaceable", "write_page"]

COMMAND = "featprop report"
SUFFIXES = (".html", ".htm")


def check_replaceable(path: Path, *, force: bool, command: str = COMMAND) -> None:
    """Refuse to write over a file that is no report of the command, or to a place that cannot be one."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ParameterError("out", "must end in .html", f"{path.name!r}", f"write to {path.stem or 'report'}.html")
    if path.is_dir():
        raise FileError(f"{path}", "must be a file", "a folder", "choose another place")
    if path.exists() and not force and not _is_report(path, command):
        found = f"a file that {command} did not write"
        raise overwriting(path, found, "must be new or an earlier report")


def write_page(path: Path, page: str, *, force: bool) -> None:
    """Write a report; it appears whole or not at all."""
    with writing_output(path, force=force, suffixes=SUFFIXES) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def _is_report(path: Path, command: str) -> bool:
    """Say whether a file begins as every page of the command does."""
    opening = f"<!doctype html><!-- {command} -->\n"
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(opening)) == opening
