"""A case: a command on damaged inputs, and what must hold of its end and of what it wrote."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from featprop import LabelLog, load_model, read_graph
from featprop.cli import app
from tests.helpers import rows_of

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
    if not is_answer and not any(line.startswith("╭─ Error") for line in lines):  # the box of a usage error
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


def picks(budget: int) -> Check:
    """Check that ``out.csv`` asks for `budget` different nodes."""

    def check(folder: Path, _: Path) -> None:
        nodes = [row["id"] for row in rows_of(folder / "out.csv")]
        assert len(nodes) == len(set(nodes)) == budget, f"{len(nodes)} rows, {len(set(nodes))} nodes, not {budget}"

    return check


def predictions(folder: Path, _: Path | None = None) -> None:
    """Check that probabilities of ``out.csv`` sum to one, and that prediction and confidence follow from them."""
    rows = rows_of(folder / "out.csv")
    assert rows, "no rows"
    for row in rows:
        shares = {name.removeprefix("probability_"): float(row[name]) for name in row if name.startswith("prob")}
        assert shares, f"no probabilities: {list(row)}"
        assert all(0 <= share <= 1 for share in shares.values()), f"{row}"
        assert abs(sum(shares.values()) - 1) < 0.01, f"{row}"
        assert abs(float(row["confidence"]) - max(shares.values())) < 0.01, f"{row}"
        assert shares[row["prediction"]] >= max(shares.values()) - 0.001, f"{row}"


def model(folder: Path, _: Path) -> None:
    """Check that ``out.safetensors`` can be loaded and that its numbers are finite."""
    for name, tensor in load_model(folder / "out.safetensors").state_dict().items():
        assert math.isfinite(float(tensor.sum())), f"{name} is not finite"


def converted(folder: Path, _: Path) -> None:
    """Check that the converted graph ``out`` can be read without what is known of its files."""
    (folder / "out" / "checked.json").unlink(missing_ok=True)
    assert read_graph(folder / "out").n_nodes > 0


def kept_events(folder: Path, given: Path) -> None:
    """Check that ``log.labels`` starts with all events it had."""
    with LabelLog(given / "log.labels", read_only=True) as before, LabelLog(folder / "log.labels") as now:
        assert now.events()[: len(before.events())] == before.events()


CHECKS: dict[str, Check] = {"convert": converted, "import": kept_events, "predict": predictions, "train": model}


def command(line: str, files: dict[str, bytes | None], *more: str) -> Case:
    """Return the case of a command line, whose outputs and check follow from its words."""
    words = (*line.split(), *more)
    values = dict(pairwise(words))
    outputs = {values[option] for option in ("--out", "--log") if option in values}
    outputs |= {words[2]} if words[0] == "convert" else set()
    changes = {"log.labels"} & {*outputs, words[1] if words[0] == "import" else ""}
    check = picks(int(values["--budget"])) if words[0] == "select" else CHECKS.get(words[0])
    return Case(words, files, tuple(outputs - changes), tuple(changes), check)
