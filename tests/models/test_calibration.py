"""Temperature, label smoothing, model weights and folds: solved by hand, and what must hold for any scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_softmax
from scipy.stats import norm

from featprop.models.calibration import (
    LOG_BOUNDS,
    LOG_SPREAD,
    TYPICAL_INVERSE_TEMPERATURE,
    inverse_temperature,
    label_smoothing,
    model_weights,
)
from featprop.models.cross_validation import MAX_FOLDS, stratified_folds

TWO = np.array([[1.0, 0.0]] * 4)
"""Four labels with the same scores: one apart."""
GRID_STEP = 1.06
"""The grid of temperatures is this fine."""
EVEN = np.full(9, 1 / 9)


def test_many_labels_outweigh_the_prior() -> None:
    """A gap of 1 that is right three times in four means 3 : 1, so e^τ is 3."""
    found = inverse_temperature(np.tile(TWO, (2_000, 1)), np.tile([0, 0, 0, 1], 2_000))
    assert found == pytest.approx(np.log(3), rel=GRID_STEP - 1)


def test_uninformative_scores_leave_the_prior() -> None:
    codes = np.array([0, 1, 2, 0, 0])
    assert inverse_temperature(np.ones((5, 3)), codes) == pytest.approx(TYPICAL_INVERSE_TEMPERATURE)
    assert inverse_temperature(np.ones((5, 3)), codes, typical=1.7) == pytest.approx(1.7)


@given(st.integers(0, 10_000), st.booleans())
def test_no_other_temperature_is_more_probable(seed: int, informative: bool) -> None:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 3, 20)
    scores = generator.normal(size=(20, 3)) + 5 * informative * np.eye(3)[codes]

    def posterior(log: float) -> float:
        likelihood = log_softmax(np.exp(log) * scores, axis=1)[np.arange(20), codes].sum()
        return float(likelihood - 2 * np.log1p((log - np.log(8)) ** 2 / LOG_SPREAD**2 / 3))

    found = posterior(np.log(inverse_temperature(scores, codes)))
    tried = np.log(8) + np.linspace(*LOG_BOUNDS, 71)
    assert found >= max(map(posterior, tried)) - 1e-9


def test_label_smoothing_by_hand() -> None:
    assert label_smoothing(4, 2) == pytest.approx(0.5 / 4.5)
    assert label_smoothing(0, 3) == 1
    assert label_smoothing(10_000, 2) < 1e-3


def test_equal_evidence_and_no_evidence_give_the_prior() -> None:
    np.testing.assert_allclose(model_weights(np.empty((0, 2)), np.array([0.2, 0.8])), [0.2, 0.8])
    np.testing.assert_allclose(model_weights(np.log(np.full((7, 3), 0.4)), EVEN[:3]), [1 / 3] * 3)


def test_a_constant_lead_has_no_uncertainty() -> None:
    """The first model is ahead by log 2 on each of three labels: 8 : 1, and 4 : 1 if the second was expected twice."""
    logs = np.log(np.array([[0.8, 0.4]] * 3))
    np.testing.assert_allclose(model_weights(logs, EVEN[:2]), [8 / 9, 1 / 9])
    np.testing.assert_allclose(model_weights(logs, np.array([1 / 3, 2 / 3])), [4 / 5, 1 / 5])


def test_the_weight_is_the_mean_over_the_uncertainty_of_the_lead() -> None:
    """Compared with integrating the logistic function over a normal distribution of the summed difference."""
    generator = np.random.default_rng(0)
    logs = np.log(generator.uniform(0.2, 0.9, size=(12, 2)))
    lead = logs[:, 0] - logs[:, 1]
    grid = np.linspace(-30, 30, 4001)
    density = norm.pdf(grid, lead.sum(), np.sqrt(12 * lead.var()))
    expected = np.sum(expit(grid) * density) / density.sum()
    assert model_weights(logs, EVEN[:2])[0] == pytest.approx(expected, abs=0.02)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(2, 4))
def test_weights_sum_to_one_and_follow_the_models(seed: int, n_labels: int, n_models: int) -> None:
    generator = np.random.default_rng(seed)
    logs = np.log(generator.uniform(0.01, 1, size=(n_labels, n_models)))
    even = EVEN[:n_models]
    found = model_weights(logs, even)
    assert found.sum() == pytest.approx(1)
    assert found.argmax() == logs.sum(axis=0).argmax()
    order = generator.permutation(n_models)
    np.testing.assert_allclose(model_weights(logs[:, order], even), found[order], atol=1e-9)
    np.testing.assert_allclose(model_weights(logs[generator.permutation(n_labels)], even), found, atol=1e-9)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 1000))
def test_folds_are_stratified_and_independent_of_the_order(drawn: list[int], seed: int) -> None:
    codes = np.array(drawn)
    nodes = [f"node {place}" for place in range(len(codes))]
    folds = stratified_folds(nodes, codes)
    n_folds = min(MAX_FOLDS, len(codes))
    sizes = np.bincount(folds, minlength=n_folds)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1
    for code in set(drawn):
        spread = np.bincount(folds[codes == code], minlength=n_folds)
        assert spread.max() - spread.min() <= 1
    order = np.random.default_rng(seed).permutation(len(codes))
    np.testing.assert_array_equal(stratified_folds([nodes[place] for place in order], codes[order]), folds[order])
