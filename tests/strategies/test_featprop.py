"""FeatProp on graphs small enough to solve by hand or by trying every choice."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.graph import Graph
from featprop.propagation import coverage
from featprop.strategies import QueryContext
from featprop.strategies.featprop import FeatProp


def test_two_stars_give_their_centres() -> None:
    """Leaves of a star with equal features are nearest to one another through the centre."""
    ends = [(0, leaf) for leaf in range(1, 6)] + [(6, leaf) for leaf in range(7, 12)]
    adjacency = np.zeros((12, 12))
    for a, b in ends:
        adjacency[a, b] = 1
    features = np.repeat([[1.0, 0.0], [0.0, 1.0]], 6, axis=0)
    graph = Graph.from_scipy(adjacency, features)
    picks = FeatProp().select(QueryContext(graph, np.array([], np.intp), np.arange(12)), 2, np.random.default_rng(0))
    assert {int(pick) // 6 for pick in picks} == {0, 1}


@pytest.mark.parametrize("seed", range(6))
def test_close_to_the_optimum_on_tiny_graphs(seed: int) -> None:
    generator = np.random.default_rng(seed)
    graph = Graph.from_scipy(sp.random_array((9, 9), density=0.3, rng=generator), generator.normal(size=(9, 2)))
    context = QueryContext(graph, np.array([], np.intp), np.arange(9))
    picks = FeatProp().select(context, 3, generator)
    best = min(coverage(graph, np.array(choice)).mean_distance for choice in combinations(range(9), 3))
    assert coverage(graph, picks).mean_distance <= 1.15 * best


def test_labelled_nodes_count_as_medoids() -> None:
    features = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    graph = Graph.from_scipy(sp.csr_array((6, 6)), features)
    context = QueryContext(graph, np.array([0, 4]), np.array([1, 2, 3, 5]))
    picks = FeatProp().select(context, 1, np.random.default_rng(0))
    assert picks[0] in (2, 3)
