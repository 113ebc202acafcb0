"""Strategies that cover or cluster, on cases solved by hand or by trying every choice."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from featprop.graph import Graph
from featprop.propagation import coverage, propagate
from featprop.strategies import QueryContext, get_strategy
from featprop.strategies.grain import influence
from tests.graphs import edgeless, random_graph

MakeContext = Callable[..., QueryContext]


def chosen(name: str, context: QueryContext, budget: int, **options: Any) -> list[int]:
    return get_strategy(name, **options).select(context, budget, np.random.default_rng(0)).tolist()


def test_cosine_groups_by_direction_and_l2_by_length(make_context: MakeContext) -> None:
    features = [[1, 0], [10, 0], [100, 0], [0, 1], [0, 10], [0, 100]]
    assert {node // 3 for node in chosen("featprop-cosine", make_context(6, features=features), 2)} == {0, 1}
    assert set(chosen("featprop", make_context(6, features=features), 3)) & {2, 5} == {2, 5}
    features = [[0, 0], [1, 0], [2, 0], [3, 0]]
    assert 0 in chosen("featprop-cosine", make_context(4, features=features), 2), "a node without features stays zero"


def test_layers_change_the_choice(make_context: MakeContext) -> None:
    """Without propagation node 1 is like 0; its neighbours make it like 2, 3 and 4."""
    features = [[0.0], [0.0], [1.0], [1.0], [1.0], [5.0]]
    context = make_context(6, [(1, 2), (1, 3), (1, 4)], features, labelled=[2])
    assert chosen("featprop", context, 2, layers=0)[0] == 5


@pytest.mark.parametrize("seed", range(4))
def test_kmeans_gives_distinct_nodes_near_the_optimum(seed: int) -> None:
    graph = random_graph(12, 2, weighted=True, seed=seed)
    context = QueryContext(graph, np.array([0]), np.arange(1, 12))
    picks = chosen("featprop", context, 3, clustering="kmeans")
    best = min(coverage(graph, np.array([0, *choice])).mean_distance for choice in combinations(range(1, 12), 3))
    assert len(set(picks)) == 3
    assert coverage(graph, np.array([0, *picks])).mean_distance <= 1.7 * best


def test_kmeans_is_not_kmedoids(make_context: MakeContext) -> None:
    """A far node pulls the mean, 9.3, which is nearest to 4; the medoid is the one in the middle."""
    features = [[0.0], [1.0], [1.5], [4.0], [40.0]]
    context = make_context(5, features=features)
    assert chosen("featprop", context, 1) == [2]
    assert chosen("featprop", context, 1, clustering="kmeans") == [3]


def test_kcenter_goes_farthest_first(make_context: MakeContext) -> None:
    features = [[0.0], [1.5], [4.0], [10.0], [11.0]]
    assert chosen("featprop-kcenter", make_context(5, features=features, labelled=[0]), 3) == [4, 2, 1]
    assert chosen("featprop-kcenter", make_context(5, features=features), 3)[:2] == [2, 4]


def test_coreset_greedy_uses_only_the_hidden_layer(make_context: MakeContext) -> None:
    context = make_context(
        5, features=[[9.0], [7], [5], [3], [1]], labelled=[0], hidden=[[0.0], [1.5], [4], [10], [11]]
    )
    assert chosen("coreset-greedy", context, 3) == [4, 2, 1]


def test_featprop_hidden_clusters_the_logits(make_context: MakeContext) -> None:
    logits = [[0.0, 0], [0.1, 0], [0.2, 0], [5, 5], [5.1, 5], [5.2, 5]]
    assert set(chosen("featprop-hidden", make_context(6, logits=logits), 2)) == {1, 4}


def test_herding_covers_the_crowd_first(make_context: MakeContext) -> None:
    """Three alike, two alike, one alone, in three directions: that is the order of what they cover."""
    features = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    picks = chosen("herding", make_context(6, features=features), 3)
    assert [[0, 0, 0, 1, 1, 2][node] for node in picks] == [0, 1, 2]
    picks = chosen("herding", make_context(6, features=features, labelled=[0]), 2)
    assert [[0, 0, 0, 1, 1, 2][node] for node in picks] == [1, 2]


@pytest.mark.parametrize("labelled", [[], [3]])
def test_herding_is_greedy_on_its_objective(labelled: list[int]) -> None:
    generator = np.random.default_rng(4)
    features = generator.normal(size=(15, 3))
    graph = edgeless(features)
    known = np.array(labelled, dtype=np.intp)
    context = QueryContext(graph, known, np.setdiff1d(np.arange(15), known))
    distances = np.linalg.norm(features[:, None] - features[None], axis=2)
    kernel = np.exp(-((distances / np.quantile(distances[np.triu_indices(15, 1)], 0.2)) ** 2))
    picks = list(labelled)
    for _ in range(4):
        rest = [node for node in range(15) if node not in picks]
        picks.append(max(rest, key=lambda node: kernel[:, [*picks, node]].max(axis=1).mean()))
    assert chosen("herding", context, 4, unit=False, quantile=0.2) == picks[len(labelled) :]


def test_influence_by_hand(make_context: MakeContext) -> None:
    """A path of four: S has 1/2, 1/√6, 1/3; (S²)_02 = 1/√6 · 1/3 = 0.136, (S²)_00 = 1/4 + 1/6."""
    graph = make_context(4, [(0, 1), (1, 2), (2, 3)]).graph
    assert influence(graph, 2, 0.0).toarray().tolist() == [[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1], [0, 1, 1, 1]]
    assert influence(graph, 2, 0.14).toarray()[0].tolist() == [1, 1, 0, 0]
    assert influence(graph, 2, 1.0).toarray().tolist() == np.eye(4).tolist()
    assert influence(graph, 0, 1.0).toarray().tolist() == np.eye(4).tolist()


def grain_gain(graph: Graph, picks: list[int], layers: int = 2) -> float:
    """Return NN-D's objective, implemented directly from the paper."""
    rows = propagate(graph, layers)
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    reached = np.flatnonzero(influence(graph, layers, 0.0)[picks].sum(axis=0))
    return len(reached) / len(rows) + float((1 - distances[:, reached].min(axis=1) / distances.max()).mean())


