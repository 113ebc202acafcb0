"""One contract over every registered strategy."""

import gc
import json
import types
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.active import select
from featprop.graph import Graph
from featprop.matrix import Features
from featprop.models import GCN
from featprop.strategies import (
    OUTPUTS,
    QueryContext,
    Strategy,
    available_strategies,
    get_strategy,
)
from tests.graphs import edgeless, random_graph

N = 30
LABELLED = np.array([0, 5, 11])
LABELS = ("one", "two", "one")

DRAWN = {"random", "anrmab"}
"""Strategies that draw their choice: another seed, another choice."""
SEEDED = {"age", "graphpart", "graphpart-far"}
"""Strategies with a random part (a weight, the start of K-Means) that depends on the order of the nodes."""


ORDINARY = random_graph(N, 5, density=0.1, weighted=True, seed=7)
HALF = random_graph(N // 2, density=0.3, weighted=True, seed=7).adjacency
GRAPHS = {
    "ordinary": ORDINARY,
    "equal features": Graph.from_scipy(ORDINARY.adjacency, np.ones((N, 5))),
    "no features at all": Graph.from_scipy(ORDINARY.adjacency, np.zeros((N, 5))),
    "groups of equal nodes": edgeless(np.repeat(np.eye(3), 10, axis=0)),
    "isolated nodes": edgeless(ORDINARY.features),
    "two components": Graph.from_scipy(sp.block_diag([HALF, HALF]), ORDINARY.features),
}


@cache
def outputs_of(kind: str, labels: tuple[str, ...]) -> dict[str, Features]:
    """Return every output of a model trained on the labels, or of an untrained one if there are none."""
    graph, model = GRAPHS[kind], GCN(hidden=4, epochs=20)
    model.fit(graph, LABELLED.tolist(), list(labels) or ["one"] * len(LABELLED), cold_start=True)
    return model.outputs(graph, OUTPUTS)


def context_of(
    strategy: Strategy, kind: str = "ordinary", labels: tuple[str, ...] = LABELS, **parts: Any
) -> QueryContext:
    """Return what the strategy would see: only outputs it needs, or uses if there are two classes."""
    wanted = strategy.needs | (strategy.uses if len(set(labels)) > 1 else frozenset())
    outputs = {name: rows for name, rows in outputs_of(kind, labels).items() if name in wanted}
    classes = tuple(sorted(set(labels)))
    labelled = LABELLED if labels else LABELLED[:0]
    codes = np.array([classes.index(label) for label in labels], dtype=np.int64)
    arguments = {"candidates": np.setdiff1d(np.arange(N), labelled), "labels": codes, "classes": classes, **parts}
    return QueryContext(GRAPHS[kind], labelled, outputs=outputs, **arguments)


@pytest.fixture(params=available_strategies())
def strategy(request: pytest.FixtureRequest) -> Strategy:
    return get_strategy(request.param)


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("labels", [LABELS, ("one", "one", "one"), ()], ids=["two classes", "one class", "no labels"])
def test_returns_the_budget_of_distinct_candidates(strategy: Strategy, kind: str, labels: tuple[str, ...]) -> None:
    candidates = np.setdiff1d(np.arange(3, N), LABELLED)
    context = context_of(strategy, kind, labels, candidates=candidates)
    for budget in (1, 2, 7, len(candidates)):
        picks = strategy.select(context, budget, np.random.default_rng(0))
        assert len(picks) == len(set(picks.tolist())) == budget
        assert set(picks.tolist()) <= set(candidates.tolist())


def test_choice_is_reproducible_and_the_seed_matters_only_to_random_strategies(strategy: Strategy) -> None:
    def choose(seed: int) -> tuple[int, ...]:
        fresh = get_strategy(strategy.name)
        return tuple(fresh.select(tie_free(fresh)[0], 6, np.random.default_rng(seed)).tolist())

    assert choose(0) == choose(0)
    chosen = {choose(seed) for seed in range(4)}
    if strategy.name in DRAWN:
        assert len(chosen) > 1
    elif strategy.name not in SEEDED:
        assert len(chosen) == 1


def test_the_context_is_not_modified(strategy: Strategy) -> None:
    context = context_of(strategy)
    parts = [context.graph.adjacency.data, context.graph.features, context.labelled, context.candidates, context.labels]
    parts += context.outputs.values()
    copies = [np.array(part) for part in parts]
    strategy.select(context, 5, np.random.default_rng(0))
    for part, copy in zip(parts, copies, strict=True):
        np.testing.assert_array_equal(part, copy)


def tie_free(strategy: Strategy, order: np.ndarray | None = None) -> tuple[QueryContext, np.ndarray]:
    """Return a context in which no two nodes are alike, optionally with its nodes in another order."""
    generator = np.random.default_rng(11)
    weights = sp.random_array((N, N), density=0.12, rng=generator)
    adjacency = sp.csr_array(weights + weights.T)
    features = generator.normal(size=(N, 6))
    logits = generator.normal(size=(N, 3))
    outputs = {
        "probabilities": np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True),
        "hidden": generator.normal(size=(N, 4)),
        "logits": logits,
    }
    order = np.arange(N) if order is None else order
    place = np.argsort(order)
    wanted = strategy.needs | strategy.uses
    seen = {name: rows[order].astype(np.float32) for name, rows in outputs.items() if name in wanted}
    labelled, classes = place[LABELLED], ("one", "two")
    graph = Graph.from_scipy(adjacency[order][:, order], features[order])
    candidates = np.setdiff1d(np.arange(N), labelled)
    return QueryContext(graph, labelled, candidates, np.array([0, 1, 0]), classes, seen), order


