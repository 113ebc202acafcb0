"""K-Means compared with scikit-learn, and with fixed centres."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from featprop.clustering.kmeans import as_points, k_means, nearest_distinct
from featprop.compute.points import Points

NONE = np.array([], dtype=np.intp)


def blobs(seed: int = 0) -> np.ndarray:
    return make_blobs(300, n_features=4, centers=6, cluster_std=0.5, random_state=seed)[0].astype(np.float32)


@pytest.mark.parametrize("seed", range(4))
def test_loss_on_blobs_is_close_to_scikit_learn(seed: int) -> None:
    rows = blobs(seed)
    points = Points(rows)
    ours = []
    for start in range(5):
        centres = k_means(points, 6, NONE, np.ones(300, np.float32), np.random.default_rng(start))
        ours.append(float((points.nearest(as_points(points, centres))[1] ** 2).sum()))
    theirs = KMeans(6, n_init=10, random_state=0).fit(rows).inertia_
    assert min(ours) <= 1.02 * theirs


def test_fixed_rows_attract_and_stay() -> None:
    rows = np.array([[0.0], [1.0], [2.0], [50.0], [51.0], [52.0]], dtype=np.float32)
    points = Points(rows)
    centres = k_means(points, 1, np.array([1]), np.ones(6, np.float32), np.random.default_rng(0))
    assert centres[0, 0] - points.rows[0, 0] == pytest.approx(51.0)


def test_weights_move_the_mean() -> None:
    points = Points(np.array([[0.0], [1.0]], dtype=np.float32))
    centres = k_means(points, 1, NONE, np.array([1.0, 3.0], np.float32), np.random.default_rng(0))
    assert centres[0, 0] - points.rows[0, 0] == pytest.approx(0.75)


@pytest.mark.parametrize("rows", [np.zeros((9, 2)), np.repeat(np.eye(3), 3, axis=0)])
def test_equal_rows_give_distinct_nearest_rows(rows: np.ndarray) -> None:
    points = Points(rows.astype(np.float32))
    centres = k_means(points, 5, NONE, np.ones(9, np.float32), np.random.default_rng(0))
    nearest = nearest_distinct(points, centres, np.arange(9))
    assert len(set(nearest.tolist())) == 5


def test_shared_nearest_row_goes_to_the_closer_centre() -> None:
    points = Points(np.array([[0.0], [10.0], [11.0]], dtype=np.float32))
    centres = np.array([[1.0], [2.0]], dtype=np.float32) + points.rows[0]
    assert nearest_distinct(points, centres, np.arange(3)).tolist() == [0, 1]
