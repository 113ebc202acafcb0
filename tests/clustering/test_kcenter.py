"""Greedy and exact K-Center compared with all subsets."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from featprop.clustering.kcenter import RobustKCenterResult, k_center, robust_k_center
from featprop.compute.points import Points

NO_ROWS = np.array([], dtype=np.intp)


def rows_of(seed: int, n: int = 14) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 2)).astype(np.float32)


def radius_of(rows: np.ndarray, centres: list[int], outliers: int = 0) -> float:
    distances = np.linalg.norm(rows[:, None] - rows[None, centres], axis=2).min(axis=1)
    return float(np.sort(distances)[len(rows) - 1 - outliers])


def exact(
    rows: np.ndarray, count: int, fixed: np.ndarray = NO_ROWS, candidates: np.ndarray | None = None, **options: Any
) -> RobustKCenterResult:
    options = {"outliers": 0, "time_limit": 60.0, "max_size": 1000} | options
    candidates = np.arange(len(rows)) if candidates is None else candidates
    return robust_k_center(Points(rows), count, fixed, candidates, np.random.default_rng(0), **options)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_is_within_twice_the_best(seed: int) -> None:
    rows = rows_of(seed)
    centres, distances = k_center(Points(rows), 3, NO_ROWS, np.arange(14), np.random.default_rng(0))
    best = min(radius_of(rows, list(choice)) for choice in combinations(range(14), 3))
    assert distances.max() == pytest.approx(radius_of(rows, centres.tolist()), rel=1e-4)
    assert best <= distances.max() * (1 + 1e-5) <= 2 * best * (1 + 1e-4)


def test_greedy_counts_fixed_rows_as_covered() -> None:
    rows = np.array([[0.0], [5.0], [8.0]])
    generator = np.random.default_rng(0)
    centres, distances = k_center(Points(rows), 1, np.array([0]), np.array([1, 2]), generator)
    assert centres.tolist() == [2]
    np.testing.assert_allclose(distances, [0, 3, 0], atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("outliers", [0, 2])
def test_program_finds_and_proves_the_optimum(seed: int, outliers: int) -> None:
    rows = rows_of(seed)
    result = exact(rows, 3, outliers=outliers)
    best = min(radius_of(rows, list(choice), outliers) for choice in combinations(range(14), 3))
    assert result.radius == pytest.approx(best, rel=1e-4)
    assert radius_of(rows, result.centres.tolist(), outliers) == pytest.approx(best, rel=1e-4)
    assert result.lower_bound <= result.radius <= result.greedy_radius
    below = [radius_of(rows, list(choice), outliers) for choice in combinations(range(14), 3)]
    smaller = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    largest_below_best = smaller[smaller < min(below) * (1 - 1e-4)].max()
    assert result.lower_bound >= min(largest_below_best, result.greedy_radius / 2) * (1 - 1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_fixed_centres_and_candidates_are_respected(seed: int) -> None:
    rows = rows_of(seed)
    candidates = np.arange(4, 12)
    result = exact(rows, 2, fixed=np.array([0, 1]), candidates=candidates)
    best = min(radius_of(rows, [0, 1, *choice]) for choice in combinations(candidates.tolist(), 2))
    assert set(result.centres.tolist()) <= set(candidates.tolist())
    assert result.radius == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_program_on_a_sample_bounds_all_rows(seed: int) -> None:
    rows = rows_of(seed, 40)
    whole, part = exact(rows, 4), exact(rows, 4, max_size=15)
    assert part.radius == pytest.approx(radius_of(rows, part.centres.tolist()), rel=1e-4)
    assert part.lower_bound <= whole.radius * (1 + 1e-5)
    assert part.radius <= part.greedy_radius
    assert whole.n_problems > 0


def test_greedy_result_is_returned_without_time() -> None:
    rows = rows_of(0, 40)
    result = exact(rows, 4, time_limit=0.0)
    assert (result.n_problems, result.radius) == (0, result.greedy_radius)
    assert result.gap == pytest.approx(0.5)


def test_equal_rows_have_no_radius_and_no_gap() -> None:
    result = exact(np.ones((6, 2), dtype=np.float32), 2)
    assert (result.radius, result.gap) == (0.0, 0.0)
    assert len(set(result.centres.tolist())) == 2
