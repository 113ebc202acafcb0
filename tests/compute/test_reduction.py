"""Reduction: few columns by hand, many against NumPy's SVD."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.compute.reduction import (
    MAX_COLUMNS,
    MIN_REDUCED_COLUMNS,
    Reduction,
    effective_dimension,
    truncated_svd,
)

WIDE = MAX_COLUMNS + 88
ByHand = Callable[..., np.ndarray]


def low_rank(n: int, columns: int, rank: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    sizes = np.linspace(5, 1, rank)
    rows = (generator.normal(size=(n, rank)) * sizes) @ generator.normal(size=(rank, columns))
    return rows.astype(np.float32)


def reduced(features: np.ndarray) -> np.ndarray:
    return Reduction.fit(features).transform(features)


def test_three_nodes_by_hand() -> None:
    features = np.array([[1, 0], [3, 0], [2, 3]], np.float32)
    reduction = Reduction.fit(features)
    assert reduction.directions is None
    assert reduction.sizes[0] == 0.25, "3 becomes 3/4"
    assert (reduction.centre * 4).tolist() == [2, 1]
    # around the mean (-1, -1), (1, -1), (0, 2): mean squared length 8/3, of each column 4/3
    last = (4 / 3) ** 0.5
    first, third = (10 / 3) ** 0.5, (16 / 3) ** 0.5
    expected = [
        [-1 / first, -1 / first, last / first],
        [1 / first, -1 / first, last / first],
        [0, 2 / third, last / third],
    ]
    np.testing.assert_allclose(reduction.transform(features), expected, atol=1e-6)


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=30)
def test_few_columns_are_centred_and_of_unit_length(centred_by_hand: ByHand, seed: int, sparse: bool) -> None:
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(20, 7)) * (generator.random((20, 7)) < (0.4 if sparse else 1))
    features[:, 0] += 2
    given_features = sp.csr_array(features, dtype=np.float32) if sparse else features.astype(np.float32)
    rows = Reduction.fit(given_features).transform(given_features)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, centred_by_hand(given_features), atol=1e-5)


@pytest.mark.parametrize("columns", [5, WIDE])
def test_zero_rows_stay_zero(columns: int) -> None:
    features = low_rank(30, columns, 4)
    features[[3, 17]] = 0
    for each in (features, sp.csr_array(features)):
        lengths = np.linalg.norm(Reduction.fit(each).transform(each), axis=1)
        assert np.flatnonzero(lengths == 0).tolist() == [3, 17]
        np.testing.assert_allclose(np.delete(lengths, [3, 17]), 1, atol=1e-5)


@pytest.mark.parametrize("columns", [5, WIDE])
@pytest.mark.parametrize("value", [0.1, 1.0, 12345.678])
def test_constant_features_become_zero(columns: int, value: float) -> None:
    assert not reduced(np.full((30, columns), value, dtype=np.float32)).any()


@pytest.mark.parametrize("columns", [5, WIDE])
@pytest.mark.parametrize("power", [-100, 100])
@pytest.mark.parametrize("sparse", [False, True])
def test_scale_of_the_features_does_not_matter(columns: int, power: int, sparse: bool) -> None:
    """Squares of neither scale fit float32."""
    features = low_rank(30, columns, 4)
    scaled = features * np.float32(2.0**power)
    pair = [sp.csr_array(each) if sparse else each for each in (features, scaled)]
    np.testing.assert_array_equal(*[Reduction.fit(each).transform(each) for each in pair])


@pytest.mark.parametrize("columns", [6, WIDE])
@pytest.mark.parametrize("constant", [1e3, 1e6, 1e9])
def test_constant_column_is_ignored(columns: int, constant: float) -> None:
    features = low_rank(100, columns, 5)
    more = np.column_stack([features, np.full(100, constant, dtype=np.float32)])
    rows, others = reduced(features), reduced(more)
    np.testing.assert_allclose(others @ others.T, rows @ rows.T, atol=0.1)


@pytest.mark.parametrize("sparse", [False, True])
def test_directions_span_the_space_of_an_svd(sparse: bool) -> None:
    features = low_rank(200, WIDE, 40)
    directions = truncated_svd(sp.csr_array(features) if sparse else features, 40)
    assert directions.shape == (WIDE, 40)
    np.testing.assert_allclose(directions.T @ directions, np.eye(40), atol=1e-4)
    theirs = np.linalg.svd(features.astype(float), full_matrices=False)[2][:40]
    np.testing.assert_allclose(directions @ directions.T, theirs.T @ theirs, atol=1e-4)
    largest = np.linalg.norm(features @ directions, axis=0)
    np.testing.assert_allclose(largest, np.linalg.svd(features.astype(float))[1][:40], rtol=1e-3)


def test_directions_of_random_words_are_nearly_optimal() -> None:
    """Random words are the hardest case: all singular values are nearly equal."""
    words = (np.random.default_rng(0).random((600, 400)) < 0.05).astype(np.float32)
    directions = truncated_svd(sp.csr_array(words), 64)
    kept = np.square(words @ directions).sum()
    best = np.square(np.linalg.svd(words.astype(float), compute_uv=False)[:64]).sum()
    assert 0.94 * best < kept <= best * (1 + 1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_wide_low_rank_features_lose_nothing(centred_by_hand: ByHand, sparse: bool) -> None:
    features = low_rank(100, WIDE, 30)
    each = sp.csr_array(features) if sparse else features
    reduction = Reduction.fit(each)
    assert reduction.directions is not None
    assert reduction.directions.shape == (WIDE, 100), "as many as rows"
    rows, expected = reduction.transform(each), centred_by_hand(features)
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-4)


@given(st.integers(0, 1000))
@settings(max_examples=5)
def test_order_of_the_rows_does_not_matter(seed: int) -> None:
    features = low_rank(60, WIDE, 50, seed)
    order = np.random.default_rng(seed).permutation(60)
    rows, permuted = reduced(features), reduced(features[order])
    np.testing.assert_allclose(permuted @ permuted.T, (rows @ rows.T)[order][:, order], atol=1e-4)


@pytest.mark.parametrize("columns", [6, WIDE])
def test_column_far_from_zero_does_not_hide_the_others(columns: int) -> None:
    features = low_rank(100, columns, 5)
    moved = features.copy()
    moved[:, 2] += 1e3
    rows, others = reduced(features), reduced(moved)
    np.testing.assert_allclose(others @ others.T, rows @ rows.T, atol=5e-3)


def test_large_graphs_keep_fewer_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    features = low_rank(100, 300, 10)
    monkeypatch.setattr("featprop.compute.reduction.MAX_VALUES", 100 * 64)
    directions = Reduction.fit(features).directions
    assert directions is not None
    assert directions.shape == (300, 64)
    monkeypatch.setattr("featprop.compute.reduction.MAX_VALUES", 1)
    directions = Reduction.fit(features).directions
    assert directions is not None
    assert directions.shape == (300, MIN_REDUCED_COLUMNS)


def test_directions_of_many_rows_come_from_a_sample(centred_by_hand: ByHand, monkeypatch: pytest.MonkeyPatch) -> None:
    features = low_rank(400, WIDE, 20)
    monkeypatch.setattr("featprop.compute.reduction.SVD_SAMPLE_ROWS", 100)
    rows, expected = reduced(features), centred_by_hand(features)
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-3)


@pytest.mark.parametrize("spread", [np.ones(6), np.array([1.0, 0.5, 0.25, 0.1, 0, 0])])
def test_effective_dimension_is_the_participation_ratio(spread: np.ndarray) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 6)) * spread
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.linalg.eigvalsh(rows.T @ rows)
    expected = values.sum() ** 2 / (values**2).sum()
    assert effective_dimension(rows.astype(np.float32)) == pytest.approx(expected, rel=1e-3)
