"""One contract over every registered strategy."""

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.strategies import Situation, Strategy, available, get_strategy, register

SEEDS = [0, 1, 2]


def graph_of(kind: str) -> Graph:
    generator = np.random.default_rng(7)
    n = 30
    adjacency = sp.random_array((n, n), density=0.1, rng=generator)
    features = generator.normal(size=(n, 5))
    if kind == "equal features":
        features[:] = 1.0
    elif kind == "no features at all":
        features[:] = 0.0
    elif kind == "groups of equal nodes":
        adjacency, features = sp.csr_array((n, n)), np.repeat(np.eye(3), 10, axis=0)
    elif kind == "isolated nodes":
        adjacency = sp.csr_array((n, n))
    elif kind == "two components":
        half = sp.random_array((n // 2, n // 2), density=0.3, rng=generator)
        adjacency = sp.block_diag([half, half])
    return Graph.from_scipy(adjacency, features)


KINDS = [
    "ordinary",
    "equal features",
    "no features at all",
    "groups of equal nodes",
    "isolated nodes",
    "two components",
]


@pytest.fixture(params=available())
def strategy(request: pytest.FixtureRequest) -> Strategy:
    return get_strategy(request.param)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_exactly_the_budget_new_distinct_and_among_the_candidates(strategy: Strategy, kind: str, seed: int) -> None:
    graph = graph_of(kind)
    labelled = np.array([0, 5, 11])
    candidates = np.setdiff1d(np.arange(3, graph.n_nodes), labelled)
    for budget in (1, 2, 7, len(candidates)):
        picks = strategy.select(Situation(graph, labelled, candidates), budget, np.random.default_rng(seed))
        assert len(picks) == len(set(picks.tolist())) == budget
        assert set(picks.tolist()) <= set(candidates.tolist())


def test_works_without_any_label(strategy: Strategy) -> None:
    graph = graph_of("ordinary")
    everything = np.arange(graph.n_nodes)
    picks = strategy.select(Situation(graph, everything[:0], everything), 30, np.random.default_rng(0))
    assert sorted(picks.tolist()) == everything.tolist()


def test_the_same_seed_gives_the_same_answer(strategy: Strategy) -> None:
    def once() -> list[int]:
        graph = graph_of("ordinary")
        situation = Situation(graph, np.array([2]), np.setdiff1d(np.arange(graph.n_nodes), [2]))
        return strategy.select(situation, 6, np.random.default_rng(3)).tolist()

    assert once() == once()


def test_the_graph_is_untouched(strategy: Strategy) -> None:
    graph, before = graph_of("ordinary"), graph_of("ordinary")
    strategy.select(Situation(graph, np.array([], dtype=np.intp), np.arange(30)), 5, np.random.default_rng(0))
    assert (graph.adjacency != before.adjacency).nnz == 0
    np.testing.assert_array_equal(graph.features, before.features)


def test_an_unknown_name_lists_the_choices() -> None:
    with pytest.raises(
        ParameterError, match=r"strategy must be one of featprop, random; found 'featprob': did you mean"
    ):
        get_strategy("featprob")


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="registered already, by FeatProp"):
        register("featprop")(get_strategy("random").__class__)
