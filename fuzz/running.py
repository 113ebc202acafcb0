"""A case in a process of its own, with limits on memory and time, and what became of it.

The process is forked from one that has imported everything, so that a case costs a fraction of a second.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import typer

from featprop import interrupts
from fuzz.case import Case
from fuzz.patience import looks

__all__ = ["Outcome", "command", "run_case"]

MEMORY = 2 << 30
"""Bytes a case may have beyond what its process has at its start."""
PROCESSOR = 30
"""Seconds of processor time."""
PATIENCE = 150.0
"""Seconds of the clock in which the campaign itself was awake."""
LARGEST_FILE = 256 << 20
SENTENCE = 6000
"""Letters that one sentence may have: some list names that came from the input."""
WARNING = re.compile(r"^\S+:\d+: \w*Warning: |^\w*Warning: |Exception ignored|Fatal Python error", re.MULTILINE)


@dataclass
class Outcome:
    """What became of a case: an answer or a sentence, and what is wrong with that, nothing as a rule."""

    is_answer: bool = False
    problems: list[str] = field(default_factory=list)
    told: str = ""
    seconds: float = 0.0


@cache
def command() -> Any:
    """Return all commands and their options, put together once: it takes as long as many a case."""
    from featprop.cli import app

    return typer.main.get_command(app)


def run_case(case: Case, folder: Path) -> Outcome:
    """Run a case whose inputs are in ``folder/in``, and judge it."""
    work, log = folder / "in", folder / "log"
    for place in (log, folder / "home", folder / "tmp"):
        place.mkdir()
    before, start = _contents(work), time.monotonic()
    process = os.fork()
    if process == 0:
        _become(case, folder)
    problems = case.talk(process, work, log / "stdout") if case.talk else []
    status = _wait(process)
    out, told = ((log / name).read_text("utf-8", "replace") for name in ("stdout", "stderr"))
    outcome = Outcome(status in case.codes, problems, told, time.monotonic() - start)
    outcome.problems += _of_ending(case, status, out, told)
    outcome.problems += _of_files(case, before, _contents(work), is_answer=outcome.is_answer)
    outcome.problems += [f"left {path.relative_to(folder)}" for path in (folder / "tmp").rglob("*")]
    if outcome.is_answer and not outcome.problems and case.check is not None:
        outcome.problems += case.check(work)
    return outcome


def _become(case: Case, folder: Path) -> None:
    """Be the command, as `featprop.__main__` is, and end."""
    code = 1
    try:
        _redirect(folder / "log")
        os.chdir(folder / "in")
        os.environ.update(
            case.environment,
            HOME=str(folder / "home"),
            TMPDIR=str(folder / "tmp"),
            FEATPROP_CACHE=str(folder / "home" / "cache"),
        )
        _limit()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
        try:
            interrupts.run(lambda: command()(case.words, prog_name="featprop"))
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
    for number, (path, mode) in enumerate(((Path(os.devnull), "r"), (log / "stdout", "w"), (log / "stderr", "w"))):
        with path.open(mode) as file:
            os.dup2(file.fileno(), number)
    for number, (name, mode, errors) in enumerate(
        (
            ("stdin", "r", "strict"),
            ("stdout", "w", "strict"),
            ("stderr", "w", "backslashreplace"),
        )  # as Python opens them
    ):
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False))


def _limit() -> None:
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for what, limit in (
        (resource.RLIMIT_AS, held + MEMORY),
        (resource.RLIMIT_CPU, PROCESSOR),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (limit, limit + 5 if what == resource.RLIMIT_CPU else limit))


def _wait(process: int) -> int | str:
    """Return the exit code, or what ended the process instead.

    A case that computes is ended by its processor time, which others on the machine do not use up; the clock is for
    one that waits.
    """
    for _ in looks(PATIENCE, 0.005):
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else f"signal {signal.Signals(-code).name}"
    os.kill(process, signal.SIGKILL)
    _, _, used = os.wait4(process, 0)
    return f"time-out after {PATIENCE:.0f} s, {used.ru_utime + used.ru_stime:.0f} of them computing"


def _of_ending(case: Case, status: int | str, out: str, told: str) -> list[str]:
    """Judge the exit code and what was printed; a server that is spoken to must answer, a sentence is not enough."""
    problems = []
    is_sentence = status == 2 and not case.talk
    if status not in case.codes and not is_sentence:
        problems.append(f"ended with {status}")
    for text in (out, told):
        if "Traceback (most recent call last)" in text:
            problems.append(f"a traceback: {text.strip().splitlines()[-1][:300]}")
        elif found := WARNING.search(text):
            problems.append(f"a warning: {text[found.start() :].splitlines()[0][-300:]}")
    if is_sentence:
        errors = [line for line in told.splitlines() if line.startswith("Error: ")]
        if len(errors) != 1 or told.splitlines()[-1] != errors[0]:
            problems.append(f"not one sentence at the end, but {len(errors)}")
        elif len(errors[0]) > SENTENCE:
            problems.append(f"a sentence of {len(errors[0]):,} letters")
    return problems


def _of_files(case: Case, before: dict[str, str], after: dict[str, str], *, is_answer: bool) -> list[str]:
    def is_of(path: str, names: tuple[str, ...]) -> bool:
        return any(path == name or path.startswith((f"{name}/", f"{name}-wal", f"{name}-shm")) for name in names)

    problems = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) == after.get(path) or path.endswith(("checked.json", ".lock")) or is_of(path, case.changes):
            continue
        if path in before:
            problems.append(f"{'changed' if path in after else 'removed'} {path}")
        elif not (is_answer and is_of(path, case.outputs)):
            problems.append(f"left {path}")
    if is_answer:
        problems += [f"wrote no {name}" for name in case.outputs if not any(is_of(path, (name,)) for path in after)]
    return problems


def _contents(folder: Path) -> dict[str, str]:
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "a folder"
    return found
