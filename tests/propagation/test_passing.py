"""Rows passed on against dense matrices in double precision, for any degrees, weights, blocks and columns at once."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.compute import InMemory, working_at
from featprop.graph import Graph
from featprop.propagation import Propagation, normalised_adjacency
from featprop.propagation.passing import Edges, passed_on, smoothed_rows

ByHand = Callable[..., np.ndarray]
WAYS = ("two-hops", "diffused")


class FewColumns(InMemory):
    """Memory with room for two columns at once, and blocks of some leaves."""

    def columns_at_once(self, n: int, width: int) -> int:
        return 2


def graph_of(weighted: bool, seed: int = 0, n: int = 60) -> Graph:
    """Degrees from 0 to nearly all, so that sums over neighbours have any number of terms."""
    generator = np.random.default_rng(seed)
    joined = generator.random((n, n)) < np.linspace(0, 1, n)[:, None] * np.linspace(0, 1, n)[None]
    weights = generator.uniform(0.2, 3, size=(n, n)) if weighted else np.ones((n, n))
    return Graph.from_scipy(sp.csr_array(np.triu(joined * weights, 1)), generator.normal(size=(n, 5)))


@pytest.fixture(params=[None, 7, 16], ids=["one leaf", "leaves of 7", "leaves of 16"])
def leaf(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        for module in ("leaf", "places"):
            monkeypatch.setattr(f"featprop.compute.{module}.LEAF", request.param)


@pytest.mark.usefixtures("leaf")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at", [InMemory(1), InMemory(2), FewColumns(1)], ids=["memory", "two leaves", "two columns"])
def test_passed_on_is_the_power_of_the_matrix(weighted: bool, at: InMemory) -> None:
    graph = graph_of(weighted)
    adjacency = graph.adjacency.toarray().astype(float)
    scale = 1 / np.sqrt(1 + adjacency.sum(axis=1))
    S = scale[:, None] * (adjacency + np.eye(60)) * scale
    np.testing.assert_allclose(normalised_adjacency(graph).toarray(), S, atol=1e-6)
    with working_at(at):
        edges = Edges.of(graph)
        np.testing.assert_allclose(edges.scale, scale, rtol=1e-6)
        assert len(edges.weights) == (graph.adjacency.nnz if weighted else 0), "weights of 1 are not read"
        rows = np.asarray(graph.features)
        for hops in (1, 2, 3):
            expected = np.linalg.matrix_power(S, hops) @ rows
            np.testing.assert_allclose(passed_on(edges, rows, hops), expected, atol=1e-5)


@pytest.mark.usefixtures("leaf")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at", [InMemory(1), InMemory(2), FewColumns(1)], ids=["memory", "two leaves", "two columns"])
def test_smoothed_rows_are_what_the_formulas_say(centred_by_hand: ByHand, weighted: bool, at: InMemory) -> None:
    graph = graph_of(weighted)
    own = Propagation.of(graph).reduction.apply(graph.features)
    before = own.copy()
    S = normalised_adjacency(graph).toarray().astype(float)
    powers = [np.linalg.matrix_power(S, step) @ centred_by_hand(graph.features) for step in range(21)]
    expected = {"two-hops": powers[2], "diffused": sum(0.1 * 0.9**step * power for step, power in enumerate(powers))}
    with working_at(at):
        edges = Edges.of(graph)
        together = smoothed_rows(edges, own, WAYS)
        assert together.keys() == set(WAYS)
        for way in WAYS:
            unit = expected[way] / np.linalg.norm(expected[way], axis=1, keepdims=True)
            np.testing.assert_allclose(together[way], unit, atol=1e-5)
            (alone,) = smoothed_rows(edges, own, (way,)).values()
            np.testing.assert_array_equal(alone, together[way])
    np.testing.assert_array_equal(own, before)


@given(seed=st.integers(0, 10_000), weighted=st.booleans())
@settings(max_examples=20)
def test_any_graph_is_passed_on_alike(seed: int, weighted: bool) -> None:
    graph = graph_of(weighted, seed, n=25)
    S = normalised_adjacency(graph).toarray().astype(float)
    rows = np.asarray(graph.features)
    np.testing.assert_allclose(passed_on(Edges.of(graph), rows, 2), S @ S @ rows, atol=1e-5)


def test_rows_that_cancel_are_zero_and_others_of_any_length_are_not() -> None:
    """Node 2 is joined to two opposite nodes; node 3 is alone with a very short row, which counts as any other."""
    adjacency = np.zeros((4, 4))
    adjacency[2, [0, 1]] = adjacency[[0, 1], 2] = 1
    graph = Graph.from_scipy(adjacency, np.eye(4, 2))
    own = np.array([[1, 0], [-1, 0], [0, 0], [1e-5, 0]], dtype=np.float32)
    for at in (InMemory(), FewColumns()):
        with working_at(at):
            found = smoothed_rows(Edges.of(graph), own, ("two-hops",))["two-hops"]
            np.testing.assert_allclose(found, [[1, 0], [-1, 0], [0, 0], [1, 0]], rtol=1e-6)
            own[3, 0] = 1e-7
            assert not smoothed_rows(Edges.of(graph), own, ("two-hops",))["two-hops"][3].any()
            own[3, 0] = 1e-5
