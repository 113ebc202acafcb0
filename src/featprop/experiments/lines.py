"""The results on disk: one JSON line a cell, appended, never rewritten.

A line that was being written when the computer stopped has no line end. It is ignored by whoever reads, and cut off
by the next run before it appends.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from featprop.errors import FileError, reason
from featprop.io.locks import held_lock

__all__ = ["Appender", "Cell", "Line", "appending", "read_lines"]

log = logging.getLogger(__name__)


class Cell(NamedTuple):
    """What makes a result distinct from all others."""

    dataset: str
    strategy: str
    budget: int
    seed: int
    model: str
    protocol: str


@dataclass(frozen=True)
class Line:
    """The result of one cell.

    Attributes
    ----------
    dataset, strategy, budget, seed, model, protocol
        The cell.
    nodes
        The ids of the labelled nodes, in the order they came in.
    macro_f1, micro_f1, accuracy
        From 0 to 1.
    seconds_select
        The choice of the nodes that are new at this budget. A choice that does not depend on the seed is made once
        and stands here for each seed.
    seconds_train
        Training; of seeds trained together, the share of one.
    peak_memory
        The most memory the process held since it turned to this budget, in bytes.
    mean_distance, max_distance
        Over all nodes, the distance to the nearest labelled node on S²X: the terms of Theorems 1 and 2.
    epochs
        Of the training.
    options
        Of the strategy, where they are not the default ones.
    state
        What the strategy carries on to the next budget.
    versions
        Of the programs, and the public form of the data.
    """

    dataset: str
    strategy: str
    budget: int
    seed: int
    model: str
    protocol: str
    nodes: tuple[Hashable, ...]
    macro_f1: float
    micro_f1: float
    accuracy: float
    seconds_select: float
    seconds_train: float
    peak_memory: int
    mean_distance: float
    max_distance: float
    epochs: int = 200
    options: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.mean_distance <= self.max_distance * (1 + 1e-6):
            raise ValueError(f"a mean distance of {self.mean_distance} above the largest, {self.max_distance}")

    @property
    def cell(self) -> Cell:
        """The cell this is the result of."""
        return Cell(self.dataset, self.strategy, self.budget, self.seed, self.model, self.protocol)

    def to_json(self) -> str:
        """Return the line without its end; empty options and states are left out."""
        content = {name: value for name, value in asdict(self).items() if value != {}}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Line:
        """Read a line; names of fields it does not know are passed over."""
        content = json.loads(text)
        known = {entry.name for entry in fields(cls)}
        kept = {name: value for name, value in content.items() if name in known}
        return cls(**{**kept, "nodes": tuple(kept["nodes"])})


def read_lines(folder: Path) -> list[Line]:
    """Return every whole line of the folder's ``*.jsonl`` files; of two lines of one cell, the first.

    Parameters
    ----------
    folder
        Where a run wrote; one that does not exist has no lines.
    """
    found: dict[Cell, Line] = {}
    for path in sorted(folder.glob("*.jsonl")):
        *whole, torn = path.read_bytes().split(b"\n")
        if torn:
            log.info("%s: the last line was cut short and is ignored", path)
        for number, text in enumerate(whole, start=1):
            try:
                line = Line.from_json(text.decode("utf-8"))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                cure = "remove that line; the next run makes its cell again"
                raise FileError(f"Line {number} of {path}", "must be a result", reason(error), cure) from error
            found.setdefault(line.cell, line)
    return list(found.values())


@dataclass
class Appender:
    """Writes lines to the end of files in a folder, one file a data set."""

    folder: Path

    def append(self, lines: Iterable[Line]) -> None:
        """Write the lines; each is on the disk, whole, before the next begins."""
        for line in lines:
            path = self.folder / f"{Path(line.dataset).name}.jsonl"
            with path.open("ab") as file:
                file.write(line.to_json().encode("utf-8") + b"\n")
                file.flush()
                os.fsync(file.fileno())


@contextmanager
def appending(folder: Path) -> Iterator[Appender]:
    """Make the folder ready to append to, for this process alone: lines that were cut short are cut off."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}", "must be a folder to write to", error.strerror, "choose another --out") from error
    with held_lock(folder / ".lock", f"{folder}"):
        for path in folder.glob("*.jsonl"):
            content = path.read_bytes()
            if content and not content.endswith(b"\n"):
                os.truncate(path, content.rfind(b"\n") + 1)
        yield Appender(folder)
