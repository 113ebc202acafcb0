"""Distances through the operator equal those between the computed rows of S^K X."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

import featprop as fp
from featprop.clustering import Points, k_medoids
from featprop.compute import kernels
from featprop.compute.propagated_points import PropagatedPoints
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.propagation import Propagation, measure_coverage, propagation

N, D = 60, 90


def words(seed: int, n: int = N, d: int = D, groups: int = 4, order: np.ndarray | None = None) -> Graph:
    """Make a graph of groups that share words; the last nodes are isolated, two of them equal and one without words."""
    generator = np.random.default_rng(seed)
    group = np.arange(n) % groups
    near = generator.random((n, n)) < np.where(group[:, None] == group, 12 / n, 1 / n)
    near[-4:] = near[:, -4:] = False
    odds = np.where(np.arange(d) % groups == group[:, None], 0.12, 0.02)
    features = (generator.random((n, d)) < odds).astype(np.float32) * generator.integers(1, 4, size=(n, d))
    features[-2], features[-1] = features[-3], 0
    order = np.arange(n) if order is None else order
    near = (near | near.T)[np.ix_(order, order)]
    return Graph.from_scipy(sp.csr_array(np.triu(near, 1)), sp.csr_array(features[order]))


def points_of(graph: Graph, layers: int = 2, unit: bool = False) -> PropagatedPoints:
    whole = Propagation.of(graph)
    features = whole.rows(0)
    assert sp.issparse(features)
    return PropagatedPoints(whole.adjacency, features, layers, unit, lambda: whole.rows(layers))


def rows_of(graph: Graph, layers: int = 2, unit: bool = False) -> np.ndarray:
    rows = dense(graph.features).astype(np.float64)
    for _ in range(layers):
        rows = Propagation.of(graph).adjacency.astype(np.float64) @ rows
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0) if unit else rows


def test_work_per_distance_by_hand() -> None:
    """A path of three nodes has seven entries in S; three features, two hops: (3 + 2 · 7) / 3 products a node."""
    graph = Graph.from_scipy(sp.csr_array(np.diag([1.0, 1.0], 1)), sp.csr_array(np.eye(3, 60, dtype=np.float32)))
    assert points_of(graph).work_per_distance == pytest.approx(17 / 3)
    assert Points(np.ones((3, 60))).work_per_distance == 60


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("unit", [False, True])
@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_distances_equal_scikit_learn(layers: int, unit: bool, seed: int) -> None:
    graph = words(seed)
    points, rows = points_of(graph, layers, unit), rows_of(graph, layers, unit)
    expected = pairwise_distances(rows)
    some = np.random.default_rng(seed).choice(N, size=9, replace=False)
    assert (len(points), points.width) == (N, D)
    np.testing.assert_allclose(points.distances(np.arange(N)), expected, atol=2e-5)
    np.testing.assert_allclose(points.distances(some, to=points.take(some)), expected[np.ix_(some, some)], atol=2e-3)
    np.testing.assert_allclose(points.distance_matrix(some), expected[some], atol=2e-5)
    np.testing.assert_allclose(points.take(some).rows, rows[some], atol=1e-6)
    np.testing.assert_allclose(points.squared_norms, (rows**2).sum(axis=1), rtol=1e-5)
    index, nearest = points.nearest(points.take(some))
    np.testing.assert_allclose(nearest, expected[some].min(axis=0), atol=3e-3)
    np.testing.assert_allclose(
        points.exact_distances(points.take(some), index), expected[some[index], range(N)], atol=2e-6
    )
    centre = rows.mean(axis=0).astype(np.float32)
    np.testing.assert_allclose(
        points.relative_sq_distances(centre), (rows**2).sum(axis=1) - 2 * rows @ centre, atol=1e-4
    )
    matrix = np.random.default_rng(seed).standard_normal((D, 3)).astype(np.float32)
    np.testing.assert_allclose(points.multiply(matrix), rows @ matrix, atol=1e-4)
    np.testing.assert_allclose(points.multiply_transposed(points.multiply(matrix)), rows.T @ (rows @ matrix), atol=1e-3)


def test_equal_propagated_rows_are_at_distance_zero() -> None:
    points = points_of(words(3))
    assert points.distances(np.array([N - 3]))[0, N - 2] == 0
    assert points.exact_distances(points.take(np.array([N - 3])), np.zeros(N, dtype=np.intp))[N - 2] == 0


@pytest.mark.parametrize("method", ["exact", "streamed", "sampled"])
@pytest.mark.parametrize("unit", [False, True])
def test_medoids_are_as_good_as_with_computed_rows(method: str, unit: bool) -> None:
    graph = words(1, n=800, d=600, groups=8)
    points, whole = points_of(graph, unit=unit), Points(rows_of(graph, unit=unit))
    fixed = [3, 500]
    ours = k_medoids(points, 12, fixed=fixed, method=method)
    theirs = k_medoids(whole, 12, fixed=fixed, method=method)
    measured = measure_coverage(whole, np.concatenate([ours.medoids, fixed])).mean_distance
    assert ours.loss == pytest.approx(measured, rel=1e-5)
    assert ours.loss <= 1.005 * theirs.loss
    assert not set(fixed) & set(ours.medoids.tolist())


def test_result_does_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = words(2, n=500, d=600)
    monkeypatch.setattr(kernels, "MIN_SHARED_ENTRIES", 1)
    found = set()
    for count in (1, 3):
        monkeypatch.setattr(kernels.numba, "get_num_threads", lambda count=count: count)
        points = points_of(graph)
        found.add((points.distances(np.arange(20)).tobytes(), tuple(k_medoids(points, 9, method="streamed").medoids)))
    assert len(found) == 1


@pytest.mark.parametrize("strategy", ["featprop", "featprop-cosine", "featprop-kcenter", "herding", "graphpart"])
def test_strategies_select_as_well_without_the_rows(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fp.select(words(5, n=400, d=300), 10, strategy=strategy)
    monkeypatch.setattr(propagation, "MIN_OPERATOR_NODES", 100)
    monkeypatch.setattr(propagation, "MIN_OPERATOR_COLUMNS", 100)
    graph = words(5, n=400, d=300)
    picks = fp.select(graph, 10, strategy=strategy)
    assert isinstance(Propagation.of(graph).points(2), PropagatedPoints)
    assert picks.mean_distance <= 1.02 * plain.mean_distance
    assert picks.represents.sum() == 400


def test_operator_is_used_for_many_sparse_columns_and_few_hops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propagation, "MIN_OPERATOR_NODES", N - 1)
    monkeypatch.setattr(propagation, "MIN_OPERATOR_COLUMNS", D)
    graph = words(0)
    sparse = Propagation.of(graph)
    assert isinstance(sparse.points(1), PropagatedPoints)
    assert isinstance(sparse.points(2, unit=True), PropagatedPoints)
    filled = Graph.from_scipy(graph.adjacency, np.ones((N, D)) + dense(graph.features))
    large, small = (Graph.from_scipy(graph.adjacency, graph.features * np.float32(by)) for by in (1e20, 1e-20))
    others = [sparse.points(0), sparse.points(3), *(Propagation.of(each).points(2) for each in (filled, large, small))]
    assert not any(isinstance(points, PropagatedPoints) for points in others)
    for limit, value in (("MIN_OPERATOR_NODES", N), ("MIN_OPERATOR_COLUMNS", D + 1), ("MAX_OPERATOR_NODES", N - 1)):
        with monkeypatch.context() as patched:
            patched.setattr(propagation, limit, value)
            assert not isinstance(Propagation.of(words(0)).points(2), PropagatedPoints)
