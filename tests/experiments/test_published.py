"""`featprop.select` returns the nodes of published results for their seed, budget and labels."""

import random
from pathlib import Path
from typing import Any

import pytest

import featprop as fp
from featprop.datasets import Status, find, resolve, status
from featprop.experiments.protocol import Protocol
from featprop.experiments.results import Result, read_results
from featprop.experiments.settings import INITIAL_POOL_SIZE, Spec, Trial
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


def select_again(graph: Graph, names: dict[Any, Any], result: Result, before: int) -> list[Any]:
    """Select the new nodes of a result, given its first `before` labels."""
    labelled = list(result.nodes[:before])
    picks = fp.select(
        graph,
        result.budget - before,
        strategy=get_strategy(result.strategy, **result.options),
        labelled=labelled,
        labels=[names[node] for node in labelled],
        candidates=[node for node, name in names.items() if name is not None],
        model=result.model if strategy_class(result.strategy).looks_at_model() else None,
        random_state=result.seed,
    )
    return list(picks.nodes)


@pytest.mark.parametrize(("name", "model"), BOTH)
def test_select_returns_the_nodes_of_an_experiment(name: str, model: str, graph_folder: Path) -> None:
    graph = resolve(str(graph_folder))
    trial = Trial("blobs", graph.fingerprint, Spec(name), (Spec(model),), (8, 12), (0, 3))
    results = [each for each in Protocol(graph).run(trial) if each.protocol == "paper"]
    names = dict(zip(graph.ids.tolist(), graph.class_names(), strict=True))
    for result in results:
        if name in CARRIES_STATE and result.budget != 8:
            continue
        first = INITIAL_POOL_SIZE if strategy_class(name).needs else 0
        before = [first, *result.schedule][-2] if result.schedule else 0
        assert select_again(graph, names, result, before) == list(result.nodes[before:])


def is_here(dataset: str) -> bool:
    return status(find(dataset)) in (Status.CACHED, Status.PLACED)


@pytest.mark.parametrize("dataset", SMALL)
def test_sampled_published_results_are_reproduced(dataset: str) -> None:
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
        assert select_again(graph, names, result, 0) == list(result.nodes), result.cell


def test_published_results_name_available_strategies() -> None:
    for result in read_results(RESULTS)[::97]:
        assert get_strategy(result.strategy, **result.options)
        assert len(result.nodes) == result.budget == len(set(result.nodes))
