"""Message passing against dense matrices in double precision, for any degrees, weights, chunks and columns."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.compute import Backend, use_backend
from featprop.compute.message_passing import Edges, propagate_rows, smooth_rows
from featprop.graph import Graph
from featprop.propagation import Propagation, normalised_adjacency

ByHand = Callable[..., np.ndarray]
NAMES = ("two-hops", "diffused")


class FewColumns(Backend):
    """Memory with room for two columns at once."""

    def max_columns(self, n: int, width: int) -> int:
        return 2


EACH_BACKEND = pytest.mark.parametrize(
    "backend", [Backend(1), Backend(2), FewColumns(1)], ids=["memory", "two chunks", "two columns"]
)


def graph_of(weighted: bool, seed: int = 0, n: int = 60) -> Graph:
    """Make a graph with degrees from 0 to almost n, so that sums have any number of terms."""
    generator = np.random.default_rng(seed)
    joined = generator.random((n, n)) < np.linspace(0, 1, n)[:, None] * np.linspace(0, 1, n)[None]
    weights = generator.uniform(0.2, 3, size=(n, n)) if weighted else np.ones((n, n))
    return Graph.from_scipy(sp.csr_array(np.triu(joined * weights, 1)), generator.normal(size=(n, 5)))


@pytest.fixture(params=[None, 7, 16], ids=["one chunk", "chunks of 7", "chunks of 16"])
def chunk_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr("featprop.compute.backend.CHUNK_ROWS", request.param)


@EACH_BACKEND
@pytest.mark.usefixtures("chunk_rows")
@pytest.mark.parametrize("weighted", [False, True])
def test_propagated_rows_equal_matrix_powers(weighted: bool, backend: Backend) -> None:
    graph = graph_of(weighted)
    adjacency = graph.adjacency.toarray().astype(float)
    scale = 1 / np.sqrt(1 + adjacency.sum(axis=1))
    S = scale[:, None] * (adjacency + np.eye(60)) * scale
    np.testing.assert_allclose(normalised_adjacency(graph).toarray(), S, atol=1e-6)
    with use_backend(backend):
        edges = Edges.of(graph.adjacency)
        np.testing.assert_allclose(edges.scale, scale, rtol=1e-6)
        assert len(edges.weights) == (graph.adjacency.nnz if weighted else 0), "weights of 1 are not read"
        rows = np.asarray(graph.features)
        for hops in (1, 2, 3):
            expected = np.linalg.matrix_power(S, hops) @ rows
            np.testing.assert_allclose(propagate_rows(edges, rows, hops), expected, atol=1e-5)


@EACH_BACKEND
@pytest.mark.usefixtures("chunk_rows")
@pytest.mark.parametrize("weighted", [False, True])
def test_smoothed_rows_follow_the_formulas(centred_by_hand: ByHand, weighted: bool, backend: Backend) -> None:
    graph = graph_of(weighted)
    own = Propagation.of(graph).reduction.transform(graph.features)
    before = own.copy()
    S = normalised_adjacency(graph).toarray().astype(float)
    powers = [np.linalg.matrix_power(S, step) @ centred_by_hand(graph.features) for step in range(21)]
    expected = {"two-hops": powers[2], "diffused": sum(0.1 * 0.9**step * power for step, power in enumerate(powers))}
    with use_backend(backend):
        edges = Edges.of(graph.adjacency)
        together = smooth_rows(edges, own, NAMES)
        assert together.keys() == set(NAMES)
        for name in NAMES:
            unit = expected[name] / np.linalg.norm(expected[name], axis=1, keepdims=True)
            np.testing.assert_allclose(together[name], unit, atol=1e-5)
            (alone,) = smooth_rows(edges, own, (name,)).values()
            np.testing.assert_array_equal(alone, together[name])
    np.testing.assert_array_equal(own, before)


def test_only_rows_that_cancel_become_zero() -> None:
    """Node 2 has two opposite neighbours; node 3 is isolated with a very short row."""
    adjacency = np.zeros((4, 4))
    adjacency[2, [0, 1]] = adjacency[[0, 1], 2] = 1
    graph = Graph.from_scipy(adjacency, np.eye(4, 2))
    own = np.array([[1, 0], [-1, 0], [0, 0], [1e-5, 0]], dtype=np.float32)
    for backend in (Backend(), FewColumns()):
        with use_backend(backend):
            found = smooth_rows(Edges.of(graph.adjacency), own, ("two-hops",))["two-hops"]
            np.testing.assert_allclose(found, [[1, 0], [-1, 0], [0, 0], [1, 0]], rtol=1e-6)
            own[3, 0] = 1e-7
            assert not smooth_rows(Edges.of(graph.adjacency), own, ("two-hops",))["two-hops"][3].any()
            own[3, 0] = 1e-5
