"""Sparse times dense is what SciPy says, to the last bit, on any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.compute import threads
from featprop.compute.sparse_products import sparse_times


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 4])
def test_equals_scipy(dtype: type, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "WORTH_SHARING", 1)
    monkeypatch.setattr(threads.numba, "get_num_threads", lambda: count)
    matrix = sp.random_array((50, 80), density=0.2, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    dense = np.random.default_rng(1).standard_normal((7, 80)).astype(dtype).T
    found = sparse_times(matrix, dense)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, matrix @ np.ascontiguousarray(dense))


def test_an_empty_row_gives_zeros() -> None:
    assert not sparse_times(sp.csr_array((3, 4), dtype=np.float32), np.ones((4, 2), dtype=np.float32)).any()
