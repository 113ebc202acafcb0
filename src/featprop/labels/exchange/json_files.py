"""Files of JSON: a list of objects, one object, or one object a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from featprop.errors import FileError, first_five, quote_error

__all__ = ["check_size", "read_objects"]

LARGEST = 200 << 20
"""Bytes of a file that is read."""


def check_size(path: Path) -> None:
    """Refuse what is no file, or too large a one."""
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise FileError(f"{path}", "must be a file", found, "check the path")
    size = path.stat().st_size
    if size > LARGEST:
        rule, found = f"must have at most {LARGEST / 1e6:,.0f} MB", f"{size / 1e6:,.0f} MB"
        raise FileError(f"{path}", rule, found, "split it into several files")


def read_objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects in a file, however it lists them; one that is damaged is an error."""
    content = path.read_bytes()
    try:
        text = content.decode(json.detect_encoding(content))
        if path.suffix.lower() == ".jsonl" and not text.strip():
            return []
        found = _parsed(text)
        strange = [f"number {place}" for place, each in enumerate(found, 1) if not isinstance(each, dict)]
        if strange:
            raise ValueError(f"no object but something else at {first_five(strange)}")
        return found
    except (ValueError, RecursionError) as error:
        rule = "must be JSON or JSON lines, undamaged"
        raise FileError(f"{path}", rule, f"this: {quote_error(error)}", "export it again") from error


def _parsed(text: str) -> list[Any]:
    """Read JSON, or JSON lines if it is not."""
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except json.JSONDecodeError:
        lines = text.split("\n")
        first = next((line for line in lines if line.strip()), "")
        if not _is_object(first):
            raise
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise ValueError(f"{error.msg} in line {number}") from error
    return found


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
