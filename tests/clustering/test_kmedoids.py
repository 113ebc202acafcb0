"""K-Medoids against all subsets, against the `kmedoids` package, and under every option."""

import subprocess
import sys
from itertools import combinations

import kmedoids as reference
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

from featprop.clustering import KMedoidsResult, Points, k_medoids, solver
from featprop.clustering.solver import METHODS
from featprop.compute import kernels
from featprop.errors import ParameterError
from tests.helpers import raises


def loss_of(distances: np.ndarray, medoids: np.ndarray, weights: np.ndarray | None = None) -> float:
    return float(np.average(distances[list(medoids)].min(axis=0), weights=weights))


def tiny(seed: int, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(seed).normal(size=(n, 2)).astype(np.float32)
    return rows, pairwise_distances(rows.astype(np.float64))


def spread(rows: np.ndarray, width: int) -> Points:
    """Spread rows over `width` columns, which keeps their distances and makes them sparse."""
    entries = sp.coo_array(rows)
    columns = entries.coords[1] * (width // rows.shape[1])
    points = Points(sp.csr_array((entries.data, (entries.coords[0], columns)), shape=(len(rows), width)))
    assert sp.issparse(points.rows)
    return points


def check_swaps(distances: np.ndarray, result: KMedoidsResult, fixed: tuple[int, ...] = ()) -> None:
    """Assert that no single swap lowers the loss."""
    chosen = result.medoids.tolist()
    for out in chosen:
        for other in set(range(len(distances))) - set(chosen) - set(fixed):
            changed = [other if medoid == out else medoid for medoid in chosen]
            assert loss_of(distances, [*changed, *fixed]) >= result.loss * (1 - 1e-5)


@given(seed=st.integers(0, 10_000), count=st.integers(1, 4))
@settings(max_examples=40)
def test_result_is_a_local_optimum(seed: int, count: int) -> None:
    rows, distances = tiny(seed)
    result = k_medoids(rows, count, n_init=4, random_state=seed)
    best = min(loss_of(distances, choice) for choice in combinations(range(len(rows)), count))
    assert best * (1 - 1e-5) <= result.loss
    assert result.loss == pytest.approx(loss_of(distances, result.medoids), rel=1e-5)
    check_swaps(distances, result)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("width", [None, 200, 800], ids=["dense", "sparse", "nearly empty"])
def test_every_method_is_close_to_the_reference_on_blobs(method: str, width: int | None) -> None:
    rows = make_blobs(1200, n_features=12, centers=30, random_state=3)[0].astype(np.float32)
    distances = pairwise_distances(rows.astype(np.float64))
    theirs = min(reference.fasterpam(distances, 30, random_state=seed).loss for seed in range(3)) / len(rows)
    result = k_medoids(rows if width is None else spread(rows, width), 30, method=method, random_state=1)
    assert result.method == method
    assert len(set(result.medoids.tolist())) == 30
    assert result.loss <= 1.02 * theirs
    assert result.loss == pytest.approx(loss_of(distances, result.medoids), rel=1e-4)


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_fixed_medoids_never_move_and_attract(method: str, seed: int) -> None:
    rows, distances = tiny(seed, n=60)
    fixed = (4, 17, 33)
    result = k_medoids(rows, 3, fixed=fixed, method=method, random_state=seed)
    assert not set(fixed) & set(result.medoids.tolist())
    assert result.loss == pytest.approx(loss_of(distances, [*result.medoids, *fixed]), rel=1e-4)
    centres = [*result.medoids, *fixed]
    np.testing.assert_allclose(distances[centres][result.labels, np.arange(60)], result.distances, atol=1e-4)
    if method == "exact":
        check_swaps(distances, result, fixed)


@pytest.mark.parametrize("method", METHODS)
def test_candidates_as_positions_or_mask(method: str) -> None:
    rows, _ = tiny(1, n=50)
    allowed = np.arange(0, 50, 3)
    mask = np.isin(np.arange(50), allowed)
    by_position = k_medoids(rows, 5, candidates=allowed, method=method)
    by_mask = k_medoids(rows, 5, candidates=mask, method=method)
    assert set(by_position.medoids.tolist()) <= set(allowed.tolist())
    assert by_position.medoids.tolist() == by_mask.medoids.tolist()
    fixed = k_medoids(rows, 5, fixed=allowed[:2], candidates=mask, method=method)
    assert set(fixed.medoids.tolist()) <= set(allowed[2:].tolist())


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_weights_equal_repeated_rows(seed: int) -> None:
    rows, _ = tiny(seed, n=12)
    times = np.random.default_rng(seed).integers(1, 4, size=12)
    repeated = np.repeat(np.arange(12), times)
    weighted = k_medoids(rows, 3, sample_weight=times, n_init=1)
    first_copy = np.concatenate([[True], repeated[1:] != repeated[:-1]])
    plain = k_medoids(rows[repeated], 3, candidates=first_copy, n_init=1)
    assert set(weighted.medoids.tolist()) == set(repeated[plain.medoids].tolist())
    assert weighted.loss == pytest.approx(plain.loss, rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [np.zeros((30, 3)), np.repeat(np.eye(3), 10, axis=0)], ids=["zeros", "three groups"])
@pytest.mark.parametrize("count", [1, 3, 7, 30])
def test_medoids_are_distinct(method: str, rows: np.ndarray, count: int) -> None:
    for weights in (None, np.random.default_rng(0).random(30)):
        result = k_medoids(rows, count, method=method, sample_weight=weights)
        assert len(set(result.medoids.tolist())) == count
        if len(np.unique(rows, axis=0)) <= count:
            assert result.loss == 0.0


def test_every_prefix_is_a_good_smaller_choice() -> None:
    rows = make_blobs(500, n_features=6, centers=20, random_state=0)[0].astype(np.float32)
    distances = pairwise_distances(rows)
    medoids = k_medoids(rows, 20).medoids
    generator = np.random.default_rng(0)
    for size in (5, 10, 15):
        shuffled = [loss_of(distances, generator.permutation(medoids)[:size]) for _ in range(20)]
        assert loss_of(distances, medoids[:size]) <= min(shuffled)


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_order_of_the_rows_does_not_matter(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(60, 3)).astype(np.float32)
    order = generator.permutation(60)
    plain, permuted = k_medoids(rows, 6, n_init=3), k_medoids(rows[order], 6, n_init=3)
    assert order[permuted.medoids].tolist() == plain.medoids.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_result_does_not_depend_on_the_number_of_threads(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four threads share even the smallest block, also on a machine with one core."""
    rows = make_blobs(800, n_features=40, centers=50, random_state=1)[0].astype(np.float32)
    monkeypatch.setattr(kernels, "MIN_SHARED_ENTRIES", 1)
    found = []
    for count in (1, 4):
        monkeypatch.setattr(kernels.numba, "get_num_threads", lambda count=count: count)
        with threadpool_limits(limits=count):
            found.append(k_medoids(rows, 40, method=method, random_state=5))
    assert found[0].medoids.tolist() == found[1].medoids.tolist()
    assert found[0].loss == found[1].loss


def test_method_depends_on_the_memory() -> None:
    rows = np.random.default_rng(0).normal(size=(2000, 4)).astype(np.float32)
    assert k_medoids(rows, 5).method == "exact"
    assert k_medoids(rows, 5, max_memory=2**20).method == "streamed"
    assert k_medoids(rows, 5, max_memory=2**16).method == "sampled"


SPOILT = {
    "one far row": lambda rows: np.vstack([rows, [[1e7] * 4]]),
    "two far clusters": lambda rows: np.vstack([rows, rows + 20_000]),
    "one large column": lambda rows: np.hstack([rows, 1e4 * (np.arange(len(rows))[:, None] % 2)]),
    "a large offset": lambda rows: rows + 1e8,
}


@pytest.mark.parametrize(
    ("kind", "sparse"), [*((kind, False) for kind in SPOILT), *((kind, True) for kind in list(SPOILT)[:-1])]
)
def test_small_distances_survive_large_numbers(kind: str, sparse: bool) -> None:
    """Only dense rows are shifted, so a large offset is not tested for sparse rows."""
    rows = SPOILT[kind](np.random.default_rng(0).normal(size=(300, 4)))
    distances = pairwise_distances(rows - rows.mean(axis=0))
    theirs = min(reference.fasterpam(distances, 10, random_state=seed).loss for seed in range(3)) / len(rows)
    result = k_medoids(spread(rows, 100) if sparse else rows, 10)
    assert result.loss == pytest.approx(loss_of(distances, result.medoids), rel=1e-3)
    assert result.loss <= 1.02 * theirs
    np.testing.assert_array_equal(result.labels, distances[result.medoids].argmin(axis=0))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("max_memory", "count"), [(1, 1), (1, 7), (1000, 300)])
def test_tiny_memory_limit_still_works(method: str, max_memory: int, count: int) -> None:
    rows, distances = tiny(3, n=300)
    result = k_medoids(rows, count, method=method, max_memory=max_memory)
    assert len(set(result.medoids.tolist())) == count
    assert result.loss == pytest.approx(loss_of(distances, result.medoids), rel=1e-5)
    assert result.loss <= 1.1 * k_medoids(rows, count).loss


@pytest.mark.parametrize("sparse", [False, True])
def test_ranking_in_a_projection_finds_equally_good_medoids(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise in 400 columns, with a different amount in each row, that the projection to 64 omits."""
    blobs, group = make_blobs(700, n_features=400, centers=12, cluster_std=1.0, random_state=0)
    noise = blobs - np.stack([blobs[group == each].mean(axis=0) for each in range(12)])[group]
    rows = (blobs + noise * np.random.default_rng(0).uniform(-0.8, 2, size=(700, 1))).astype(np.float32)
    points = spread(rows, 9000) if sparse else Points(rows)
    problems = []
    seen = solver._project_problem
    monkeypatch.setattr(solver, "_project_problem", lambda *args: problems.append(seen(*args)) or problems[-1])
    narrow = k_medoids(points, 10, fixed=[7], method="streamed")
    monkeypatch.setattr(solver, "MIN_WIDTH_RATIO", 10_000)
    plain = k_medoids(points, 10, fixed=[7], method="streamed")
    assert problems[0].points.width < 100
    assert problems[1].points is points
    np.testing.assert_array_equal(problems[0].points.squared_norms, points.squared_norms)
    assert narrow.loss <= 1.001 * plain.loss


@pytest.mark.parametrize(
    ("limits", "most"),
    [({"MAX_STREAMED_ROWS": 600}, 1.03), ({"MAX_STREAMED_ROWS": 0, "KMEANS_ROWS_PER_MEDOID": 30}, 1.2)],
)
def test_sampled_method_respects_fixed_weights_and_candidates(
    limits: dict[str, int], most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small limits make the sample smaller than the rows; fixed medoids, weights and candidates still count.

    Means alone may leave one of the twelve groups without a medoid; swaps do not.
    """
    for name, value in limits.items():
        monkeypatch.setattr(solver, name, value)
    rows = make_blobs(3000, n_features=5, centers=12, random_state=2)[0]
    distances = pairwise_distances(rows)
    weights = np.random.default_rng(0).random(3000) * (np.arange(3000) % 2)
    fixed, candidates = [7, 1200, 2500], np.arange(0, 3000, 3)
    candidates = np.setdiff1d(candidates, fixed)
    arguments = {"fixed": fixed, "candidates": candidates, "sample_weight": weights}
    sampled, exact = (k_medoids(rows, 9, method=method, **arguments) for method in ("sampled", "exact"))
    assert set(sampled.medoids.tolist()) <= set(candidates.tolist())
    assert sampled.loss <= most * exact.loss
    assert sampled.loss == pytest.approx(loss_of(distances, [*sampled.medoids, *fixed], weights), rel=1e-3)


def test_forked_workers_start_their_own_threads() -> None:
    """Threads do not survive a fork. The test runs in a process without the threads of PyTorch."""
    program = """
import multiprocessing, numpy as np
from featprop.clustering import k_medoids
rows = np.random.default_rng(0).normal(size=(1600, 3))
here = k_medoids(rows, 4).medoids.tolist()
with multiprocessing.get_context("fork").Pool(1) as pool:
    assert pool.apply_async(k_medoids, (rows, 4)).get(timeout=300).medoids.tolist() == here
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


ROWS = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ({"n_medoids": 0}, {"parameter": "n_medoids", "value": 0}),
        ({"n_medoids": 2.5}, {"parameter": "n_medoids", "value": 2.5}),
        ({"n_medoids": 3, "candidates": [0, 1]}, {"parameter": "n_medoids", "value": 3}),
        ({"max_memory": "1GB"}, {"parameter": "max_memory", "value": "1GB"}),
        ({"sample_weight": [1, 1, 1, 1, 1, -1]}, {"parameter": "sample_weight"}),
        ({"sample_weight": [1, 1]}, {"parameter": "sample_weight", "value": (2,)}),
        ({"fixed": ["a"]}, {"parameter": "fixed", "value": "<U1"}),
        ({"fixed": [6]}, {"parameter": "fixed", "value": "6 to 6"}),
        ({"fixed": [1, 1]}, {"parameter": "fixed", "value": 1}),
        ({"metric": "manhattan"}, {"parameter": "metric", "choices": ("cosine", "euclidean")}),
        ({"method": "magic"}, {"parameter": "method", "choices": ("exact", "sampled", "streamed")}),
        ({"n_init": 0}, {"parameter": "n_init", "value": 0}),
    ],
)
def test_invalid_arguments_are_refused(arguments: dict, fields: dict) -> None:
    with raises(ParameterError, **fields):
        k_medoids(ROWS, **{"n_medoids": 1} | arguments)


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        (np.array([[1.0], [np.nan]]), 1),
        (np.array([["a"]]), "<U1"),
        (np.array([[1e31], [1.0]]), pytest.approx(5e30, rel=1e-6)),
        (np.ones(3), (3,)),
        (np.ones((0, 3)), (0, 3)),
    ],
)
def test_invalid_rows_are_refused(rows: np.ndarray, value: object) -> None:
    with raises(ParameterError, parameter="rows", value=value):
        k_medoids(rows, 1)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_points_are_clustered_as_their_rows(metric: str) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    points = Points(rows, metric)
    for some in (None, np.arange(30)):
        expected, result = (k_medoids(each, 4, candidates=some, metric=metric) for each in (rows, points))
        assert result.medoids.tolist() == expected.medoids.tolist()
        assert result.loss == expected.loss


def test_points_keep_their_metric() -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    with raises(ParameterError, parameter="metric", value="cosine"):
        k_medoids(Points(rows), 3, metric="cosine")
