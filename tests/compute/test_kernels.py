"""Sparse products equal SciPy's on any number of threads; rows of unit length by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.compute import kernels
from featprop.compute.kernels import multiply_sparse, normalize_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 4])
def test_sparse_product_equals_scipy(dtype: type, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MIN_SHARED_ENTRIES", 1)
    monkeypatch.setattr(kernels.numba, "get_num_threads", lambda: count)
    matrix = sp.random_array((50, 80), density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    dense = np.random.default_rng(1).standard_normal((7, 80)).astype(dtype).T
    found = multiply_sparse(matrix, dense)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, matrix @ np.ascontiguousarray(dense))


def test_empty_rows_give_zeros() -> None:
    assert not multiply_sparse(sp.csr_array((3, 4), dtype=np.float32), np.ones((4, 2), dtype=np.float32)).any()


def test_rows_are_normalized_in_place_and_zeros_stay() -> None:
    rows = np.array([[3, 4], [0, 0], [-0.5, 0], [1e-30, 0]], dtype=np.float32)
    assert normalize_rows(rows) is rows
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [-1, 0], [1, 0]], rtol=1e-6)


def test_short_rows_become_zero() -> None:
    rows = np.array([[0.25, 0], [0.26, 0], [0, 0.24]], dtype=np.float32)
    assert normalize_rows(rows, 0.25).tolist() == [[0, 0], [1, 0], [0, 0]]


def test_minimum_length_scales_by_row() -> None:
    """With a minimum of 1 and scales 1/4 and 2, the limits are 1/4 and 2."""
    rows = np.array([[0.5, 0], [0.5, 0], [0.2, 0], [3, 0]], dtype=np.float32)
    scale = np.array([0.25, 2, 0.25, 2], dtype=np.float32)
    assert normalize_rows(rows, 1.0, scale).tolist() == [[1, 0], [0, 0], [0, 0], [1, 0]]
