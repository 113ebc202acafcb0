"""Projected rows with the lengths they had, against the formula with dense matrices."""

import numpy as np
import pytest

from featprop.clustering import k_medoids
from featprop.distances.points import Points
from featprop.distances.shortened_points import ShortenedPoints


def rows_of(n: int = 30, width: int = 12, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def expected_squares(rows: np.ndarray, kept: int) -> np.ndarray:
    squares = 2 - 2 * rows[:, :kept].astype(float) @ rows[:, :kept].T
    np.fill_diagonal(squares, 0)
    return squares


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_only_the_product_is_projected(metric: str) -> None:
    rows, ones = rows_of(), np.ones(30, np.float32)
    points = ShortenedPoints(rows[:, :5], ones, metric)
    squares = expected_squares(rows, 5)
    expected = squares / 2 if metric == "cosine" else np.sqrt(squares)
    np.testing.assert_allclose(points.distances(slice(None)), expected, atol=1e-5)
    chosen = np.array([3, 17, 8])
    index = np.random.default_rng(1).integers(0, 3, 30)
    exact = points.exact_distances(points.take(chosen), index)
    np.testing.assert_allclose(exact, expected[np.arange(30), chosen[index]], atol=1e-5)
    assert exact[3] == 0 or index[3] != 0


def test_with_every_column_they_are_plain_points() -> None:
    rows = rows_of()
    ours, plain = ShortenedPoints(rows, np.ones(30, np.float32), "euclidean"), Points(rows)
    np.testing.assert_allclose(ours.distances(slice(None)), plain.distances(slice(None)), atol=1e-5)
    np.testing.assert_array_equal(k_medoids(ours, 4).medoids, k_medoids(plain, 4).medoids)


def test_rows_that_the_projection_shortens_are_not_favoured() -> None:
    """The projection leaves nothing of row 0, which then lies in the middle of three pairs that point apart."""
    angles = np.arange(6) // 2 * 2 * np.pi / 3
    rows = np.vstack([[0, 0], np.column_stack([np.cos(angles), np.sin(angles)])]).astype(np.float32)
    ours = ShortenedPoints(rows, np.ones(7, np.float32), "euclidean")
    assert k_medoids(Points(rows), 1).medoids.tolist() == [0]
    assert k_medoids(ours, 1).medoids.tolist() != [0]
