"""Run a task in a forked process, kill it, look at its folder, run it again and look once more."""

from __future__ import annotations

import mmap
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_SECONDS = 300.0
CHANGES = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate"}
"""Audit events of a change to the disk; files opened for writing are recognised by their flags."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True)
class Task:
    """Something that writes to a folder; functions take the folders of the inputs and of the state."""

    name: str
    run: Callable[[Path, Path], None]
    look: Callable[[Path, Path], dict[str, Any]]  # returns what a reader finds, by name
    prepare: Callable[[Path, Path], None] = lambda *_: None  # makes the state before the task
    repeatable: bool = True  # running the finished task again is allowed and changes nothing


@dataclass
class Tally:
    """Numbers of kills of a task: all, by their moment, and by what was wrong afterwards."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def note(self, kind: str, what: str, count: int = 1) -> None:
        """Count something that is wrong."""
        self.counts[kind] += count
        self.notes.append(f"{kind}: {what}")


KINDS = {
    "kills": "all kills",
    "before": "before the first change to the disk",
    "during": "between the first change and the last",
    "after": "after the last change",
    "lost": "neither as before nor as after",
    "different": "not as after an undisturbed run once the task ran again",
    "left": "files that only killed runs leave",
}
"""What a tally counts."""


class Child:
    """A forked process that runs a task, counts its changes to the disk, and dies before change `last` or in time."""

    def __init__(self, task: Task, inputs: Path, state: Path, last: int = 0, seconds: float = MAX_SECONDS) -> None:
        shared, printed, began = mmap.mmap(-1, 8), state.with_name("printed.txt"), time.monotonic()
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            _become(task, inputs, state, shared, printed, last)
        self.code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        self.seconds = time.monotonic() - began
        self.changes = int.from_bytes(shared[:], "little")
        self.printed = printed.read_text(encoding="utf-8", errors="replace")[-300:]


def _become(task: Task, inputs: Path, state: Path, shared: mmap.mmap, printed: Path, last: int) -> None:
    code = 1
    try:
        with printed.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        _watch(state.resolve(), shared, last)
        task.run(inputs, state)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _watch(inside: Path, shared: mmap.mmap, last: int) -> None:
    """Count changes in a folder: audit events, `os.fsync` and statements of SQLite."""

    def count() -> None:
        changes = int.from_bytes(shared[:], "little") + 1
        if changes == last:
            os.kill(os.getpid(), signal.SIGKILL)
        shared[:] = changes.to_bytes(8, "little")

    def is_inside(path: Any) -> bool:
        return isinstance(path, str | bytes | Path) and Path(os.fsdecode(path)).absolute().is_relative_to(inside)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        is_change = event in CHANGES or (event == "open" and bool((arguments[2] or 0) & WRITING))
        if is_change and is_inside(arguments[0]):
            count()

    connect, flush = sqlite3.connect, os.fsync

    def connect_counting(*options: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*options, **named)
        connection.set_trace_callback(lambda _: count())
        return connection

    def flush_counting(descriptor: int) -> None:
        count()
        flush(descriptor)

    sqlite3.connect, os.fsync = connect_counting, flush_counting  # type: ignore[assignment]
    sys.addaudithook(hook)


def kill_task(task: Task, inputs: Path, folder: Path, kills: int, seed: int) -> Tally:
    """Kill a task before random changes to the disk, and every second time after a random time."""
    start, state, tally, chance = folder / "start", folder / "state", Tally(), random.Random(f"{seed} {task.name}")
    start.mkdir(parents=True)
    task.prepare(inputs, start)
    before = task.look(inputs, _copy(start, folder / "look"))
    whole = Child(task, inputs, _copy(start, state))
    assert whole.code == 0, f"{task.name}: {whole.printed}"
    changes, seconds, names = whole.changes, whole.seconds, _names(state)
    after = task.look(inputs, _copy(state, folder / "look"))
    assert before != after, f"{task.name} changes nothing"
    while tally.counts["kills"] < kills:
        _copy(start, state)
        last = chance.randint(1, changes) if tally.counts["kills"] % 2 == 0 else 0
        child = Child(task, inputs, state, last, MAX_SECONDS if last else chance.uniform(0.001, seconds))
        if child.code >= 0:  # it ended before it was killed
            seconds = min(seconds, child.seconds)
            changes = child.changes if last else changes
            continue
        moment = "before" if child.changes == 0 else "during" if child.changes < changes else "after"
        tally.counts.update(["kills", moment])
        when = f"kill {tally.counts['kills']}, after change {child.changes} of {changes}"
        found = _look(task, inputs, _copy(state, folder / "look"), tally, when)
        if found is None:
            continue
        for name in {*before, *after, *found}:
            if found.get(name) not in (before.get(name), after.get(name)):
                tally.note("lost", f"{when}: {name} is neither as before nor as after")
        if found == after and not task.repeatable:
            continue
        again = Child(task, inputs, state)
        if again.code:
            tally.note("different", f"{when}: the next run ended with {again.code}: {again.printed}")
            continue
        found = _look(task, inputs, state, tally, when)
        if found is not None and found != after:
            other = sorted(name for name in {*after, *found} if found.get(name) != after.get(name))
            tally.note("different", f"{when}: {other[:3]} after the next run", len(other))
        if left := _names(state) - names:
            tally.note("left", f"{when}: {sorted(left)[:3]}", len(left))
    return tally


def _look(task: Task, inputs: Path, folder: Path, tally: Tally, when: str) -> dict[str, Any] | None:
    try:
        return task.look(inputs, folder)
    except Exception as error:
        tally.note("lost", f"{when}: {type(error).__name__}: {error}")
        return None


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target
