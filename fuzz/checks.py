"""What must hold of the answers that commands write, whatever their inputs were."""

from __future__ import annotations

import contextlib
import csv
import math
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

Check = Callable[[Path], None]


def picks(budget: int, like: Path | None = None) -> Check:
    """Check that ``out.csv`` asks for `budget` different nodes, the same as those of `like`."""

    def check(folder: Path) -> None:
        nodes = [row["id"] for row in _rows(folder / "out.csv")]
        assert len(nodes) == len(set(nodes)) == budget, f"{len(nodes)} rows, {len(set(nodes))} nodes, not {budget}"
        if like is not None:
            assert nodes == [row["id"] for row in _rows(like)], f"other nodes: {nodes}"

    return check


def predictions(folder: Path) -> None:
    """Check that probabilities of ``out.csv`` sum to one, and that predictions and confidences follow from them."""
    rows = _rows(folder / "out.csv")
    assert rows, "no rows"
    for row in rows:
        shares = {name.removeprefix("probability_"): row[name] for name in row if name.startswith("probability_")}
        assert shares, f"no column of probabilities in {list(row)}"
        numbers = {name: float(share) for name, share in shares.items()}
        assert all(0 <= share <= 1 for share in numbers.values()), f"probabilities of {row}"
        assert abs(sum(numbers.values()) - 1) < 0.01, f"probabilities of {row}"
        assert abs(float(row["confidence"]) - max(numbers.values())) < 0.01, f"confidence of {row}"
        assert numbers[row["prediction"]] >= max(numbers.values()) - 0.001, f"prediction of {row}"


def model(folder: Path) -> None:
    """Check that a model can be loaded and that its numbers are finite."""
    from featprop import load_model

    for name, tensor in load_model(folder / "out.safetensors").state_dict().items():
        assert math.isfinite(float(tensor.sum())), f"{name} is not finite"


def converted(folder: Path) -> None:
    """Check that a converted graph can be read."""
    from featprop import read_graph

    (folder / "out" / "checked.json").unlink(missing_ok=True)
    assert read_graph(folder / "out").n_nodes > 0


def kept_events(before: Path) -> Check:
    """Check that ``log.labels`` starts with all events of an earlier log."""

    def check(folder: Path) -> None:
        earlier, now = events(before), events(folder / "log.labels")
        assert now[: len(earlier)] == earlier, f"the first {len(earlier)} events changed"

    return check


def kept_labels(before: bytes) -> Check:
    """Check that labels of an overwritten ``out.csv`` are in its backup."""

    def check(folder: Path) -> None:
        assert (folder / "out.csv.bak").read_bytes() == before, "no backup"

    return check


def events(log: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a label log."""
    with contextlib.closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as database:
        return database.execute("SELECT * FROM events ORDER BY number").fetchall()


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
