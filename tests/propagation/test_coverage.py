"""The terms of Theorems 1 and 2: four points on a line by hand, and their order."""

import numpy as np
import pytest

from featprop.propagation import Propagation, coverage, propagate
from featprop.propagation.coverage import coverage_curve
from tests.graphs import edgeless, random_graph


def test_four_points_on_a_line_by_hand() -> None:
    line = np.array([[0.0], [1.0], [5.0], [9.0]], dtype=np.float32)
    covered = coverage(edgeless(line), np.array([0, 2]))
    np.testing.assert_array_equal(covered.nearest, [0, 0, 1, 1])
    np.testing.assert_allclose(covered.distances, [0, 1, 0, 4])
    assert covered.mean_distance == pytest.approx(5 / 4)
    assert covered.max_distance == pytest.approx(4)


def test_chosen_node_is_nearest_to_itself() -> None:
    covered = coverage(edgeless(np.ones((4, 2), dtype=np.float32)), np.array([3, 1]))
    assert covered.nearest[[3, 1]].tolist() == [0, 1]
    assert covered.max_distance == 0.0


def test_coverage_is_measured_on_propagated_rows() -> None:
    graph = random_graph(30, 4, density=0.1, weighted=True)
    chosen = np.array([2, 11, 25])
    for layers, covered in ((2, coverage(graph, chosen)), (1, coverage(graph, chosen, 1))):
        rows = np.asarray(propagate(graph, layers)).astype(float)
        distances = np.linalg.norm(rows[:, None] - rows[chosen][None], axis=2).min(axis=1)
        np.testing.assert_allclose(covered.distances, distances, atol=1e-5)


def test_curve_is_the_mean_distance_of_each_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    graph, chosen = edgeless(rows), np.array([7, 3, 40, 11])
    points = Propagation.of(graph).points(2)
    expected = [coverage(graph, chosen[: size + 1]).mean_distance for size in range(4)]
    np.testing.assert_allclose(coverage_curve(points, chosen), expected, rtol=1e-5)
    monkeypatch.setattr("featprop.compute.points.BLOCK_BYTES", 4 * 4 * 9)
    np.testing.assert_allclose(coverage_curve(points, chosen), expected, rtol=1e-5)
