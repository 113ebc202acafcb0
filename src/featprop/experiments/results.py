"""Results on disk: one JSON line per cell, appended and never rewritten.

A cell is identified by content: a fingerprint of the graph, the strategy with its options, the model with its settings,
the budgets on the way, the seed and the protocol. A graph that changed under its name is another graph, and two
settings of one strategy are different cells.

If a run is killed while it writes a line, that line has no line end: readers ignore it, and the next run removes it.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from featprop.errors import FileError, quote_error
from featprop.experiments.settings import Cell, Spec
from featprop.files import replacing_file, write_error
from featprop.ids import from_jsonable, to_jsonable

log = logging.getLogger(__name__)

STATISTICS = "datasets.json"
"""File with the statistics of the data sets of a run."""
COUNTS = ("nodes", "edges", "classes", "features", "labelled", "homophily")
"""Statistics of a data set that tables show."""


@dataclass(frozen=True)
class Result:
    """The result of one cell."""

    dataset: str
    strategy: str
    budget: int
    seed: int
    model: str
    protocol: str
    nodes: tuple[Hashable, ...]  # ids of the labelled nodes, in the order of selection
    macro_f1: float  # from 0 to 1, as the other scores
    micro_f1: float
    accuracy: float
    seconds_select: float  # for the nodes that are new at this budget; equal selections of all seeds are timed once
    seconds_train: float  # if several seeds train as one batch, the share of each
    peak_memory: int  # of the process since it began with this budget, in bytes
    mean_distance: float  # of the nodes to the nearest labelled node on S²X: the term of Theorem 1
    max_distance: float  # the term of Theorem 2
    calibration_error: float | None = None  # None if it was not measured
    graph: str = ""  # fingerprint of the graph with its labels
    settings: dict[str, Any] = field(default_factory=dict)  # of the model, where they differ from the defaults
    schedule: tuple[int, ...] = ()  # numbers of labels at which a strategy with a model was asked, the last its budget
    options: dict[str, Any] = field(default_factory=dict)  # of the strategy, where they differ from the defaults
    versions: dict[str, str] = field(default_factory=dict)  # of the packages, and the public form of the data

    @property
    def cell(self) -> Cell:
        """The cell of this result."""
        specs = Spec(self.strategy, self.options), Spec(self.model, self.settings)
        return Cell(self.graph or self.dataset, *specs, self.schedule, self.budget, self.seed, self.protocol)

    def to_json(self) -> str:
        """Return the line without its end; empty fields are left out."""
        content = {name: value for name, value in asdict(self).items() if value not in ({}, (), "", None)}
        content["nodes"] = [to_jsonable(node) for node in self.nodes]
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read a line; unknown fields are ignored."""
        content = json.loads(text)
        known = {entry.name: content[entry.name] for entry in fields(cls) if entry.name in content}
        nodes = tuple(from_jsonable(node) for node in known["nodes"])
        return cls(**{**known, "nodes": nodes, "schedule": tuple(known.get("schedule", ()))})


def read_results(folder: Path) -> list[Result]:
    """Return the results in a folder's ``*.jsonl`` files, the first line of each cell; none if there is no folder."""
    found: dict[Cell, Result] = {}
    for path in sorted(folder.glob("*.jsonl")):
        *lines, rest = path.read_bytes().split(b"\n")
        if rest:
            log.info("%s: ignored the last line, which is incomplete", path)
        for row, text in enumerate(lines, start=1):
            try:
                result = Result.from_json(text.decode("utf-8"))
            except (ValueError, TypeError, KeyError) as error:
                message = f"Line {row} of {path} is not a result: {quote_error(error)}."
                raise FileError(
                    message, hint="Remove it; the next run repeats its cell.", path=path, row=row
                ) from error
            found.setdefault(result.cell, result)
    return list(found.values())


def read_statistics(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the statistics of the data sets that a run recorded, by name."""
    path = folder / STATISTICS
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
    except ValueError as error:
        message = f"{path} does not hold the statistics of data sets: {quote_error(error)}."
        raise FileError(message, hint="Remove it and run again.", path=path) from error


def append_results(folder: Path, results: Iterable[Result]) -> None:
    """Append lines to the file of their data set; each line is on disk before the next is written."""
    for result in results:
        path = folder / f"{Path(result.dataset).name}.jsonl"
        try:
            with path.open("ab") as file:
                file.write(result.to_json().encode("utf-8") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise write_error(path, error) from error


def record_statistics(folder: Path, statistics: Mapping[str, Mapping[str, Any]]) -> None:
    """Add the statistics of data sets to the recorded ones."""
    before = read_statistics(folder)
    after = {**before, **statistics}
    if after != before:
        with replacing_file(folder / STATISTICS) as temporary:
            temporary.write_text(json.dumps(after, indent=1, sort_keys=True) + "\n", encoding="utf-8")


@contextmanager
def locking(folder: Path) -> Iterator[None]:
    """Make and lock a folder of results, and remove incomplete lines from its files."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / ".lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = lock.acquire()
    except Timeout as error:
        message = f"Another run is writing to {folder}."
        raise FileError(message, hint="Wait for it, or choose another `out`.", path=folder) from error
    except OSError as error:
        raise write_error(folder, error) from error
    with held:
        for path in folder.glob("*.jsonl"):
            content = path.read_bytes()
            if content and not content.endswith(b"\n"):
                os.truncate(path, content.rfind(b"\n") + 1)
        yield
