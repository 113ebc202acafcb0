"""S and S^K X: a path solved by hand, PyG, and invariants."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import SGConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.propagation import Propagation, normalised_adjacency, propagate, propagation


def random_graph(n: int, n_features: int, seed: int, *, sparse: bool = False, weighted: bool = False) -> Graph:
    generator = np.random.default_rng(seed)
    adjacency = sp.random_array((n, n), density=0.2, rng=generator, format="csr")
    if not weighted:
        adjacency.data[:] = 1.0
    features = generator.normal(size=(n, n_features))
    if sparse:
        features[generator.random(features.shape) < 0.9] = 0.0
    return Graph.from_scipy(adjacency, features)


def test_a_path_of_three_nodes_by_hand() -> None:
    graph = Graph.from_scipy(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.array([[1.0], [0.0], [0.0]]))
    S = np.array([[1 / 2, 1 / 6**0.5, 0], [1 / 6**0.5, 1 / 3, 1 / 6**0.5], [0, 1 / 6**0.5, 1 / 2]])
    np.testing.assert_allclose(normalised_adjacency(graph).toarray(), S, rtol=1e-6)
    np.testing.assert_allclose(dense(propagate(graph, 1)), S[:, :1], rtol=1e-6)
    np.testing.assert_allclose(dense(propagate(graph, 2)), (S @ S)[:, :1], rtol=1e-6)


def test_weights_enter_the_degrees() -> None:
    graph = Graph.from_scipy(np.array([[0, 3.0], [3.0, 0]]), np.eye(2))
    np.testing.assert_allclose(normalised_adjacency(graph).toarray(), [[1 / 4, 3 / 4], [3 / 4, 1 / 4]])


def test_isolated_nodes_keep_their_features() -> None:
    graph = Graph.from_scipy(sp.csr_array((3, 3)), np.array([[1.0], [2.0], [0.0]]))
    np.testing.assert_array_equal(dense(propagate(graph, 5)), [[1.0], [2.0], [0.0]])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_equals_gcn_norm_of_pyg(seed: int, weighted: bool) -> None:
    graph = random_graph(40, 3, seed, weighted=weighted)
    data = graph.to_pyg()
    edge_index, edge_weight = gcn_norm(data.edge_index, data.edge_weight, graph.n_nodes)
    theirs = sp.coo_array((edge_weight.numpy(), tuple(edge_index.numpy())), shape=graph.adjacency.shape)
    np.testing.assert_allclose(normalised_adjacency(graph).toarray(), theirs.toarray(), atol=1e-6)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_equals_sgconv_of_pyg(layers: int) -> None:
    graph = random_graph(60, 8, seed=layers)
    data = graph.to_pyg()
    convolution = SGConv(8, 8, K=layers, bias=False)
    with torch.no_grad():
        convolution.lin.weight.copy_(torch.eye(8))
        theirs = convolution(data.x, data.edge_index).numpy()
    np.testing.assert_allclose(dense(propagate(graph, layers)), theirs, atol=1e-6)


@given(seed=st.integers(0, 10_000), layers=st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_sparse_equals_dense_and_float32_stays(seed: int, layers: int) -> None:
    graph = random_graph(20, 30, seed, sparse=True)
    assert sp.issparse(graph.features)
    full = Graph(graph.adjacency, dense(graph.features), graph.ids)
    propagated = propagate(graph, layers)
    assert propagated.dtype == propagate(full, layers).dtype == np.float32
    np.testing.assert_allclose(dense(propagated), dense(propagate(full, layers)), atol=1e-6)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_permuting_the_nodes_permutes_the_rows(seed: int) -> None:
    graph = random_graph(20, 3, seed)
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    permuted = Graph.from_scipy(graph.adjacency[order][:, order], graph.features[order])
    np.testing.assert_allclose(propagate(permuted), propagate(graph)[order], atol=1e-6)


def test_negative_layers() -> None:
    with pytest.raises(ParameterError, match="layers must be at least 0; found -1"):
        propagate(random_graph(5, 2, 0), -1)


def dense_diffusion(graph: Graph, alpha: float, steps: int) -> np.ndarray:
    """The sum as it is written, with dense matrices in double precision."""
    S = normalised_adjacency(graph).toarray().astype(float)
    features = dense(graph.features).astype(float)
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    rows = np.divide(features, lengths, out=np.zeros_like(features), where=lengths > 0)
    total = sum(alpha * (1 - alpha) ** step * np.linalg.matrix_power(S, step) @ rows for step in range(steps + 1))
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, lengths, out=np.zeros_like(total), where=lengths > 0)


@given(seed=st.integers(0, 1000), sparse=st.booleans(), alpha=st.sampled_from([0.05, 0.1, 0.5, 1.0]))
@settings(max_examples=25, deadline=None)
def test_diffusion_is_the_sum_of_all_powers(seed: int, sparse: bool, alpha: float) -> None:
    generator = np.random.default_rng(seed)
    features = (
        sp.random_array((20, 30), density=0.1, rng=generator, format="csr")
        if sparse
        else generator.normal(size=(20, 3))
    )
    graph = Graph.from_scipy(sp.random_array((20, 20), density=0.1, rng=generator), features)
    ours = dense(Propagation.of(graph).diffused(alpha, 6))
    np.testing.assert_allclose(ours, dense_diffusion(graph, alpha, 6), atol=1e-5)


@given(seed=st.integers(0, 1000), layers=st.integers(0, 3), sparse=st.booleans())
@settings(max_examples=25, deadline=None)
def test_some_rows_are_those_of_all(seed: int, layers: int, sparse: bool) -> None:
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(40, 4)) * (generator.random((40, 4)) < (0.2 if sparse else 1))
    graph = Graph.from_scipy(sp.random_array((40, 40), density=0.03, rng=generator), features)
    nodes = generator.permutation(40)[:5]
    some = dense(Propagation.of(graph).rows_at(layers, nodes))
    np.testing.assert_array_equal(some, dense(propagate(graph, layers))[nodes])


def test_one_object_a_graph_whoever_asks(line: Graph) -> None:
    ours = Propagation.of(line)
    assert Propagation.of(line.without_labels()) is ours
    assert ours.rows(2) is ours.rows(2) is propagate(line, 2)
    assert ours.points(2) is ours.points(2)
    assert ours.points(2, unit=True) is not ours.points(2)
    assert ours.diffused() is ours.diffused()
    assert ours.adjacency.data.base is ours.adjacency.data.base
    ours.adjacency.data = np.zeros(1)
    assert ours.adjacency.data.size > 1, "what is handed out cannot be put in the place of what others see"
    assert ours.graph.labels is None, "no label can be reached through it"
    assert Propagation.of(replace(line)) is not ours


@pytest.mark.parametrize("sparse", [False, True])
def test_the_arrays_refuse_writes(line: Graph, sparse: bool) -> None:
    features = sp.csr_array(np.eye(5, 40)) if sparse else line.features
    graph = Graph.from_scipy(line.adjacency, features)
    ours = Propagation.of(graph)
    kept = [
        graph.adjacency,
        graph.features,
        ours.adjacency,
        ours.rows(0),
        ours.rows(1),
        ours.diffused(),
        ours.points(1).rows,
        ours.points(1, True).rows,
    ]
    for matrix in kept:
        for array in (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7


@pytest.mark.parametrize("alpha", [0.0, -0.1, 1.5])
def test_diffusion_needs_a_share_that_stays(line: Graph, alpha: float) -> None:
    with pytest.raises(ParameterError, match="alpha must be above 0 and at most 1"):
        Propagation.of(line).diffused(alpha)


def test_only_what_was_asked_for_is_kept(line: Graph) -> None:
    graph = replace(line)
    propagate(graph, 5)
    assert {key for key in graph._computed if isinstance(key, tuple)} == {("rows", 5)}
    np.testing.assert_array_equal(dense(propagate(graph, 3)), dense(propagate(replace(line), 3)))


def test_threads_wait_for_one_to_compute(monkeypatch: pytest.MonkeyPatch, line: Graph) -> None:
    made: list[int] = []
    original = propagation.normalised_adjacency

    def slow(graph: Graph) -> sp.csr_array:
        made.append(1)
        time.sleep(0.05)
        return original(graph)

    monkeypatch.setattr(propagation, "normalised_adjacency", slow)
    graph = replace(line)
    threads = [threading.Thread(target=lambda: propagate(graph, 2)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
