"""A case: damaged inputs, what to run on them, and what must hold afterwards."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from featprop.cli import app

MAX_SECONDS, MAX_MEMORY = 60, 4 << 30
MAX_MESSAGE_CHARS = 6000
"""Length of a message; some list names that come from the input."""


@dataclass(frozen=True)
class Case:
    """One command, or one function, on damaged inputs."""

    words: tuple[str, ...] = ()  # after featprop
    inputs: tuple[str, ...] = ()  # names of valid inputs to copy into the folder
    files: Mapping[str, bytes | None] = field(
        default_factory=dict, repr=False
    )  # content to write over them; None removes a file
    outputs: tuple[str, ...] = ()  # names that an answer must create, and a refusal must not
    changes: tuple[str, ...] = ()  # names whose content may change
    check: Callable[[Path], None] | None = None  # raises an AssertionError if the answer in a folder is wrong
    action: Callable[[], None] | None = None  # to run in place of the command


def run_case(case: Case, seeds: Path, folder: Path) -> bool:
    """Run a case in a new folder; return whether it ended in an answer, and raise if anything is wrong."""
    work, scratch = folder / "work", folder / "tmp"
    scratch.mkdir()
    _place_inputs(case, seeds, work)
    (folder / "command.txt").write_text(repr(case.words), encoding="utf-8")
    shutil.copytree(work, folder / "given")
    before = _contents(work)
    temporary = patch.object(tempfile, "tempdir", str(scratch))
    with _limited(), contextlib.chdir(work), temporary, warnings.catch_warnings():
        warnings.simplefilter("error")
        if case.action is not None:
            case.action()
            return True
        result = CliRunner(env={"FEATPROP_CACHE": str(folder / "cache")}).invoke(
            app, list(case.words), prog_name="featprop"
        )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    code, output, lines = result.exit_code, result.output, result.stderr.splitlines()
    del result  # an exception keeps what the command opened
    gc.collect()
    assert code in (0, 2), f"exit code {code}"
    assert "Traceback (most recent call last)" not in output, f"a traceback: {output[-300:]}"
    is_answer = code == 0
    if not is_answer:
        errors = [line for line in lines if line.startswith("Error: ")]
        assert len(errors) == 1, f"not one message: {errors}"
        assert errors == lines[-1:], f"not the message at the end: {lines[-1]}"
        assert len(lines[-1]) < MAX_MESSAGE_CHARS, f"a message of {len(lines[-1]):,} characters"
    _judge_files(case, before, _contents(work), is_answer=is_answer)
    assert not list(scratch.iterdir()), f"left {list(scratch.iterdir())}"
    if is_answer and case.check is not None:
        case.check(work)
    return is_answer


def _place_inputs(case: Case, seeds: Path, work: Path) -> None:
    work.mkdir()
    for name in case.inputs:
        copy = shutil.copytree if (seeds / name).is_dir() else shutil.copyfile
        copy(seeds / name, work / name)
    for name, content in case.files.items():
        if content is None:
            (work / name).unlink()
        else:
            (work / name).write_bytes(content)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Interrupt a case that takes too long or needs far more memory than its inputs."""

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

    def belongs(path: str, names: tuple[str, ...]) -> bool:
        return any(path == name or path.startswith((f"{name}/", f"{name}-wal", f"{name}-shm")) for name in names)

    for path in before.keys() | after.keys():
        is_expected = belongs(path, case.changes) or (is_answer and path not in before and belongs(path, case.outputs))
        if not is_expected and not path.endswith(("checked.json", ".lock")):
            change = "created" if path not in before else "changed" if path in after else "removed"
            assert path in before and path in after and before[path] == after[path], f"{change} {path}"  # noqa: PT018
    if is_answer:
        for name in case.outputs:
            assert any(belongs(path, (name,)) for path in after), f"wrote no {name}"


def _contents(folder: Path) -> dict[str, bytes | None]:
    return {os.path.relpath(path, folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
