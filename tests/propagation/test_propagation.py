"""S, S^K X and feature sets: paths solved by hand, PyG, the formulas with dense matrices, and invariants."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import SGConv

from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.propagation import (
    FEATURE_SETS,
    FeatureSpace,
    Propagation,
    normalised_adjacency,
    propagate,
)
from featprop.propagation.feature_sets import feature_homophily
from featprop.propagation.propagation import COMPARED_COLUMNS, FLAT_COLUMNS
from tests.graphs import edgeless, random_graph
from tests.helpers import raises

ByHand = Callable[..., np.ndarray]


def test_a_path_of_three_nodes_by_hand() -> None:
    graph = Graph.from_scipy(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), np.array([[1.0], [0.0], [0.0]]))
    S = np.array([[1 / 2, 1 / 6**0.5, 0], [1 / 6**0.5, 1 / 3, 1 / 6**0.5], [0, 1 / 6**0.5, 1 / 2]])
    np.testing.assert_allclose(normalised_adjacency(graph).toarray(), S, rtol=1e-6)
    np.testing.assert_allclose(dense(propagate(graph, 1)), S[:, :1], rtol=1e-6)
    np.testing.assert_allclose(dense(propagate(graph, 2)), (S @ S)[:, :1], rtol=1e-6)


@pytest.mark.parametrize(("filled", "sparse"), [(9, True), (10, False), (15, False)])
def test_rows_become_dense_when_half_filled(filled: int, sparse: bool) -> None:
    """Isolated nodes keep their rows, of which `filled` of twenty columns are non-zero."""
    features = np.tile(np.arange(20) < filled, (5, 1)).astype(np.float32)
    graph = Graph(sp.csr_array((5, 5), dtype=np.float32), sp.csr_array(features), np.arange(5))
    assert sp.issparse(propagate(graph, 1)) == sparse
    np.testing.assert_array_equal(dense(propagate(graph, 1)), features)


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
def test_sparse_equals_dense_in_float32(seed: int, layers: int) -> None:
    graph = random_graph(20, 30, seed=seed, filled=0.1)
    assert sp.issparse(graph.features)
    full = Graph(graph.adjacency, dense(graph.features), graph.ids)
    propagated = propagate(graph, layers)
    assert propagated.dtype == propagate(full, layers).dtype == np.float32
    np.testing.assert_allclose(dense(propagated), dense(propagate(full, layers)), atol=1e-6)


@pytest.mark.parametrize("layers", [-1, 1.5, "2", None])
def test_invalid_layers_are_refused(layers: Any) -> None:
    with raises(ParameterError, parameter="layers", value=layers):
        propagate(random_graph(5, 2, seed=0), layers)


@given(seed=st.integers(0, 1000), sparse=st.booleans(), name=st.sampled_from(FEATURE_SETS))
@settings(max_examples=40, deadline=None)
def test_feature_sets_follow_their_formulas(features_by_hand: ByHand, seed: int, sparse: bool, name: str) -> None:
    generator = np.random.default_rng(seed)
    features = (
        sp.random_array((20, 30), density=0.1, rng=generator, format="csr")
        if sparse
        else generator.normal(size=(20, 3))
    )
    graph = Graph.from_scipy(sp.random_array((20, 20), density=0.1, rng=generator), features)
    ours = Propagation.of(graph).features(name)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, features_by_hand(graph, name), atol=2e-4)


def test_two_nodes_by_hand() -> None:
    """Centred, the two are opposite; smoothed, they are equal, so nothing is left after centring."""
    graph = Graph.from_scipy(np.array([[0, 1], [1, 0]]), np.array([[3.0, 1.0], [1.0, 1.0]]))
    ours = Propagation.of(graph)
    np.testing.assert_allclose(ours.features("own"), [[1, 0, 0], [-1, 0, 0]], atol=1e-6)
    assert not ours.features("two-hops").any()


def test_unknown_feature_set_is_refused(line: Graph) -> None:
    with raises(ParameterError, parameter="features", choices=("diffused", "own", "structure", "two-hops")):
        Propagation.of(line).features("three-hops")


def test_space_of_another_graph_does_not_change_ours(line: Graph) -> None:
    other = replace(line, features=line.features + np.float32(3))
    ours, theirs = Propagation.of(line), Propagation.of(other)
    moved = theirs.features("own", ours.space)
    np.testing.assert_allclose(theirs.features("own"), ours.features("own"), atol=1e-6)
    assert np.abs(moved - theirs.features("own")).max() > 0.1
    copy = FeatureSpace(ours.reduction, {name: centre.copy() for name, centre in ours.space.centres.items()})
    assert np.shares_memory(ours.features("own", copy), ours.features("own"))


@pytest.mark.parametrize("columns", [3, 60, 700], ids=["few columns", "more", "wide"])
def test_compared_distances_are_one_minus_the_mean_cosine(features_by_hand: ByHand, columns: int) -> None:
    graph = random_graph(40, columns, seed=1)
    ours = Propagation.of(graph)
    points = ours.compared
    assert points is ours.compared
    shares = ours.compared_shares
    assert sum(shares.values()) == pytest.approx(1)
    rows = {name: features_by_hand(graph, name) for name in shares}
    expected = 1 - sum(share * rows[name] @ rows[name].T for name, share in shares.items())
    np.testing.assert_allclose(points.distances(slice(None)), expected, atol=1e-4)


def test_many_columns_are_reduced() -> None:
    """Next to an exact singular value decomposition, on features with a few strong directions."""
    generator = np.random.default_rng(2)
    strong = generator.normal(size=(300, 20)) * np.linspace(3, 1, 20) @ generator.normal(size=(20, 200))
    graph = replace(random_graph(300, 200, seed=2), features=strong + 0.1 * generator.normal(size=(300, 200)))
    ours = Propagation.of(graph)
    assert ours.compared.width == COMPARED_COLUMNS
    rows = np.hstack([np.sqrt(share) * ours.features(name) for name, share in ours.compared_shares.items()])
    left, values, _ = np.linalg.svd(rows.astype(float), full_matrices=False)
    kept = left[:, :COMPARED_COLUMNS] * values[:COMPARED_COLUMNS]
    kept /= np.linalg.norm(kept, axis=1, keepdims=True)
    np.testing.assert_allclose(ours.compared.distances(np.arange(50)), 1 - kept[:50] @ kept.T, atol=0.02)


def test_flat_features_keep_more_columns() -> None:
    generator = np.random.default_rng(0)
    graph = edgeless(generator.normal(size=(900, 700)))
    assert Propagation.of(graph).compared.width == FLAT_COLUMNS


def test_structure_depends_on_ids_and_edges_only() -> None:
    """Next to dense matrices: signs of a digest of each id, diffused, centred, of unit length."""
    graph = random_graph(30, 3, seed=4)
    rows = Propagation.of(graph).features("structure")
    digests = [hashlib.blake2b(repr(node).encode(), digest_size=32).digest() for node in graph.ids.tolist()]
    signs = 2.0 * np.unpackbits(np.array([list(each) for each in digests], dtype=np.uint8), axis=1) - 1
    S = normalised_adjacency(graph).toarray().astype(float)
    expected = sum(0.9**step * np.linalg.matrix_power(S, step) @ signs for step in range(21))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    expected -= expected.mean(axis=0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected, atol=1e-5)
    other = Propagation.of(replace(graph, features=graph.features * 2 + 1))
    np.testing.assert_array_equal(other.features("structure"), rows)


def test_feature_homophily_detects_similar_neighbours() -> None:
    """Ten groups of features; edges within groups, between groups, or at random."""
    generator = np.random.default_rng(0)
    kinds = np.arange(200) % 10
    features = 2 * np.eye(10)[kinds] + 0.3 * generator.normal(size=(200, 10))
    joined = np.triu(generator.random((200, 200)), 1)
    same = kinds[:, None] == kinds
    within, anyhow, between = (
        Propagation.of(Graph.from_scipy((joined > limit).astype(float), features))
        for limit in (np.where(same, 0.7, 1), np.full((200, 200), 0.95), np.where(same, 1, 0.95))
    )
    found = [feature_homophily(each.graph, each.features("own")) for each in (within, anyhow, between)]
    assert found[0] > 1 > 0.1 > abs(found[1])
    assert found[2] < 0
    assert "own" not in within.compared_shares
    assert between.compared_shares["own"] == pytest.approx(3 / 8)
    alone = edgeless(features)
    assert feature_homophily(alone, Propagation.of(alone).features("own")) == 0


@given(seed=st.integers(0, 1000), layers=st.integers(0, 3), sparse=st.booleans())
@settings(max_examples=25, deadline=None)
def test_rows_at_equal_rows_of_all(seed: int, layers: int, sparse: bool) -> None:
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(40, 4)) * (generator.random((40, 4)) < (0.2 if sparse else 1))
    graph = Graph.from_scipy(sp.random_array((40, 40), density=0.03, rng=generator), features)
    nodes = generator.permutation(40)[:5]
    some = dense(Propagation.of(graph).rows_at(layers, nodes))
    np.testing.assert_array_equal(some, dense(propagate(graph, layers))[nodes])


@given(seed=st.integers(0, 1000), filled=st.sampled_from([0.1, 0.4, 1.0]), weighted=st.booleans())
@settings(max_examples=25, deadline=None)
def test_result_does_not_depend_on_earlier_calls(seed: int, filled: float, weighted: bool) -> None:
    """To the last bit: an experiment that is resumed asks for other powers first than one that runs through."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(60, 9)) * (generator.random((60, 9)) < filled)
    edges = sp.random_array((60, 60), density=0.1, rng=generator)
    if not weighted:
        edges.data[:] = 1.0
    straight = dense(Propagation.of(Graph.from_scipy(edges, features)).rows(3))
    slowly = Propagation.of(Graph.from_scipy(edges, features))
    np.testing.assert_array_equal([dense(slowly.rows(layers)) for layers in range(4)][-1], straight)


