"""The results on disk: one JSON line a cell, appended, never rewritten.

A cell is known by content: a fingerprint of the graph, the strategy with its options, the model with its settings, the
budgets on the way, the seed and the protocol. So a graph that has changed under its name is another graph, and two
settings of one strategy stand side by side.

A line that was being written when the computer stopped has no line end. It is ignored by whoever reads, and cut off
by the next run before it appends.
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from featprop.errors import FileError, quote_error
from featprop.experiments.entrants import Entrant
from featprop.files import replacing_file, write_error
from featprop.io.atomic import sweep
from featprop.io.locks import held_lock
from featprop.names import from_jsonable, to_jsonable

__all__ = ["FIGURES", "Appender", "Cell", "Result", "appending", "read_results", "read_statistics"]

log = logging.getLogger(__name__)

STATISTICS = "datasets.json"
"""What a run writes of the data sets beside its lines."""


FIGURES = ("nodes", "edges", "classes", "features", "labelled", "homophily")
"""Of each data set, in numbers."""
FIELDS: dict[tuple[str, ...], Any] = {
    ("dataset", "strategy", "model", "protocol", "graph"): str,
    ("budget", "seed", "peak_memory"): int,
    ("macro_f1", "micro_f1", "accuracy", "mean_distance", "max_distance", "seconds_select", "seconds_train"): int
    | float,
    ("calibration_error",): int | float | None,
    ("settings", "options", "state", "versions"): dict,
    ("nodes", "schedule"): list,
}
"""What the fields of a line must be, where they are there."""


def is_figure(value: Any, kind: Any) -> bool:
    """Say whether a value of a file is of a kind, and finite if it is a number."""
    is_odd = isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value))
    return isinstance(value, kind) and not is_odd


class Cell(NamedTuple):
    """What makes a result distinct from all others: contents, not names."""

    graph: str
    strategy: str
    options: str
    model: str
    settings: str
    schedule: tuple[int, ...]
    budget: int
    seed: int
    protocol: str


@dataclass(frozen=True)
class Result:
    """The result of one cell.

    Attributes
    ----------
    dataset
        The name the graph went by.
    strategy, budget, seed, model, protocol
        Of the cell.
    nodes
        The ids of the labelled nodes, in the order they came in.
    macro_f1, micro_f1, accuracy
        From 0 to 1.
    seconds_select
        The choice of the nodes that are new at this budget. A choice that does not depend on the seed is made once
        and stands here for each seed.
    seconds_train
        Training; of seeds trained as one, the share of each.
    peak_memory
        The most memory the process held since it turned to this budget, in bytes.
    mean_distance, max_distance
        Over all nodes, the distance to the nearest labelled node on S²X: the terms of Theorems 1 and 2.
    calibration_error
        How far confidence and accuracy are apart (`featprop.experiments.scoring.calibration_error`); None in lines of
        before it was measured.
    graph
        The fingerprint of the graph with its labels (`featprop.graph.Graph.fingerprint`).
    settings
        Of the model, where they are not the default ones, but for the seed.
    schedule
        The numbers of labels at which a strategy with a model was asked, the last its budget; empty for others.
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
    calibration_error: float | None = None
    graph: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    schedule: tuple[int, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.mean_distance <= self.max_distance * (1 + 1e-6):
            raise ValueError(f"a mean distance of {self.mean_distance} above the largest, {self.max_distance}")

    @property
    def cell(self) -> Cell:
        """The cell this is the result of."""
        strategy, model = Entrant(self.strategy, self.options), Entrant(self.model, self.settings)
        inside = (strategy.name, strategy.key, model.name, model.key, self.schedule)
        return Cell(self.graph or self.dataset, *inside, self.budget, self.seed, self.protocol)

    def to_json(self) -> str:
        """Return the line without its end; what is empty is left out."""
        content = {name: value for name, value in asdict(self).items() if value not in ({}, (), "", None)}
        content["nodes"] = [to_jsonable(node) for node in self.nodes]
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read a line; names of fields it does not know are passed over."""
        content = json.loads(text)
        known = {entry.name for entry in fields(cls)}
        kept = {name: value for name, value in content.items() if name in known}
        for names, kind in FIELDS.items():
            for name in names:
                if name in kept and not is_figure(kept[name], kind):
                    raise ValueError(f"{name} that is {kept[name]!r:.100}")
        nodes = tuple(from_jsonable(node) for node in kept["nodes"])
        return cls(**{**kept, "nodes": nodes, "schedule": tuple(kept.get("schedule", ()))})


def read_results(folder: Path) -> list[Result]:
    """Return every whole line of the folder's ``*.jsonl`` files; of two lines of one cell, the first.

    Parameters
    ----------
    folder
        Where a run wrote; one that does not exist has no lines.
    """
    found: dict[Cell, Result] = {}
    for path in sorted(folder.glob("*.jsonl")):
        *whole, torn = path.read_bytes().split(b"\n")
        if torn:
            log.info("%s: the last line was cut short and is ignored", path)
        for number, text in enumerate(whole, start=1):
            try:
                result = Result.from_json(text.decode("utf-8"))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                cure = "remove that line; the next run makes its cell again"
                raise FileError(f"Line {number} of {path}", "must be a result", quote_error(error), cure) from error
            found.setdefault(result.cell, result)
    return list(found.values())


def read_statistics(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the figures of the data sets that a run wrote beside its lines, by name."""
    path = folder / STATISTICS
    if not path.exists():
        return {}
    try:
        found = dict(json.loads(path.read_text(encoding="utf-8")))
        for name, figures in found.items():
            odd = [figure for figure in FIGURES if not isinstance(figures.get(figure, 0), int | float)]
            if odd:
                raise ValueError(f"{odd[0]} of {name} that is no number")
        return found
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise FileError(
            f"{path}", "must be figures of data sets", quote_error(error), "remove it and run again"
        ) from error


@dataclass
class Appender:
    """Writes to a folder of results that is this process's alone."""

    folder: Path

    def append(self, results: Iterable[Result]) -> None:
        """Write lines to the end of a file a data set; each is on the disk, whole, before the next begins."""
        for result in results:
            path = self.folder / f"{Path(result.dataset).name}.jsonl"
            try:
                with path.open("ab") as file:
                    file.write(result.to_json().encode("utf-8") + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise write_error(path, error) from error

    def record(self, statistics: Mapping[str, Mapping[str, Any]]) -> None:
        """Add the figures of data sets to those that are there."""
        before = read_statistics(self.folder)
        after = {**before, **statistics}
        if after != before:
            with replacing_file(self.folder / STATISTICS) as temporary:
                temporary.write_text(json.dumps(after, indent=1, sort_keys=True) + "\n", encoding="utf-8")


@contextmanager
def appending(folder: Path) -> Iterator[Appender]:
    """Make the folder ready to append to, for this process alone: lines that were cut short are cut off."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}", "must be a folder to write to", error.strerror, "choose another --out") from error
    with held_lock(folder / ".lock", f"{folder}"):
        sweep(folder)
        for path in folder.glob("*.jsonl"):
            content = path.read_bytes()
            if content and not content.endswith(b"\n"):
                os.truncate(path, content.rfind(b"\n") + 1)
        yield Appender(folder)
