"""What a reader finds in the folder of a work, by name, and how often something is there twice."""

import json
from pathlib import Path
from typing import Any

from crash.inputs import Inputs
from crash.tasks import lines_of_results

__all__ = [
    "acts_in",
    "doubled_acts",
    "doubled_lines",
    "fetched_in",
    "file_in",
    "graph_in",
    "learner_in",
    "model_in",
    "names_in",
    "results_in",
    "rounds_in",
]


def names_in(folder: Path) -> set[str]:
    """Return the names of all that is in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def graph_in(name: str, _: Inputs, folder: Path) -> dict[str, Any]:
    """Return the fingerprint of a converted graph."""
    from featprop.sources.native import is_native, open_native

    return {name: open_native(folder / name).fingerprint if is_native(folder / name) else None}


def file_in(name: str, _: Inputs, folder: Path) -> dict[str, Any]:
    """Return the content of a file."""
    return {name: (folder / name).read_bytes() if (folder / name).exists() else None}


def model_in(inputs: Inputs, folder: Path) -> dict[str, Any]:
    """Return what a model predicts."""
    import featprop as fp

    model = folder / "model.safetensors"
    if not model.exists():
        return {"model": None}
    return {"model": fp.load_model(model).predict_proba(fp.read_graph(inputs.graph)).tobytes()}


def _said(path: Path) -> list[Any]:
    from featprop.labels import LabelLog

    if not path.exists():
        return []
    with LabelLog(path) as log:
        return [(act.kind, act.annotator, act.node, act.label, act.text) for act in log.events()]


def doubled_acts(name: str, folder: Path) -> int:
    """Return how many answers are in a log twice."""
    said = [act for act in _said(folder / name) if act[0] in ("label", "skip")]
    return len(said) - len(set(said))


def learner_in(name: str, inputs: Inputs, folder: Path) -> dict[str, Any]:
    """Return what people said, and the rest: who was asked, how often, and what is predicted."""
    import featprop as fp

    said = _said(folder / name)
    found = {f"{act[0]} of {act[2]}": act for act in said if act[0] not in ("ask", "learner")}
    if said:
        with fp.LabelLog(folder / name) as log:
            learner = fp.ActiveLearner(fp.read_graph(inputs.graph), log=log)
            found["asked in"] = learner.rounds
            found["asked"] = [act[2] for act in said if act[0] == "ask"]
    return found


def rounds_in(inputs: Inputs, folder: Path) -> dict[str, Any]:
    """Return what is in a folder of rounds, and the two sheets."""
    return (
        learner_in("rounds.labels", inputs, folder)
        | file_in("more.csv", inputs, folder)
        | file_in("first.csv", inputs, folder)
    )


def results_in(_: Inputs, folder: Path) -> dict[str, Any]:
    """Return which lines of results are there, and the figures of the data set."""
    from featprop.experiments.results import read_results, read_statistics

    there = {result.cell for result in read_results(folder / "results")}
    lines = {f"line {number}": result.cell in there for number, result in enumerate(lines_of_results())}
    return lines | {"statistics": str(read_statistics(folder / "results"))}


def doubled_lines(folder: Path) -> int:
    """Return how many cells have two lines."""
    from featprop.experiments.results import Result

    cells = [
        Result.from_json(line).cell
        for path in (folder / "results").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]
    ]
    return len(cells) - len(set(cells))


def acts_in(_: Inputs, folder: Path) -> dict[str, Any]:
    """Return what is in a label log."""
    said = _said(folder / "people.labels")
    found: dict[str, Any] = {"classes": [act for act in said if act[0] == "class"]}
    return found | {f"{act[0]} {act[2]}": True for act in said if act[0] != "class"}


def fetched_in(inputs: Inputs, folder: Path) -> dict[str, Any]:
    """Return the data set in a cache and the form it came in."""
    from featprop.sources.native import SOURCE

    source = folder / "cache" / "graphs" / "served" / SOURCE
    form = json.loads(source.read_bytes())["form"] if source.exists() else None
    return graph_in("cache/graphs/served", inputs, folder) | {"form": form}
