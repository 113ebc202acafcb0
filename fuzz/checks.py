"""What must hold of the answers that commands write, whatever their inputs were."""

from __future__ import annotations

import contextlib
import csv
import math
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["acts_kept", "converted", "model", "picks", "predictions"]

Check = Callable[[Path], list[str]]


def picks(name: str, budget: int) -> Check:
    """Check that a sheet asks for `budget` distinct nodes."""

    def check(folder: Path) -> list[str]:
        rows = _rows(folder / name)
        nodes = {row["id"] for row in rows}
        return [] if len(rows) == len(nodes) == budget else [f"{len(rows)} rows and {len(nodes)} nodes for {budget}"]

    return check


def predictions(name: str) -> Check:
    """Check that confidences are, and are shares, and that probabilities add up to one."""

    def check(folder: Path) -> list[str]:
        rows = _rows(folder / name)
        if not rows:
            return ["no prediction"]
        for row in rows:
            shares = [
                float(value) for column, value in row.items() if column and column.startswith("probability_") and value
            ]
            sure = float(row["confidence"]) if row.get("confidence") else 1.0
            if not all(0 <= share <= 1 for share in [*shares, sure]) or (shares and abs(sum(shares) - 1) > 0.01):
                return [f"probabilities that are none: {list(row.items())[:6]}"]
        return []

    return check


def model(name: str) -> Check:
    """Check that a model can be loaded, and that all its numbers are."""

    def check(folder: Path) -> list[str]:
        from featprop import load_model

        tensors = load_model(folder / name).state_dict()
        odd = [part for part, tensor in tensors.items() if not math.isfinite(float(tensor.sum()))]
        return [f"{part} is not finite" for part in odd]

    return check


def converted(name: str) -> Check:
    """Check that a converted graph opens, its arrays checked anew."""

    def check(folder: Path) -> list[str]:
        from featprop import read_graph

        (folder / name / "checked.json").unlink()
        read_graph(folder / name)
        return []

    return check


def acts_kept(name: str, before: Path) -> Check:
    """Check that a label log begins with all acts of the log that it was."""

    def check(folder: Path) -> list[str]:
        kept, now = _acts(before), _acts(folder / name)
        return [] if now[: len(kept)] == kept else [f"{name} no longer begins with its {len(kept)} acts"]

    return check


def _acts(log: Path) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as database:
        return database.execute("SELECT * FROM events ORDER BY number").fetchall()


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
