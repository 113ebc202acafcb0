"""Scaling rows to length 1, for numbers of any size, and checking untrusted matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.matrix import as_dense, checked_csr, unit_rows


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.0**40, 2.0**64, 2.0**120, 2.0**-40, 2.0**-80, 2.0**-110])
def test_scale_does_not_change_the_direction(scale: float, sparse: bool) -> None:
    rows = np.array([[3, 4, 0], [0, 0, 0], [-1, 2, 2]], dtype=np.float32)
    given = rows * np.float32(scale)
    found = unit_rows(sp.csr_array(given) if sparse else given)
    expected = [[0.6, 0.8, 0], [0, 0, 0], [-1 / 3, 2 / 3, 2 / 3]]
    np.testing.assert_allclose(as_dense(found), expected, rtol=1e-6)
    np.testing.assert_array_equal(given, rows * np.float32(scale))


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_very_different_scales_get_length_one(sparse: bool) -> None:
    given = np.array([[1e-40, 0], [3e-10, 4e-10], [3, 4], [0, 0], [0, -1e18], [3e30, 4e30]], dtype=np.float32)
    found = unit_rows(sp.csr_array(given) if sparse else given)
    expected = [[1, 0], [0.6, 0.8], [0.6, 0.8], [0, 0], [0, -1], [0.6, 0.8]]
    np.testing.assert_allclose(as_dense(found), expected, rtol=1e-6)


@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("dtype", [complex, float])
def test_positions_must_be_integers(part: str, dtype: type) -> None:
    parts = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2])}
    assert checked_csr(**parts, shape=(2, 2)).nnz == 2
    with pytest.raises(ValueError):
        checked_csr(**parts | {part: parts[part].astype(dtype)}, shape=(2, 2))
