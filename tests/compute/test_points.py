"""Distances against scikit-learn's, sparse against dense, equal rows at distance zero."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

from featprop.compute.backend import split_evenly
from featprop.compute.points import METRICS, Points
from featprop.errors import ParameterError
from featprop.matrix import as_dense
from tests.helpers import raises


def rows_of(kind: str, seed: int, n: int = 40, d: int = 7) -> np.ndarray | sp.csr_array:
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, d)).astype(np.float32) + 100.0 * (kind == "far off")
    if kind == "integers":
        return np.hstack([np.ones((n, 1), dtype=int), generator.integers(-5, 6, size=(n, d))])
    if kind == "sparse":
        rows[generator.random(rows.shape) < 0.5] = 0
        rows[:, 0] = 1
        return sp.csr_array(rows)
    if kind == "mostly empty":
        wide = generator.normal(size=(n, 400)).astype(np.float32) * (generator.random((n, 400)) < 0.05)
        wide[:, 0] = 1
        return sp.csr_array(wide)
    if kind == "nearly empty":
        wide = np.zeros((n, 400), dtype=np.float32)
        wide[np.arange(n), generator.integers(0, 400, n)] = 1.0
        return sp.csr_array(wide)
    return rows


KINDS = ["dense", "integers", "far off", "sparse", "mostly empty", "nearly empty"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 1000))
def test_equals_scikit_learn(kind: str, metric: str, seed: int) -> None:
    rows = rows_of(kind, seed)
    full = rows.toarray() if sp.issparse(rows) else rows
    theirs = pairwise_distances(full.astype(np.float64), metric=metric)
    points = Points(rows, metric)
    assert sp.issparse(points.rows) == kind.endswith("empty"), "only well-filled sparse rows are made dense"
    np.testing.assert_allclose(points.distances(np.arange(40)), theirs, atol=2e-3 if metric == "euclidean" else 1e-5)
    index, distance = points.nearest(points.take(np.array([3, 9, 20])))
    np.testing.assert_allclose(distance, theirs[:, [3, 9, 20]].min(axis=1), atol=2e-3)
    exact = points.exact_distances(points.take(np.array([3, 9, 20])), index)
    np.testing.assert_allclose(exact, theirs[:, [3, 9, 20]].min(axis=1), atol=3e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", KINDS)
def test_gathering_in_pieces_gives_the_same_distances(kind: str, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points = Points(rows_of(kind, 0), metric)
    some, others = np.array([5, 0, 17]), np.random.default_rng(0).permutation(40)[:33]
    whole = points.distances(some)[:, others]
    monkeypatch.setattr("featprop.compute.points.GATHER_BYTES", 4 * points.width * 10)
    np.testing.assert_allclose(points.distances_between(some, others), whole, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_distances_to_several_chunks_equal_scikit_learn(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in "backend", "points":
        monkeypatch.setattr(f"featprop.compute.{module}.CHUNK_ROWS", 16)
    monkeypatch.setattr(Points, "split", lambda self, count, n_others=None: split_evenly(count, 4))
    rows = rows_of(kind, 0)
    found = Points(rows).distances(np.arange(3, 13))
    dense = as_dense(rows).astype(float)
    np.testing.assert_allclose(found, pairwise_distances(dense[3:13], dense), rtol=1e-3, atol=1e-3)


def test_cosine_of_zero_rows_is_refused() -> None:
    with raises(ParameterError, parameter="rows", value=1):
        Points(np.array([[1.0, 0.0], [0.0, 0.0]], dtype=np.float32), "cosine")


@pytest.mark.parametrize("kind", ["dense", "mostly empty"])
def test_arrays_of_points_are_read_only(kind: str) -> None:
    points = Points(rows_of(kind, 0))
    held = points.rows.data if sp.issparse(points.rows) else points.rows
    for kept in (held, points.squared_norms, points.distance_matrix(np.arange(5))):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 7


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "rows", [np.ones((1, 3)), np.full((4, 3), 5.0), sp.csr_array(np.full((4, 100), [0.0] * 99 + [5]))]
)
def test_equal_rows_are_at_distance_zero(rows: np.ndarray | sp.csr_array, metric: str) -> None:
    points = Points(rows, metric)
    n = rows.shape[0]
    assert points.distances(slice(None)).tolist() == np.zeros((n, n)).tolist()
    index, distances = points.nearest(points.take(slice(1)))
    assert index.tolist() == [0] * n
    assert distances.tolist() == [0.0] * n


@pytest.mark.parametrize("scale", [1e-30, 1e20, 1e29])
def test_distances_are_correct_at_any_scale(scale: float) -> None:
    rows = rows_of("dense", 0).astype(np.float64)
    for metric, factor in (("euclidean", scale), ("cosine", 1.0)):
        theirs = factor * Points(rows, metric).distances(slice(None)).astype(np.float64)
        np.testing.assert_allclose(
            Points(scale * rows, metric).distances(slice(None)), theirs, rtol=1e-4, atol=1e-6 * factor
        )
