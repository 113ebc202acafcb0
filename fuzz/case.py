"""A case: inputs, what to run on them, and what must hold afterwards; and the process that it runs in."""

from __future__ import annotations

import gc
import os
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import typer

from featprop import interrupts

MEMORY_BYTES, CPU_SECONDS, FILE_BYTES = 2 << 30, 30, 256 << 20
"""Limits of a case: memory beyond that of its process at the start, processor time, and the size of a file."""
WALL_SECONDS = 150.0
MAX_MESSAGE_CHARS = 6000
"""Length of a message; some list names that come from the input."""
WARNING = re.compile(r"^\S+:\d+: \w*Warning: |^\w*Warning: |Exception ignored|Fatal Python error", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One command, or one function, on damaged inputs.

    Attributes
    ----------
    words
        Words after ``featprop``.
    inputs
        Names of valid inputs to copy into the folder.
    files
        Content of files to write over them; None removes a file.
    outputs
        Names that an answer must create, and that a refusal must not.
    changes
        Names whose content the command may change.
    codes
        Exit codes of an answer.
    check
        Raises an `AssertionError` if the answer in a folder is wrong.
    action
        Function to run in place of the command; raises if a property does not hold.
    environment
        Environment variables.
    """

    words: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    codes: tuple[int, ...] = (0,)
    check: Callable[[Path], None] | None = None
    action: Callable[[], None] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@cache
def whole_command() -> Any:
    """Return all commands with their options."""
    from featprop.cli import app

    return typer.main.get_command(app)


def run_case(case: Case, seeds: Path, folder: Path) -> tuple[bool, list[str]]:
    """Run a case in a new folder; return whether it ended in an answer, and what is wrong."""
    work = folder / "work"
    _place_inputs(case, seeds, work)
    (folder / "command.txt").write_text(repr(case.words), encoding="utf-8")
    shutil.copytree(work, folder / "given")
    before = _contents(work)
    status, stdout, stderr = _run_in_child(case, folder)
    is_answer = status in case.codes
    problems = _judge_ending(case, status, stdout, stderr)
    problems += _judge_files(case, before, _contents(work), is_answer=is_answer)
    problems += [f"left {path.relative_to(folder)}" for path in (folder / "tmp").rglob("*")]
    if is_answer and not problems and case.check is not None:
        try:
            case.check(work)
        except Exception as error:
            problems.append(f"the answer is wrong: {type(error).__name__}: {error}")
    return is_answer, problems


def _place_inputs(case: Case, seeds: Path, work: Path) -> None:
    work.mkdir(parents=True)
    for name in case.inputs:
        copy = shutil.copytree if (seeds / name).is_dir() else shutil.copyfile
        copy(seeds / name, work / name)
    for name, content in case.files.items():
        place = work / name
        if content is None:
            place.unlink(missing_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def _run_in_child(case: Case, folder: Path) -> tuple[int | str, str, str]:
    """Run a case in a forked process; return how it ended and what it printed."""
    for name in ("log", "home", "tmp"):
        (folder / name).mkdir()
    process = os.fork()
    if process == 0:
        _become(case, folder)
    status = _wait(process)
    stdout, stderr = ((folder / "log" / name).read_text("utf-8", "replace") for name in ("stdout", "stderr"))
    return status, stdout, stderr


def _become(case: Case, folder: Path) -> None:
    """Run the case as `featprop.__main__` does, and end the process."""
    code = 1
    try:
        _redirect(folder / "log")
        os.chdir(folder / "work")
        os.environ.update(case.environment, HOME=str(folder / "home"), TMPDIR=str(folder / "tmp"))
        os.environ["FEATPROP_CACHE"] = str(folder / "home" / "cache")
        _limit()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            if case.action is not None:
                case.action()
            else:
                interrupts.run(lambda: whole_command()(list(case.words), prog_name="featprop"))
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        gc.collect()
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _redirect(log: Path) -> None:
    for number, (name, path, mode, errors) in enumerate(
        (
            ("stdin", Path(os.devnull), "r", "strict"),
            ("stdout", log / "stdout", "w", "strict"),
            ("stderr", log / "stderr", "w", "backslashreplace"),
        )
    ):
        with path.open(mode) as file:
            os.dup2(file.fileno(), number)
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False))


def _limit() -> None:
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY_BYTES, held + MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _wait(process: int) -> int | str:
    """Return the exit code, or what ended the process."""
    end = time.monotonic() + WALL_SECONDS
    while time.monotonic() < end:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else f"signal {signal.Signals(-code).name}"
        time.sleep(0.003)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return f"no end after {WALL_SECONDS:.0f} s"


def _judge_ending(case: Case, status: int | str, stdout: str, stderr: str) -> list[str]:
    """Judge the exit code and what was printed."""
    problems = [] if status in (*case.codes, 2) else [f"ended with {status}"]
    for text in (stdout, stderr):
        if "Traceback (most recent call last)" in text:
            problems.append(f"a traceback: {text.strip().splitlines()[-1][:300]}")
        elif found := WARNING.search(text):
            problems.append(f"a warning: {text[found.start() :].splitlines()[0][-300:]}")
    if status == 2:
        errors = [line for line in stderr.splitlines() if line.startswith("Error: ")]
        if len(errors) != 1 or stderr.splitlines()[-1] != errors[0]:
            problems.append(f"{len(errors)} messages, not one at the end")
        elif len(errors[0]) > MAX_MESSAGE_CHARS:
            problems.append(f"a message of {len(errors[0]):,} characters")
    return problems


def _judge_files(case: Case, before: dict[str, Any], after: dict[str, Any], *, is_answer: bool) -> list[str]:
    """Judge what was created, changed and removed."""

    def belongs(path: str, names: tuple[str, ...]) -> bool:
        return any(path == name or path.startswith((f"{name}/", f"{name}-wal", f"{name}-shm")) for name in names)

    problems = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path) or path.endswith(("checked.json", ".lock")):
            continue
        if belongs(path, case.changes) or (is_answer and path not in before and belongs(path, case.outputs)):
            continue
        change = "created" if path not in before else "changed" if path in after else "removed"
        problems.append(f"{change} {path}")
    if is_answer:
        problems += [f"wrote no {name}" for name in case.outputs if not any(belongs(path, (name,)) for path in after)]
    return problems


def _contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
