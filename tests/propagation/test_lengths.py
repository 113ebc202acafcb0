"""Rows of unit length by hand, and those that are too short to have a direction."""

import numpy as np

from featprop.propagation.lengths import unit_length


def test_rows_are_scaled_in_place_and_rows_of_zeros_stay() -> None:
    rows = np.array([[3, 4], [0, 0], [-0.5, 0], [1e-30, 0]], dtype=np.float32)
    assert unit_length(rows) is rows
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [-1, 0], [1, 0]], rtol=1e-6)


def test_rows_not_longer_than_the_least_become_zero() -> None:
    rows = np.array([[0.25, 0], [0.26, 0], [0, 0.24]], dtype=np.float32)
    assert unit_length(rows, 0.25).tolist() == [[0, 0], [1, 0], [0, 0]]


def test_each_row_may_have_its_own_scale() -> None:
    """The least is 1, and of the scales 1/4 and 2 it is 1/4 and 2."""
    rows = np.array([[0.5, 0], [0.5, 0], [0.2, 0], [3, 0]], dtype=np.float32)
    scale = np.array([0.25, 2, 0.25, 2], dtype=np.float32)
    assert unit_length(rows, 1.0, scale).tolist() == [[1, 0], [0, 0], [0, 0], [1, 0]]
