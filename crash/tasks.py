"""The tasks that are killed, their inputs, and what a reader finds after them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

import featprop as fp
from crash.harness import Task
from featprop.cli import app
from tests.graphs import write_class_folder
from tests.helpers import fill


def make_inputs(folder: Path) -> None:
    """Write two graphs, a sheet of labels and a model."""
    for name, seed in (("graph", 1), ("other", 2)):
        write_class_folder(folder / name, seed=seed)
    rows = "".join(f"{node},{label_of(node)}\n" for node in range(30))
    (folder / "labels.csv").write_text(f"id,label\n{rows}", encoding="utf-8")
    run_command("train {inputs}/graph --labels {inputs}/labels.csv --out {inputs}/model.safetensors")(folder, folder)


def label_of(node: Any) -> str:
    """Return the class of a node."""
    return "abc"[int(node) % 3]


def run_command(line: str) -> Callable[[Path, Path], None]:
    """Return a function that runs a command; it must succeed."""

    def run(inputs: Path, state: Path) -> None:
        done = CliRunner().invoke(app, [word.format(inputs=inputs, state=state) for word in line.split()])
        if done.exit_code:
            raise RuntimeError(f"exit code {done.exit_code}: {done.output}") from done.exception

    return run


def look_at_file(name: str) -> Callable[[Path, Path], dict[str, Any]]:
    """Return the content of a file."""
    return lambda _, state: {name: (state / name).read_bytes() if (state / name).exists() else None}


def look_at_graph(_: Path, state: Path) -> dict[str, Any]:
    """Return the numbers of a converted graph."""
    if not (state / "out").exists():
        return {"graph": None}
    graph = fp.read_graph(state / "out")
    return {"graph": (graph.n_nodes, graph.n_edges, float(np.asarray(graph.features).sum()))}


def look_at_model(inputs: Path, state: Path) -> dict[str, Any]:
    """Return what a model predicts."""
    model = fp.load_model(state / "model.safetensors")
    return {"model": model.predict_proba(fp.read_graph(inputs / "graph")).tobytes()}


def look_at_log(inputs: Path, state: Path) -> dict[str, Any]:
    """Return how often each answer is in a label log, who was asked, and the sheet."""
    path, found = state / "log.labels", look_at_file("more.csv")(inputs, state)
    if not path.exists():
        return found
    with fp.LabelLog(path) as log:
        events = log.events()
        found["rounds"] = fp.ActiveLearner(fp.read_graph(inputs / "graph"), log=log).rounds
    found["asked"] = [event.node for event in events if event.kind == "ask"]
    answers = [event for event in events if event.kind not in ("ask", "learner")]
    return found | Counter(f"{event.kind} {event.node} {event.label} {event.annotator}" for event in answers)


def look_at_results(_: Path, state: Path) -> dict[str, Any]:
    """Return the results of experiments, without times, by what they are of."""
    found: dict[str, Any] = {}
    for path in (state / "results").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            result = json.loads(line)
            key = f"{[result[name] for name in ('strategy', 'model', 'budget', 'seed', 'protocol')]}"
            found.setdefault(key, []).append((result["nodes"], result["accuracy"]))
    return found


def start_rounds(inputs: Path, state: Path) -> None:
    """Select a first sheet with a log, and type labels into it."""
    run_command("select {inputs}/graph --budget 12 --log {state}/log.labels --out {state}/first.csv")(inputs, state)
    fill(state / "first.csv", label_of)


def write_log(_: Path, state: Path) -> None:
    """Take answers as a server does, each under its key."""
    with fp.LabelLog(state / "log.labels") as log:
        log.set_classes(["a", "b"])
        for number in range(20):
            log.answer(number, "ab"[number % 2], annotator="ada", key=f"key {number}")
        log.skip(99, "torn", annotator="ada", key="skipped")
        log.note(99, "look again", annotator="ada", key="noted")


CONVERT = "convert {inputs}/%s {state}/out"
TRAIN = "train {inputs}/%s --labels {inputs}/labels.csv --out {state}/model.safetensors"
PREDICT = "predict {inputs}/%s --model {inputs}/model.safetensors --out {state}/predictions.csv"
SELECT_MORE = (
    "select {inputs}/graph --budget 6 --labels {state}/first.csv --log {state}/log.labels --out {state}/more.csv"
)
EXPERIMENTS = (
    "experiments run --dataset {inputs}/graph --strategy random --strategy degree --model ridge "
    "--budgets 6,12 --seeds 2 --jobs 1 --out {state}/results"
)


def replace(name: str, line: str, look: Callable[[Path, Path], dict[str, Any]], *, repeatable: bool = True) -> Task:
    """Return a task that replaces the output of a command for another graph."""
    return Task(name, run_command(f"{line % 'graph'} --force"), look, run_command(line % "other"), repeatable)


TASKS = [
    Task("convert", run_command(CONVERT % "graph"), look_at_graph, repeatable=False),
    replace("convert --force", CONVERT, look_at_graph),
    replace("train", TRAIN, look_at_model),
    replace("predict", PREDICT, look_at_file("predictions.csv"), repeatable=False),
    Task("select --log", run_command(f"{SELECT_MORE} --force"), look_at_log, start_rounds, repeatable=False),
    Task("import", run_command("import {state}/log.labels {inputs}/labels.csv"), look_at_log, start_rounds),
    Task("label log", write_log, look_at_log),
    Task("experiments run", run_command(EXPERIMENTS), look_at_results),
]