def test_grain_nn_is_greedy_on_its_objective() -> None:
    graph = random_graph(14, 3, density=0.08, weighted=True, seed=2)
    picks: list[int] = [5]
    for _ in range(3):
        rest = [node for node in range(14) if node not in picks]
        picks.append(max(rest, key=lambda node: grain_gain(graph, [*picks, node])))
    context = QueryContext(graph, np.array([5]), np.setdiff1d(np.arange(14), [5]))
    assert chosen("grain-nn", context, 3) == picks[1:]


def test_grain_ball_starts_over_when_all_is_covered(make_context: MakeContext) -> None:
    """Three groups of isolated nodes: a node from each, the largest group first, then the round begins again."""
    features = [[0.0], [0.01], [0.02], [5.0], [5.01], [9.0], [9.01], [9.02], [9.03]]
    context = make_context(9, features=features)
    picks = chosen("grain-ball", context, 6, quantile=0.27)
    groups = [[0, 0, 0, 1, 1, 2, 2, 2, 2][node] for node in picks]
    assert groups == [2, 0, 1, 2, 0, 1]
    assert chosen("grain-ball", make_context(9, features=features, labelled=[6]), 1, quantile=0.27)[0] < 3


TWO_CLIQUES = [*combinations(range(8), 2), *combinations(range(8, 12), 2), (0, 8)]


@pytest.mark.parametrize("name", ["graphpart", "graphpart-far"])
def test_graphpart_gives_every_part_its_share(make_context: MakeContext, name: str) -> None:
    features = np.random.default_rng(0).normal(size=(12, 2))
    context = make_context(12, TWO_CLIQUES, features)
    for budget, expected in [(2, [1, 1]), (5, [3, 2]), (10, [6, 4])]:
        picks = np.array(chosen(name, context, budget, parts=2))
        assert [np.count_nonzero(picks < 8), np.count_nonzero(picks >= 8)] == expected
    picks = np.array(chosen(name, make_context(12, TWO_CLIQUES, features, labelled=[0, 1]), 3, parts=2))
    assert np.count_nonzero(picks >= 8) >= 2


def test_graphpart_selects_the_node_nearest_the_centre(make_context: MakeContext) -> None:
    features = [[0.0], [1], [2], [3], [9], [20], [21], [22]]
    context = make_context(8, features=features)
    assert set(chosen("graphpart", context, 1, parts=1, layers=0)) == {4}


def test_graphpart_far_avoids_selected_nodes(make_context: MakeContext) -> None:
    """The labelled node 3 is a centre; the other centre is the mean of 0, 1 and 2, which is nearest to 1."""
    features = [[0.0], [1.0], [2.1], [6.0]]
    context = make_context(4, features=features, labelled=[3])
    assert chosen("graphpart", context, 1, parts=1, layers=0) == [1]
    assert chosen("graphpart-far", context, 1, parts=1, layers=0) == [0]
