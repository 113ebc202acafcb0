"""Distance kernels on given products: where rounding could decide, the rows do."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.compute.distances import STRETCH, find_nearest, to_distances, to_sq_differences

NOTHING = np.empty((0, 0), dtype=np.float32)
KINDS = ["dense", "sparse"]


def norms_of(rows: np.ndarray) -> np.ndarray:
    return np.square(rows.astype(float)).sum(axis=1).astype(np.float32)


def stored(kind: str, rows: np.ndarray) -> Any:
    """Return rows as a kernel reads them; "neither" withholds them."""
    matrix = sp.csr_array(rows)
    return {"dense": rows, "sparse": (matrix.data, matrix.indices, matrix.indptr), "neither": NOTHING}[kind]


def nearest(
    kind: str, a: np.ndarray, b: np.ndarray, products: np.ndarray | None = None
) -> tuple[list[int], list[float]]:
    """Run the kernel with the products of the rows, or with given products that imitate rounding."""
    index, least = np.empty(len(a), dtype=np.intp), np.empty(len(a), dtype=np.float32)
    found = (a.astype(float) @ b.T.astype(float)).astype(np.float32) if products is None else products
    find_nearest(0, len(a), found, norms_of(a), norms_of(b), stored(kind, a), stored(kind, b), index, least)
    return index.tolist(), least.tolist()


def distances(kind: str, a: np.ndarray, b: np.ndarray, products: np.ndarray, cosine: bool = False) -> np.ndarray:
    found = products.astype(np.float32)
    to_distances(0, len(a), found, norms_of(a), norms_of(b), stored(kind, a), stored(kind, b), cosine)
    return found


def sparse_rows(n: int, seed: int, width: int = 30) -> np.ndarray:
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, width)) * (generator.random((n, width)) < 0.3)
    return rows.astype(np.float32)


@pytest.mark.parametrize("kind", [*KINDS, "neither"])
@given(seed=st.integers(0, 10_000), others=st.sampled_from([1, 5, STRETCH - 1, STRETCH, STRETCH + 1, 3 * STRETCH + 2]))
@settings(max_examples=25)
def test_nearest_of_any_number_of_rows(kind: str, seed: int, others: int) -> None:
    a, b = sparse_rows(12, seed), sparse_rows(others, seed + 1)
    squared = np.square(a[:, None].astype(float) - b[None]).sum(axis=2)
    index, least = nearest(kind, a, b)
    assert index == squared.argmin(axis=1).tolist()
    np.testing.assert_allclose(least, squared.min(axis=1), rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_first_of_equal_rows_is_nearest(kind: str) -> None:
    b = np.array([[9, 9], [0, 1], [1, 0], [0, 1], *[[5, 5]] * STRETCH, [0, 1]], dtype=np.float32)
    a = np.array([[0, 1], [0, 2], [1, 1]], dtype=np.float32)
    assert nearest(kind, a, b) == ([1, 1, 1], [0, 1, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_first_of_equal_rows_is_nearest_despite_rounding(kind: str) -> None:
    a = np.array([[10.0, 0.0]], dtype=np.float32)
    b = np.array([[-10.0, 0.0], [10.0, 0.08], [10.0, 0.08], [10.0, 0.08]], dtype=np.float32)
    for place in (1, 2, 3):
        products = np.array([[-100.0, 100.0, 100.0, 100.0]], dtype=np.float32)
        products[0, place] += 1e-4
        assert nearest(kind, a, b, products)[0] == [1]


def test_first_of_equal_products_is_nearest_without_rows() -> None:
    a, b = np.array([[1.0, 0.0]], dtype=np.float32), np.array([[3, 0], [9, 9], [3, 0]], dtype=np.float32)
    assert nearest("neither", a, b) == ([0], [4.0])
    assert nearest("neither", a, b[1:]) == ([1], [4.0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", [-2e-4, -1e-4, 1e-4, 2e-4])
def test_rounded_products_do_not_decide(kind: str, wrong: float) -> None:
    """With norms of 100, the rounding error of a squared distance is up to 8e-4; the rows are 0.0801 and 0.08 away."""
    a = np.array([[10.0, 0.0]], dtype=np.float32)
    b = np.array([[10.0, 0.0801], [10.0, 0.08], [-10.0, 0.0], [10.0, 0.0801]], dtype=np.float32)
    for place in (0, 1, 3):
        products = np.array([[100.0, 100.0, -100.0, 100.0]], dtype=np.float32)
        products[0, place] += wrong
        index, least = nearest(kind, a, b, products)
        assert index == [1]
        assert least == pytest.approx([0.0064], rel=1e-4)


@pytest.mark.parametrize("others", [5, STRETCH, STRETCH + 5])
def test_kernel_does_not_read_past_the_arrays(others: int) -> None:
    """Rows behind the arrays in memory would be nearest; two equal rows make the kernel check all."""
    a = np.array([[1.0, 0.0]], dtype=np.float32)
    b = np.tile(a, (4 * STRETCH, 1))
    b[:others] = [[3, 0]]
    products, norms = (a @ b.T).astype(np.float32), norms_of(b)
    index, least = np.empty(1, dtype=np.intp), np.empty(1, dtype=np.float32)
    find_nearest(0, 1, products[:, :others], norms_of(a), norms[:others], a, b[:others], index, least)
    assert (index.tolist(), least.tolist()) == ([0], [4.0])


@pytest.mark.parametrize("kind", KINDS)
def test_large_distances_come_from_products(kind: str) -> None:
    """Squares are |a|² + |b|² - 2 p: 1 + 4 - 2 · 0.5 and 1 + 9 + 2, for products that do not belong to the rows."""
    a = np.array([[1.0, 0.0]], dtype=np.float32)
    b = np.array([[0.0, 2.0], [3.0, 0.0]], dtype=np.float32)
    products = np.array([[0.5, -1.0]], dtype=np.float32)
    assert nearest(kind, a, b, products) == ([0], [4.0])
    np.testing.assert_allclose(distances(kind, a, b, products), np.sqrt([[4.0, 12.0]]), rtol=1e-6)
    np.testing.assert_allclose(distances(kind, a, b, products, cosine=True), [[2.0, 6.0]], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_small_distances_come_from_differences(kind: str) -> None:
    """The limit is a thousandth of the sum of norms, 200: 0.19 is below it, 0.21 is not."""
    a = np.array([[10.0, 0.0]], dtype=np.float32)
    b = np.array([[10.0, 0.05]], dtype=np.float32)
    for squared, expected in ((0.19, 0.0025), (0.21, 0.21)):
        products = np.array([[(200.0025 - squared) / 2]], dtype=np.float32)
        found = distances(kind, a, b, products)[0, 0] ** 2
        assert found == pytest.approx(expected, rel=1e-2)
        assert nearest(kind, a, b, products)[1] == pytest.approx([expected], rel=1e-2)
        assert distances(kind, a, b, products, cosine=True)[0, 0] == pytest.approx(expected / 2, rel=1e-2)


def test_distances_without_rows_are_not_negative() -> None:
    a = b = np.array([[10.0, 0.0]], dtype=np.float32)
    products = np.array([[100.01]], dtype=np.float32)
    assert distances("neither", a, b, products).tolist() == [[0.0]]
    assert nearest("neither", a, b, products) == ([0], [0.0])


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_squared_differences_of_indexed_rows(kind: str, seed: int) -> None:
    a, b = sparse_rows(9, seed, 8), sparse_rows(4, seed + 1, 8)
    index, squared = np.random.default_rng(seed).integers(0, 4, 9), np.full(9, -1, dtype=np.float32)
    to_sq_differences(2, 7, stored(kind, a), stored(kind, b), index, squared)
    expected = np.square(a.astype(float) - b[index]).sum(axis=1)
    np.testing.assert_allclose(squared[2:7], expected[2:7], rtol=1e-6)
    assert (squared[[0, 1, 7, 8]] == -1).all(), "rows outside the range do not change"
