"""Calibration: a steepness found by hand, and what probabilities must be whatever the scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit, log_softmax, softmax

from featprop.models.calibration import BOUNDS, DOUBT, SPREAD, USUAL, Calibration

TWO = np.array([[1.0, 0.0]] * 4)
"""Four labels that got the same scores: one apart."""


@st.composite
def calibrations(draw: st.DrawFn) -> tuple[Calibration, np.ndarray]:
    """A calibration, and scores as a model hands them over: times the steepness."""
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, classes = draw(st.integers(1, 12)), draw(st.integers(2, 6))
    scores, targets = generator.normal(size=(n, classes)), generator.integers(0, classes, n)
    found = Calibration.of(scores, targets, generator.uniform(1, 9, n))
    return found, (generator.normal(size=(9, classes)) * found.steepness).astype(np.float32)


def test_three_of_four_right_by_hand() -> None:
    """The slope of 4 log(1 + e^-τ) + τ + (log τ - log 8)² / 2 · 0.35² is zero: three labels say 1, one says 0."""
    found = Calibration.of(TWO, np.array([0, 0, 0, 1]), np.ones(4))
    slope = lambda tau: 1 - 4 * expit(-tau) + np.log(tau / USUAL) / SPREAD**2 / tau  # noqa: E731
    assert found.steepness == pytest.approx(brentq(slope, 0.1, 100), rel=1e-4)
    assert found.doubt == pytest.approx(2 * DOUBT / (4 + 2 * DOUBT)) == pytest.approx(0.5 / 4.5)
    right = (1 - found.doubt) * expit(found.steepness) + found.doubt / 2
    probabilities = found.probabilities((TWO[:1] * found.steepness).astype(np.float32))
    np.testing.assert_allclose(probabilities, [[right, 1 - right]], atol=1e-6)


def test_with_many_labels_the_scores_mean_what_they_turned_out_to_be() -> None:
    """A gap of 1 that is right three times in four says 3 : 1, so e^τ is 3."""
    found = Calibration.of(np.tile(TWO, (25_000, 1)), np.tile([0, 0, 0, 1], 25_000), np.ones(100_000))
    assert found.steepness == pytest.approx(np.log(3), rel=1e-3)
    probabilities = found.probabilities((TWO[:1] * found.steepness).astype(np.float32))
    np.testing.assert_allclose(probabilities, [[0.75, 0.25]], atol=1e-3)


def test_scores_that_say_nothing_leave_the_steepness_as_it_is_before_any_label() -> None:
    found = Calibration.of(np.ones((5, 3)), np.array([0, 1, 2, 0, 0]), np.ones(5))
    assert found.steepness == pytest.approx(USUAL, rel=1e-4)


def test_a_label_counts_for_the_nodes_it_stands_for() -> None:
    targets, heavier = np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 1.0, 3.0])
    even = Calibration.of(TWO, targets, np.ones(4))
    weighted = Calibration.of(TWO, targets, heavier)
    assert weighted.steepness < 0.9 * even.steepness, "it is wrong for half of the nodes and not for a quarter"
    halves = Calibration.of(TWO, np.array([0, 0, 1, 1]), np.ones(4))
    assert weighted.steepness == pytest.approx(halves.steepness, rel=1e-4)
    assert Calibration.of(TWO, targets, heavier * 100) == pytest.approx(weighted, rel=1e-6), "only their shares count"


def test_scores_that_are_right_are_believed_more_the_more_labels_there_are() -> None:
    def steepness(*wrong: int, times: int = 1) -> float:
        return Calibration.of(np.tile(TWO, (times, 1)), np.tile(wrong, times), np.ones(4 * times)).steepness

    wrong, halves, right = steepness(1, 1, 1, 1), steepness(0, 0, 1, 1), steepness(0, 0, 0, 0)
    assert wrong < halves < USUAL < right
    assert right < steepness(0, 0, 0, 0, times=1000)
    assert steepness(1, 1, 1, 1, times=1000) == pytest.approx(np.exp(BOUNDS[0]), rel=0.01)


def test_doubt_is_large_with_few_labels_and_goes_with_many() -> None:
    doubts = [Calibration.of(np.tile(TWO, (n, 1)), np.zeros(4 * n, np.int64), np.ones(4 * n)).doubt for n in (1, 9, 99)]
    assert doubts == sorted(doubts, reverse=True)
    assert doubts[0] > 0.1 > 0.01 > doubts[-1] > 0


@given(st.integers(0, 10_000), st.booleans())
def test_no_other_steepness_is_likelier(seed: int, told: bool) -> None:
    generator = np.random.default_rng(seed)
    targets, weights = generator.integers(0, 3, 20), generator.uniform(1, 5, 20)
    scores = generator.normal(size=(20, 3)) + 5 * told * np.eye(3)[targets]

    def surprise(power: float) -> float:
        labels = -20 / weights.sum() * weights @ log_softmax(np.exp(power) * scores, axis=1)[np.arange(20), targets]
        return float(labels + (power - np.log(USUAL)) ** 2 / (2 * SPREAD**2))

    found = surprise(np.log(Calibration.of(scores, targets, weights).steepness))
    assert found <= min(map(surprise, np.linspace(*BOUNDS, 200))) + 1e-6


@given(st.integers(0, 10_000))
def test_rounding_does_not_decide_it(seed: int) -> None:
    """Where every label is got right by far, any large steepness would do but for what is thought before."""
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, 4, 12)
    scores = generator.normal(size=(12, 4)) / 20 + np.eye(4)[targets]
    other = scores * (1 + 1e-7 * generator.normal(size=scores.shape))
    found, again = (Calibration.of(each, targets, np.ones(12)).steepness for each in (scores, other))
    assert again == pytest.approx(found, rel=1e-4)


@given(calibrations())
def test_probabilities_sum_to_one_and_none_is_zero(drawn: tuple[Calibration, np.ndarray]) -> None:
    calibration, logits = drawn
    probabilities = calibration.probabilities(logits)
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert (probabilities >= 0.99 * calibration.doubt / logits.shape[1]).all()


@given(calibrations())
def test_the_order_of_the_classes_is_that_of_the_scores(drawn: tuple[Calibration, np.ndarray]) -> None:
    calibration, logits = drawn
    probabilities = calibration.probabilities(logits)
    ordered = np.take_along_axis(probabilities, logits.argsort(axis=1), axis=1)
    assert (np.diff(ordered, axis=1) >= 0).all()
    assert (probabilities.max(axis=1) == probabilities[np.arange(len(logits)), logits.argmax(axis=1)]).all()


@given(calibrations(), st.floats(0.1, 3))
def test_a_higher_score_is_a_higher_probability_of_that_class_and_a_lower_one_of_the_others(
    drawn: tuple[Calibration, np.ndarray], more: float
) -> None:
    calibration, logits = drawn
    raised = logits.copy()
    raised[:, 0] += np.float32(more)
    before, after = calibration.probabilities(logits), calibration.probabilities(raised)
    assert (after[:, 0] >= before[:, 0]).all()
    assert (after[:, 1:] <= before[:, 1:]).all()


def test_without_doubt_they_are_the_softmax() -> None:
    logits = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    np.testing.assert_allclose(Calibration(1.0, 0.0).probabilities(logits), softmax(logits, axis=1), rtol=1e-6)
