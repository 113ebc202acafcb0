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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in CHANGES or (event == "open" and (arguments[2] or 0) & WRITING):
            path = arguments[0]
            if isinstance(path, str | bytes | Path) and Path(os.fsdecode(path)).absolute().is_relative_to(inside):
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


def kill_task(task: Task, inputs: Path, folder: Path, kills: int, seed: int) -> list[str]:
    """Kill a task before random changes to the disk or after a random time, in turn; return what is wrong."""
    start, state, killed = folder / "start", folder / "state", 0
    faults: list[str] = []
    chance = random.Random(f"{seed} {task.name}")
    start.mkdir(parents=True)
    task.prepare(inputs, start)
    before = task.look(inputs, _copy(start, folder / "look"))
    whole = Child(task, inputs, _copy(start, state))
    assert whole.code == 0, f"{task.name}: {whole.printed}"
    changes, seconds, names = whole.changes, whole.seconds, _names(state)
    after = task.look(inputs, _copy(state, folder / "look"))
    assert before != after, f"{task.name} changes nothing"
    while killed < kills:
        _copy(start, state)
        last = chance.randint(1, changes) if killed % 2 == 0 else 0
        child = Child(task, inputs, state, last, MAX_SECONDS if last else chance.uniform(0.001, seconds))
        if child.code >= 0:  # it ended before it was killed
            seconds = min(seconds, child.seconds)
            changes = child.changes if last else changes
            continue
        killed += 1
        when = f"kill {killed}, after change {child.changes} of {changes}"
        faults += [f"{fault} ({when})" for fault in _find_faults(task, inputs, state, before, after, names)]
    return faults


def _find_faults(
    task: Task, inputs: Path, state: Path, before: dict[str, Any], after: dict[str, Any], names: set[str]
) -> Iterator[str]:
    """Yield what is wrong in a folder after a kill, and once the task ran again."""
    try:
        found = task.look(inputs, _copy(state, state.with_name("look")))
        for name in {*before, *after, *found}:
            if found.get(name) not in (before.get(name), after.get(name)):
                yield f"lost: {name} is neither as before nor as after"
        if found == after and not task.repeatable:
            return
        again = Child(task, inputs, state)
        found = task.look(inputs, state) if again.code == 0 else {"the next run": again.printed}
    except Exception as error:
        yield f"lost: {type(error).__name__}: {error}"
        return
    if other := {name for name in {*after, *found} if found.get(name) != after.get(name)}:
        yield f"different: {sorted(other)[:3]} after the next run, which printed {again.printed}"
    if left := _names(state) - names:
        yield f"left: {sorted(left)[:3]}"


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target
