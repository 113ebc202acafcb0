"""A work where the disk is full, or may not be written to: one sentence, exit code 2, everything as it was before.

A small file system is mounted for it, which takes root on Linux. It is filled but for some bytes, and the work tried
with more and more of them until it is done.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crash.children import finished
from crash.killing import Undisturbed
from crash.looks import names_in

__all__ = ["Refusals", "can_mount", "out_of_room", "read_only"]

SIZE = 4 << 20
PAGE = 4096
FILLER = "filler"
OF_SQLITE = ("-shm", "-wal")
"""Files beside a label log that SQLite opens it with, and removes when it is closed the next time."""


@dataclass
class Refusals:
    """What was seen: how often it was tried, refused in one sentence, and what was wrong."""

    tried: int = 0
    refused: int = 0
    notes: list[str] = field(default_factory=list)


def can_mount() -> bool:
    """Say whether a file system can be mounted here."""
    with tempfile.TemporaryDirectory() as place:
        try:
            with _mounted(Path(place)):
                return True
        except OSError:
            return False


def out_of_room(run: Undisturbed) -> Refusals:
    """Try the work with no room, a page of it, two pages, and so on, until there is enough."""
    found = Refusals()
    with tempfile.TemporaryDirectory() as place, _mounted(Path(place)) as disk:
        pages = 0
        while pages * PAGE < SIZE // 2:
            state = _state(run, disk)
            room = shutil.disk_usage(disk).free - pages * PAGE
            (disk / FILLER).write_bytes(bytes(max(0, room)))
            is_done = _try(run, state, found, f"{pages} pages of room")
            (disk / FILLER).unlink()
            if is_done:
                break
            pages += 1 if pages < 8 else pages // 4
        else:
            found.notes.append(f"not done with {pages} pages of room")
    return found


def read_only(run: Undisturbed) -> Refusals:
    """Try the work where nothing can be written."""
    found = Refusals()
    with tempfile.TemporaryDirectory() as place, _mounted(Path(place)) as disk:
        state = _state(run, disk)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        if _try(run, state, found, "read-only"):
            found.notes.append("done where nothing can be written")
    return found


def _try(run: Undisturbed, state: Path, found: Refusals, when: str) -> bool:
    """Do the work; what it refuses to do must be said, and have changed nothing that a reader sees."""
    names = names_in(state)
    code, child = finished(run.work.task(run.inputs, state), state)
    told = child.told
    found.tried += 1
    is_writable = when != "read-only"
    if code == 0:
        if is_writable and dict(run.work.look(run.inputs, state)) != run.after:
            found.notes.append(f"{when}: said to be done, and is not")
        return True
    last = (told.strip().splitlines() or [""])[-1]
    is_said = code == 2 and last.startswith("Error: ") and "Traceback" not in told
    is_raised = code == 1 and last.startswith("featprop.errors.")
    if is_said or is_raised:
        found.refused += 1
    else:
        found.notes.append(f"{when}: ended with {code}: {told[-400:]}")
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(state, Path(copy) / "state")
        seen = dict(run.work.look(run.inputs, Path(copy) / "state"))
        for name in {*seen, *run.before}:
            if seen.get(name) not in (run.before.get(name), run.after.get(name)):
                found.notes.append(f"{when}: {name} is neither as before nor as after")
        left = {name for name in names_in(state) - names - run.names if not name.endswith(OF_SQLITE)}
        left = {name for name in left if not (run.work.keeps and name.startswith(run.work.keeps))}
        if left:
            found.notes.append(f"{when}: left {sorted(left)}")
    return False


def _state(run: Undisturbed, disk: Path) -> Path:
    shutil.rmtree(disk / "state", ignore_errors=True)
    shutil.copytree(run.place / "start", disk / "state", symlinks=True)
    return disk / "state"


@contextmanager
def _mounted(place: Path) -> Iterator[Path]:
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", place], capture_output=True, check=False
    )
    if made.returncode:
        raise OSError(made.stderr.decode())
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)
