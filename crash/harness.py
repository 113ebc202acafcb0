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
    """Number of kills of a task by their moment, and of what is wrong."""

    kills: int = 0
    before: int = 0  # before the first change to the disk
    during: int = 0
    after: int = 0  # after the last one
    lost: int = 0  # neither as before nor as after
    different: int = 0  # not as after an undisturbed run once the task ran again
    left: int = 0  # files that only killed runs leave
    notes: list[str] = field(default_factory=list)

    def note(self, kind: str, what: str, count: int = 1) -> None:
        """Count something that is wrong."""
        setattr(self, kind, getattr(self, kind) + count)
        self.notes.append(f"{kind}: {what}")


class Child:
    """A forked process that runs a task, counts its changes to the disk, and kills itself before change `last`."""

    def __init__(self, task: Task, inputs: Path, state: Path, last: int = 0) -> None:
        self._shared = mmap.mmap(-1, 8)
        self._printed = state.with_name("printed.txt")
        self._began = time.monotonic()
        self._process = os.fork()
        if self._process == 0:
            self._become(task, inputs, state, last)

    @property
    def changes(self) -> int:
        """Number of changes so far."""
        return int.from_bytes(self._shared[:], "little")

    @property
    def printed(self) -> str:
        """What the process printed last."""
        return self._printed.read_text(encoding="utf-8", errors="replace")[-300:]

    def end(self, after: float = MAX_SECONDS) -> int:
        """Wait for the end of the process, but kill it `after` these seconds; return its exit code."""
        while time.monotonic() < self._began + after:
            found, status = os.waitpid(self._process, os.WNOHANG)
            if found:
                break
            time.sleep(0.0005)
        else:
            os.kill(self._process, signal.SIGKILL)
            _, status = os.waitpid(self._process, 0)
        self.seconds = time.monotonic() - self._began
        return os.waitstatus_to_exitcode(status)

    def _become(self, task: Task, inputs: Path, state: Path, last: int) -> None:
        code = 1
        try:
            with self._printed.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            self._watch(state, last)
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

    def _watch(self, state: Path, last: int) -> None:
        """Count changes below `state`: audit events, `os.fsync` and statements of SQLite."""
        inside = state.resolve()

        def count() -> None:
            if self.changes + 1 == last:
                os.kill(os.getpid(), signal.SIGKILL)
            self._shared[:] = (self.changes + 1).to_bytes(8, "little")

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
    child = Child(task, inputs, _copy(start, state))
    assert child.end() == 0, f"{task.name}: {child.printed}"
    changes, seconds, names = child.changes, child.seconds, _names(state)
    after = task.look(inputs, _copy(state, folder / "look"))
    assert before != after, f"{task.name} changes nothing"
    while tally.kills < kills:
        _copy(start, state)
        last = chance.randint(1, changes) if tally.kills % 2 == 0 else 0
        moment = MAX_SECONDS if last else chance.uniform(0, seconds)
        child = Child(task, inputs, state, last)
        if child.end(moment) != -signal.SIGKILL:
            seconds = min(seconds, child.seconds)
            changes = child.changes if last else changes
            continue
        tally.kills += 1
        tally.before += child.changes == 0
        tally.during += 0 < child.changes < changes
        tally.after += child.changes >= changes
        when = f"kill {tally.kills}, after change {child.changes} of {changes}"
        found = _look(task, inputs, _copy(state, folder / "look"), tally, when)
        if found is None:
            continue
        for name in {*before, *after, *found}:
            if found.get(name) not in (before.get(name), after.get(name)):
                tally.note("lost", f"{when}: {name} is neither as before nor as after")
        if found == after and not task.repeatable:
            continue
        again = Child(task, inputs, state)
        if code := again.end():
            tally.note("different", f"{when}: the next run ended with {code}: {again.printed}")
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
