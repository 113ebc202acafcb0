"""What must hold of the answers that commands write, whatever their inputs were."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

from featprop import LabelLog, load_model, read_graph
from fuzz.case import Case, Check
from tests.helpers import rows_of


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
