"""S and S^K X: a path solved by hand, PyG, and invariants."""

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
from featprop.propagation import normalised_adjacency, propagate


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