@pytest.mark.parametrize("name", sorted(set(available_strategies()) - DRAWN - SEEDED))
@pytest.mark.parametrize("shuffle", range(2))
def test_node_order_does_not_change_the_choice(name: str, shuffle: int) -> None:
    strategy = get_strategy(name)
    plain, _ = tie_free(strategy)
    permuted, order = tie_free(strategy, np.random.default_rng(shuffle).permutation(N))
    chosen = set(strategy.select(plain, 6, np.random.default_rng(0)).tolist())
    assert chosen == set(order[strategy.select(permuted, 6, np.random.default_rng(0))].tolist())


SECRET = np.random.default_rng(5).integers(0, 3, N)


def reachable(start: object) -> list[object]:
    """Return every object reachable from an object, except code."""
    seen: dict[int, object] = {}
    todo = [start]
    while todo:
        found = todo.pop()
        if id(found) in seen or isinstance(found, type | types.ModuleType | types.FunctionType):
            continue
        seen[id(found)] = found
        todo += gc.get_referents(found)
        if isinstance(found, np.ndarray) and found.base is not None:
            todo.append(found.base)
    return list(seen.values())


def test_hidden_labels_cannot_be_reached(strategy: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"secret {code}" for code in SECRET]
    graph = Graph.from_scipy(ORDINARY.adjacency, ORDINARY.features, labels=names)
    seen: list[QueryContext] = []
    choose = type(strategy).select

    def spy(self: Strategy, context: QueryContext, budget: int, generator: np.random.Generator) -> Any:
        seen.append(context)
        return choose(self, context, budget, generator)

    monkeypatch.setattr(type(strategy), "select", spy)
    told = [int(np.flatnonzero(code == SECRET)[0]) for code in (0, 1)]
    labels = [names[node] for node in told]
    select(graph, 4, strategy=strategy, labelled=told, labels=labels, model=GCN(hidden=4, epochs=10))
    everything = reachable(seen[0])
    texts = {item for item in everything if isinstance(item, str)}
    assert {"secret 0", "secret 1"} <= texts
    assert "secret 2" not in texts
    codes = np.asarray(graph.labels)
    for array in (item for item in everything if isinstance(item, np.ndarray)):
        assert array.shape != codes.shape or not np.array_equal(array, codes)
    assert set(seen[0].outputs) == strategy.needs | strategy.uses


def test_every_strategy_describes_itself(strategy: Strategy) -> None:
    assert strategy.name in available_strategies()
    assert (type(strategy).__doc__ or "").splitlines()[0].endswith(".")
    assert strategy.needs | strategy.uses <= OUTPUTS.keys()
    assert not strategy.needs & strategy.uses
    assert strategy.reference != Strategy.reference
    assert strategy.cost != Strategy.cost
    assert ("model" in strategy.cost) == strategy.looks_at_model() == bool(strategy.needs | strategy.uses)


@pytest.mark.parametrize("labelled", [0, 5, 10])
def test_steps_rise_to_the_budget(strategy: Strategy, labelled: int) -> None:
    for budget in (11, 12, 80):
        steps = strategy.steps(labelled, budget)
        assert steps[-1] == budget
        assert labelled < steps[0]
        assert steps == sorted(set(steps))


def test_state_round_trip(strategy: Strategy) -> None:
    strategy.select(context_of(strategy), 4, np.random.default_rng(0))
    other = get_strategy(strategy.name)
    other.load_state_dict(json.loads(json.dumps(strategy.state_dict())))
    assert other.state_dict() == strategy.state_dict()


def test_a_context_is_frozen_and_has_no_labels(line: Graph) -> None:
    context = QueryContext(line.without_labels(), np.array([0]), np.array([1, 2, 3, 4]))
    assert context.graph.labels is None
    with pytest.raises(AttributeError):
        context.graph = line  # type: ignore[misc]
    with pytest.raises(TypeError):
        context.outputs["hidden"] = np.ones(1)  # type: ignore[index]


def test_candidates_are_drawn_uniformly() -> None:
    graph = edgeless(np.eye(10))
    context = QueryContext(graph, np.array([0]), np.arange(1, 10))
    generator, strategy = np.random.default_rng(0), get_strategy("random")
    drawn = np.concatenate([strategy.select(context, 3, generator) for _ in range(3000)])
    counts = np.bincount(drawn, minlength=10)
    assert counts[0] == 0
    np.testing.assert_allclose(counts[1:], 1000, atol=120)
