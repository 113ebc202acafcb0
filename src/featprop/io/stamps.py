"""The note that the files of a folder were checked, so that they are not read again just to be opened.

``checked.json`` holds the state of each file: its size, when its content and when anything about it was last changed,
and its number in the file system. It counts while all of these are what they were, so never for a copy.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from featprop.errors import FileError
from featprop.files import replacing_file

__all__ = ["STAMP", "FileStates", "file_states", "is_stamped", "stamp", "stamp_written"]

STAMP = "checked.json"

VERSION = 3
"""Of the checks: a stamp of others does not count."""

TICK = 2_000_000_000
"""Nanoseconds within which two changes of a file may have the same time, on the coarsest file system."""

FileStates = dict[str, list[int]]
"""Size, time of the last change of content and of anything, in nanoseconds, and number in the file system, by name.

A copy has another number: it is checked once."""


def file_states(folder: Path) -> FileStates:
    """Return the state of each file that a stamp vouches for: all arrays, the table of the nodes and ``graph.json``."""
    found = {path.name: path.stat() for path in [*folder.glob("*.npy"), *folder.glob("*.arrow"), folder / "graph.json"]}
    return {
        name: [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
        for name, state in sorted(found.items())
    }


def is_stamped(folder: Path, states: FileStates) -> bool:
    """Say whether files in these states were checked."""
    try:
        found = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return bool(found == {"version": VERSION, "files": states})


def stamp(folder: Path, states: FileStates) -> None:
    """Note that files in these states were checked; where that cannot be written they are checked the next time again.

    Files that have just been changed get no stamp: a change within the same tick of the clock would not be seen.
    """
    if max(changed for _, changed, *_ in states.values()) < time.time_ns() - TICK:
        with suppress(FileError), replacing_file(folder / STAMP) as temporary:
            temporary.write_text(json.dumps({"version": VERSION, "files": states}) + "\n", encoding="utf-8")


def stamp_written(folder: Path) -> None:
    """Stamp files that were right when they were written, a moment ago."""
    before = time.time_ns() - 2 * TICK
    for name in file_states(folder):
        os.utime(folder / name, ns=(before, before))
    stamp(folder, file_states(folder))
