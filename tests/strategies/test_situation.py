"""What a situation computes, it computes once."""

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.graph import Graph
from featprop.matrix import dense, unit_rows
from featprop.propagation import propagate
from featprop.strategies import Situation
from featprop.strategies.propagated import Propagated


@pytest.fixture
def graph() -> Graph:
    generator = np.random.default_rng(0)
    adjacency = sp.random_array((12, 12), density=0.2, rng=generator, format="csr")
    return Graph.from_scipy(adjacency, generator.normal(size=(12, 4)))


def situation_of(graph: Graph, shared: Propagated | None = None) -> Situation:
    return Situation(graph, np.array([0]), np.arange(1, graph.n_nodes), _propagated=shared)


def test_rows_and_points_are_those_of_the_graph(graph: Graph) -> None:
    situation = situation_of(graph)
    rows = dense(propagate(graph, 2))
    np.testing.assert_allclose(dense(situation.propagated(2)), rows)
    unit = situation.points(2, unit=True)
    expected = np.linalg.norm(dense(unit_rows(rows))[:, None] - dense(unit_rows(rows))[None, :], axis=2)
    np.testing.assert_allclose(unit.distances(np.arange(graph.n_nodes)), expected, atol=1e-5)


def test_situations_may_share_what_is_computed(graph: Graph) -> None:
    shared = Propagated(graph, {1: graph.features})
    first, second = situation_of(graph, shared), situation_of(graph, shared)
    assert first.points(2) is second.points(2)
    assert first.points(2) is not first.points(2, unit=True)
    assert first.propagated(1) is graph.features
    assert situation_of(graph).points(2) is not first.points(2)
