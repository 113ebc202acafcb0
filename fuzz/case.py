"""A case: a command on damaged inputs, and what must hold afterwards."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from featprop.cli import app

MAX_SECONDS, MAX_MEMORY = 60, 4 << 30
MAX_MESSAGE_CHARS = 6000
"""Length of a message; some list names that come from the input."""
Check = Callable[[Path, Path], None]
"""Raises an AssertionError if the answer in the first folder is wrong; the second holds the inputs."""


@dataclass(frozen=True)
class Case:
    """One command on valid inputs, some of which are damaged."""

    words: tuple[str, ...]  # after featprop
    files: Mapping[str, bytes | None] = field(repr=False)  # content to write over the inputs; None removes a file
    outputs: tuple[str, ...] | None = ()  # names that an answer must create, and a refusal must not; None: any
    changes: tuple[str, ...] = ()  # names whose content may change
    check: Check | None = None


def run_case(case: Case, seeds: Path, folder: Path) -> bool:
    """Run a case in a new folder; return whether it ended in an answer, and raise if anything is wrong."""
    given, work, scratch = (folder / name for name in ("given", "work", "tmp"))
    shutil.copytree(seeds, given)
    for name, content in case.files.items():
        if content is None:
            (given / name).unlink()
        else:
            (given / name).write_bytes(content)
    shutil.copytree(given, work)
    scratch.mkdir()
    runner = CliRunner(env={"FEATPROP_CACHE": str(folder / "cache")})
    gc.freeze()  # the collection below then looks at objects of this case only
    with limited(), contextlib.chdir(work), patch.object(tempfile, "tempdir", str(scratch)):
        result = runner.invoke(app, list(case.words), prog_name="featprop")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    code, output, lines = result.exit_code, result.output, result.stderr.splitlines()
    del result  # an exception keeps what the command opened
    gc.collect()
    gc.unfreeze()
    assert code in (0, 2), f"exit code {code}"
    assert "Traceback (most recent call last)" not in output, f"a traceback: {output[-300:]}"
    is_answer = code == 0
    if not is_answer and not any(line.startswith("Usage: ") for line in lines):
        errors = [line for line in lines if line.startswith("Error: ")]
        assert len(errors) == 1, f"not one message: {errors}"
        assert errors == lines[-1:], f"not the message at the end: {lines[-1]}"
        assert len(lines[-1]) < MAX_MESSAGE_CHARS, f"a message of {len(lines[-1]):,} characters"
    _judge_files(case, _contents(given), _contents(work), is_answer=is_answer)
    assert not list(scratch.iterdir()), f"left {list(scratch.iterdir())}"
    if is_answer and case.check is not None:
        case.check(work, given)
    return is_answer


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Interrupt what takes too long or needs far more memory than its inputs."""

    def stop(*_: object) -> None:
        raise AssertionError(f"no end after {MAX_SECONDS} s")

    handler, (soft, hard) = signal.signal(signal.SIGALRM, stop), resource.getrlimit(resource.RLIMIT_AS)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MAX_MEMORY, hard))
    signal.alarm(MAX_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, handler)


def _judge_files(
    case: Case, before: dict[str, bytes | None], after: dict[str, bytes | None], *, is_answer: bool
) -> None:
    """Judge what was created, changed and removed."""

    def belongs(path: str, names: tuple[str, ...] | None) -> bool:
        return names is None or any(
            path == name or path.startswith((f"{name}/", f"{name}-wal", f"{name}-shm")) for name in names
        )

    for path in before.keys() | after.keys():
        change = "created" if path not in before else "removed" if path not in after else "changed"
        is_output = is_answer and change == "created" and belongs(path, case.outputs)
        if not is_output and not belongs(path, case.changes) and not path.endswith(("checked.json", ".lock")):
            assert change == "changed" and before[path] == after[path], f"{change} {path}"  # noqa: PT018
    for name in (case.outputs or ()) if is_answer else ():
        assert any(belongs(path, (name,)) for path in after), f"wrote no {name}"


def _contents(folder: Path) -> dict[str, bytes | None]:
    return {os.path.relpath(path, folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
