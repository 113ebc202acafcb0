"""The alternating step, by hand on a line and against sums computed directly."""

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.clustering import alternating
from featprop.clustering.alternating import Cells, alternate, cell_means, find_one_medoid
from featprop.compute import Backend, use_backend
from featprop.compute.points import Points

LINE = np.array([0, 1, 2, 3, 4, 100, 101, 102, 103, 104], dtype=np.float32)[:, None]


def alternate_from(
    rows: np.ndarray,
    medoids: Sequence[int],
    candidates: Sequence[int] | None = None,
    covered: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> tuple[Cells, int]:
    n = len(rows)
    return alternate(
        Points(rows),
        np.array(medoids),
        np.arange(n) if candidates is None else np.array(candidates),
        np.full(n, np.inf, np.float32) if covered is None else covered.astype(np.float32),
        np.ones(n, np.float32) if weights is None else weights.astype(np.float32),
    )


def test_medoids_move_to_the_middle_of_their_cells() -> None:
    cells, moves = alternate_from(LINE, [4, 9])
    assert cells.medoids.tolist() == [2, 7]
    assert cells.labels.tolist() == [0] * 5 + [1] * 5
    assert cells.loss == pytest.approx(2 * (2 + 1 + 0 + 1 + 2))
    assert moves == 2


def test_each_medoid_is_its_own_nearest_among_equal_rows() -> None:
    rows = np.array([[0], [0], [0], [5], [6], [7]], dtype=np.float32)
    cells, _ = alternate_from(rows, [2, 1, 4])
    assert cells.medoids.tolist() == [2, 1, 4]
    assert cells.labels[[2, 1, 4]].tolist() == [0, 1, 2]


def test_chosen_medoid_wins_a_tie_with_a_fixed_one() -> None:
    covered = np.full(10, np.inf)
    covered[[0, 1]] = 2.0, 0.5
    cells, _ = alternate_from(LINE, [2, 7], covered=covered)
    assert cells.labels.tolist() == [0, -1, 0, 0, 0] + [1] * 5


def test_single_candidate_is_nearest_to_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of 0, 1, 2, 3 and 20 is 5.2: the row at 3 is nearest, though the best is at 2."""
    monkeypatch.setattr(alternating, "MAX_CELL_CANDIDATES", 1)
    rows = LINE.copy()
    rows[4] = 20
    cells, _ = alternate_from(rows, [0, 7])
    assert cells.medoids.tolist() == [3, 7]
    monkeypatch.setattr(alternating, "MAX_CELL_CANDIDATES", 2)
    cells, _ = alternate_from(rows, [0, 7])
    assert cells.medoids.tolist() == [2, 7]


def test_only_candidates_become_medoids() -> None:
    cells, _ = alternate_from(LINE, [4, 9], candidates=[0, 3, 4, 8, 9])
    assert cells.medoids.tolist() == [3, 8]
    assert cells.loss == pytest.approx(2 * (3 + 2 + 1 + 0 + 1))


def test_heavy_rows_attract_the_medoid() -> None:
    weights = np.ones(10)
    weights[0] = 20
    cells, _ = alternate_from(LINE, [4, 9], weights=weights)
    assert cells.medoids.tolist() == [0, 7]
    assert cells.loss == pytest.approx(1 + 2 + 3 + 4 + 6)


def test_rows_near_a_fixed_medoid_belong_to_no_cell() -> None:
    """A fixed medoid at 1 is nearer to 0, 1 and 2 than the chosen one at 4, which serves 3 and 4 alone."""
    covered = np.abs(LINE[:, 0] - 1)
    cells, _ = alternate_from(LINE, [4, 9], covered=covered)
    assert cells.medoids.tolist() == [4, 7]
    assert cells.labels.tolist() == [-1, -1, -1, 0, 0] + [1] * 5
    assert cells.loss == pytest.approx((1 + 0 + 1 + 1 + 0) + 6)


@given(seed=st.integers(0, 10_000), sparse=st.booleans())
@settings(max_examples=25)
def test_labels_and_loss_match_the_medoids(seed: int, sparse: bool) -> None:
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(60, 3))
    weights, covered = generator.random(60), generator.random(60) * 3
    points = Points(sp.csr_array(np.hstack([rows, np.zeros((60, 200))])) if sparse else rows)
    arguments = covered.astype(np.float32), weights.astype(np.float32)
    start = generator.choice(60, 4, replace=False)
    cells, _ = alternate(points, start, np.arange(60), *arguments)
    distances = np.linalg.norm(rows[:, None] - rows[cells.medoids][None], axis=2)
    expected = np.where(covered < distances.min(axis=1), -1, distances.argmin(axis=1))
    np.testing.assert_array_equal(cells.labels, expected)
    assert cells.loss == pytest.approx(np.minimum(distances.min(axis=1), covered) @ weights, rel=1e-4)
    first = np.linalg.norm(rows[:, None] - rows[start][None], axis=2).min(axis=1)
    assert cells.loss <= np.minimum(first, covered) @ weights * (1 + 1e-6)
    for number, medoid in enumerate(cells.medoids):
        members = np.flatnonzero(cells.labels == number)
        sums = np.linalg.norm(rows[members][:, None] - rows[members][None], axis=2) @ weights[members]
        assert sums[members == medoid] <= sums.min() * 1.02 + 0.02


@pytest.mark.parametrize("chunk_rows", [4, 7])
@pytest.mark.parametrize("n_candidates", [2, 64])
def test_result_does_not_depend_on_the_blocks(
    chunk_rows: int, n_candidates: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternating, "MAX_CELL_CANDIDATES", n_candidates)
    rows, generator = np.random.default_rng(0).normal(size=(45, 3)), np.random.default_rng(1)
    weights, covered = generator.random(45), generator.random(45) * 4
    whole, moves = alternate_from(rows, [0, 1, 2], covered=covered, weights=weights)
    alone = find_one_medoid(Points(rows), np.arange(45), weights.astype(np.float32))
    monkeypatch.setattr("featprop.compute.backend.CHUNK_ROWS", chunk_rows)
    for each in (1, 3):
        with use_backend(Backend(each)):
            cells, again = alternate_from(rows, [0, 1, 2], covered=covered, weights=weights)
            assert cells.medoids.tolist() == whole.medoids.tolist()
            assert cells.labels.tolist() == whole.labels.tolist()
            assert cells.loss == pytest.approx(whole.loss)
            assert again == moves
            assert find_one_medoid(Points(rows), np.arange(45), weights.astype(np.float32)).tolist() == alone.tolist()


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_cell_means(seed: int) -> None:
    generator = np.random.default_rng(seed)
    points = Points(generator.normal(size=(30, 4)))
    labels, weights = generator.integers(-1, 3, 30).astype(np.int32), generator.random(30).astype(np.float32)
    labels[0], labels[labels == 3] = 0, 2
    weights[labels == 2] = 0
    means = cell_means(points, labels, weights, 4)
    for cell in (0, 1):
        if weights[labels == cell].sum() > 0:
            expected = np.average(points.rows[labels == cell], axis=0, weights=weights[labels == cell])
            np.testing.assert_allclose(means[cell], expected, atol=1e-5)
    assert not means[2:].any(), "a cell with weight zero and an empty cell"


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_one_medoid_is_the_best_candidate(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = np.exp(generator.normal(size=(80, 3)))
    weights = generator.random(80)
    candidates = np.sort(generator.choice(80, 30, replace=False))
    sums = np.linalg.norm(rows[candidates][:, None] - rows[None], axis=2) @ weights
    found = find_one_medoid(Points(rows), candidates, weights.astype(np.float32))
    assert found.tolist() == [candidates[sums.argmin()]]


def test_one_medoid_is_searched_near_the_median(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row in ten is far away, which moves the mean but not the median."""
    monkeypatch.setattr(alternating, "MAX_MEDIAN_CANDIDATES", 3)
    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[::10] += 40
    sums = np.linalg.norm(rows[:, None] - rows[None], axis=2).sum(axis=1)
    found = find_one_medoid(Points(rows), np.arange(200), np.ones(200, np.float32))
    assert sums[found[0]] <= 1.005 * sums.min()
