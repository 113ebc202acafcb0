"""`featprop select` returns the nodes of published results for their seed, budget and labels."""

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.datasets import Status, find, resolve, status
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, read_results
from featprop.experiments.settings import INITIAL_POOL_SIZE, Spec
from featprop.experiments.trials import Trial
from featprop.graph import Graph
from featprop.strategies import available_strategies, get_strategy, strategy_class

RESULTS = Path(__file__).parent.parent.parent / "experiments" / "results"
SMALL = ("cora", "citeseer")
"""Graphs on which every selection without a model takes seconds."""
CARRIES_STATE = {"anrmab"}
BOTH = [
    (name, model)
    for name in sorted(set(available_strategies()) - {"coreset-mip"})
    for model in ("gcn", "ridge")
    if model == "ridge" or strategy_class(name).looks_at_model()
]
"""Strategies, each with the models that its selection may depend on."""

Run = Callable[..., Any]


def select_again(run: Run, graph: object, names: dict[Any, Any], result: Result, before: int) -> list[str]:
    """Select the new nodes of a result on the command line, given its first `before` labels."""
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
def test_command_line_selects_the_nodes_of_an_experiment(name: str, model: str, graph_folder: Path, run: Run) -> None:
    graph = resolve(str(graph_folder))
    trial = Trial("blobs", graph.fingerprint, Spec(name), (Spec(model),), (8, 12), (0, 3))
    results = [each for several in Protocol(graph).run(trial) for each in several if each.protocol == "paper"]
    names = dict(zip(graph.ids.tolist(), graph.class_names(), strict=True))
    for result in results:
        if name in CARRIES_STATE and result.budget != 8:
            continue
        first = INITIAL_POOL_SIZE if strategy_class(name).needs else 0
        before = [first, *result.schedule][-2] if result.schedule else 0
        assert select_again(run, graph_folder, names, result, before) == [str(node) for node in result.nodes[before:]]


def is_here(dataset: str) -> bool:
    return status(find(dataset)) in (Status.CACHED, Status.PLACED)


@pytest.mark.parametrize("dataset", SMALL)
def test_sampled_published_results_are_reproduced(dataset: str, run: Run) -> None:
    """Only strategies without a model: the weights of a network depend on the processor."""
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
        assert select_again(run, dataset, names, result, 0) == [str(node) for node in result.nodes], result.cell


def test_published_results_name_available_strategies(run: Run) -> None:
    for result in read_results(RESULTS)[::97]:
        assert get_strategy(result.strategy, **result.options)
        assert len(result.nodes) == result.budget == len(set(result.nodes))