def test_one_propagation_per_graph(line: Graph) -> None:
    ours = Propagation.of(line)
    assert Propagation.of(line.without_labels()) is ours
    assert ours.rows(2) is ours.rows(2) is propagate(line, 2)
    assert ours.points(2) is ours.points(2)
    assert ours.points(2, unit=True) is not ours.points(2)
    for name in FEATURE_SETS:
        assert np.shares_memory(ours.features(name), Propagation.of(line.without_labels()).features(name))
    assert ours.reduction is ours.reduction
    assert ours.adjacency.data.base is ours.adjacency.data.base
    ours.adjacency.data = np.zeros(1)
    assert ours.adjacency.data.size > 1, "what is handed out cannot be put in the place of what others see"
    assert ours.graph.labels is None, "no label can be reached through it"
    assert Propagation.of(replace(line)) is not ours


@pytest.mark.parametrize("sparse", [False, True])
def test_arrays_are_read_only(line: Graph, sparse: bool) -> None:
    features = sp.csr_array(np.eye(5, 40)) if sparse else line.features
    graph = Graph.from_scipy(line.adjacency, features)
    ours = Propagation.of(graph)
    kept = [
        graph.adjacency,
        graph.features,
        ours.adjacency,
        ours.rows(0),
        ours.rows(1),
        *map(ours.features, FEATURE_SETS),
        ours.compared.rows,
        ours.points(1).rows,
        ours.points(1, True).rows,
    ]
    for matrix in kept:
        for array in (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
