"""What must hold of the answers that commands write, whatever their inputs were."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

from featprop import LabelLog, load_model, read_graph

Check = Callable[[Path], None]


def picks(budget: int, like: Path | None = None) -> Check:
    """Check that ``out.csv`` asks for `budget` different nodes, the same as those of `like`."""

    def check(folder: Path) -> None:
        nodes = [row["id"] for row in _rows(folder / "out.csv")]
        assert len(nodes) == len(set(nodes)) == budget, f"{len(nodes)} rows, {len(set(nodes))} nodes, not {budget}"
        assert like is None or nodes == [row["id"] for row in _rows(like)], f"other nodes: {nodes}"

    return check


def predictions(folder: Path) -> None:
    """Check that probabilities of ``out.csv`` sum to one, and that prediction and confidence follow from them."""
    rows = _rows(folder / "out.csv")
    assert rows, "no rows"
    for row in rows:
        shares = {name.removeprefix("probability_"): float(row[name]) for name in row if name.startswith("prob")}
        assert shares, f"no probabilities: {list(row)}"
        assert all(0 <= share <= 1 for share in shares.values()), f"{row}"
        assert abs(sum(shares.values()) - 1) < 0.01, f"{row}"
        assert abs(float(row["confidence"]) - max(shares.values())) < 0.01, f"{row}"
        assert shares[row["prediction"]] >= max(shares.values()) - 0.001, f"{row}"


def model(folder: Path) -> None:
    """Check that ``out.safetensors`` can be loaded and that its numbers are finite."""
    for name, tensor in load_model(folder / "out.safetensors").state_dict().items():
        assert math.isfinite(float(tensor.sum())), f"{name} is not finite"


def converted(folder: Path) -> None:
    """Check that the converted graph ``out`` can be read without what is known of its files."""
    (folder / "out" / "checked.json").unlink(missing_ok=True)
    assert read_graph(folder / "out").n_nodes > 0


def kept_events(before: Path) -> Check:
    """Check that ``log.labels`` starts with all events of an earlier log."""

    def check(folder: Path) -> None:
        with LabelLog(before, read_only=True) as earlier, LabelLog(folder / "log.labels", read_only=True) as now:
            assert now.events()[: len(earlier.events())] == earlier.events()

    return check


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
