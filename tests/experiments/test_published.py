"""The nodes of a published line come back from `featprop select` with the seed, budget and labels of that line."""

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.datasets import find, resolve, whereabouts
from featprop.experiments.entrants import Entrant
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, read_results
from featprop.experiments.settings import INITIAL_POOL
from featprop.experiments.trials import Trial
from featprop.graph import Graph
from featprop.strategies import available_strategies, get_strategy, strategy_class

RESULTS = Path(__file__).parent.parent.parent / "experiments" / "results"
SMALL = ("cora", "citeseer")
"""Graphs on which every choice of a strategy without a model is a matter of seconds."""
CARRIES_STATE = {"anrmab"}
BOTH = [
    (name, model)
    for name in sorted(set(available_strategies()) - {"coreset-mip"})
    for model in ("gcn", "ridge")
    if model == "ridge" or strategy_class(name).looks_at_model()
]
"""Strategies, each with the models that its choice may depend on."""

Run = Callable[..., Any]


def chosen(run: Run, graph: object, names: dict[Any, Any], result: Result, before: int) -> list[str]:
    """Choose with the command line what is new at the budget of a result, by the labels it had before."""
    labelled = result.nodes[:before]
    with Path("labels.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "label"), *((node, names[node]) for node in labelled)])
    with Path("candidates.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id",), *((node,) for node, name in names.items() if name is not None)])
    words = ["--budget", result.budget - before, "--seed", result.seed, "--strategy", result.strategy]
    words += [word for name, value in result.options.items() for word in ("--set", f"{name}={value}")]
    words += ["--model", result.model] if strategy_class(result.strategy).looks_at_model() else []
    words += ["--labels", "labels.csv"] if before else []
    done = run("select", graph, *words, "--candidates", "candidates.csv", "--no-description", "--force")
    assert done.exit_code == 0, done.output
    with Path("picks.csv").open(encoding="utf-8", newline="") as file:
        return [row["id"] for row in csv.DictReader(file)]


@pytest.mark.parametrize(("name", "model"), BOTH)
def test_what_an_experiment_chose_the_command_line_chooses(name: str, model: str, graph_folder: Path, run: Run) -> None:
    graph = resolve(str(graph_folder))
    trial = Trial("blobs", graph.fingerprint, Entrant(name), (Entrant(model),), (8, 12), (0, 3))
    results = [each for several in Protocol(graph).walk(trial) for each in several if each.protocol == "paper"]
    names = dict(zip(graph.ids.tolist(), graph.class_names(), strict=True))
    for result in results:
        if name in CARRIES_STATE and result.budget != 8:
            continue
        first = INITIAL_POOL if strategy_class(name).needs else 0
        before = [first, *result.schedule][-2] if result.schedule else 0
        assert chosen(run, graph_folder, names, result, before) == [str(node) for node in result.nodes[before:]]


def is_here(dataset: str) -> bool:
    return whereabouts(find(dataset)) in ("cache", "placed")


@pytest.mark.parametrize("dataset", SMALL)
def test_published_lines_taken_at_random_come_back(dataset: str, run: Run) -> None:
    """Lines of strategies without a model; a network's weights, and so its choices, depend on the processor."""
    if not is_here(dataset):
        pytest.skip(f"{dataset} is not here: featprop datasets fetch {dataset}")
    graph: Graph = resolve(dataset)
    names = dict(zip(graph.ids.tolist(), graph.class_names(), strict=True))
    published = [
        result
        for result in read_results(RESULTS)
        if result.graph == graph.fingerprint and not strategy_class(result.strategy).looks_at_model()
    ]
    if not published:
        pytest.skip(f"{dataset} is here in another public form than that of the published results")
    for result in random.Random(2026).sample(published, 8):
        assert chosen(run, dataset, names, result, 0) == [str(node) for node in result.nodes], result.cell


def test_every_published_line_names_a_strategy_that_can_be_made(run: Run) -> None:
    for result in read_results(RESULTS)[::97]:
        assert get_strategy(result.strategy, **result.options)
        assert len(result.nodes) == result.budget == len(set(result.nodes))
