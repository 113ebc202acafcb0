"""Scores, compared with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from featprop.experiments.protocol import calibration_error, score
from featprop.graph import UNKNOWN


@given(seed=st.integers(0, 10_000), classes=st.integers(1, 6), n=st.integers(4, 40))
@settings(max_examples=20)
def test_equals_scikit_learn(seed: int, classes: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    truth, predicted = generator.integers(0, classes, n), generator.integers(0, classes + 2, n)
    pool = generator.choice(n, size=2, replace=False)
    others = np.setdiff1d(np.arange(n), pool)
    for protocol, counted in (("paper", np.arange(n)), ("unlabelled", others)):
        found = score(truth, predicted, pool, protocol)
        right, answer = truth[counted], predicted[counted]
        assert found.macro_f1 == pytest.approx(f1_score(right, answer, average="macro", zero_division=0))
        assert found.micro_f1 == pytest.approx(f1_score(right, answer, average="micro", zero_division=0))
        assert found.accuracy == pytest.approx(accuracy_score(right, answer))


def test_calibration_error_of_six_nodes() -> None:
    truth = np.array([0, 0, 1, 1, UNKNOWN, 0])
    predicted = np.array([0, 1, 1, 1, 0, 1])
    confidence = np.array([0.90, 0.91, 0.60, 0.62, 0.99, 1.0], dtype=np.float32)
    # in the bin of 0.9 one of two is right, in that of 0.6 both are, in that of 1.0 none is
    gaps = abs(1 - 1.81) + abs(2 - 1.22) + abs(0 - 1.0)
    found = calibration_error(truth, predicted, confidence, np.array([], dtype=int), "paper")
    assert found == pytest.approx(gaps / 5, abs=1e-6)
    without = calibration_error(truth, predicted, confidence, np.array([5]), "unlabelled")
    assert without == pytest.approx((gaps - 1.0) / 4, abs=1e-6)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60))
def test_calibration_error_equals_a_loop_over_bins(seed: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    truth, predicted = generator.integers(0, 3, n), generator.integers(0, 3, n)
    confidence = generator.choice([0.0, 0.5, 0.665, 0.668, 0.93, 0.94, 0.999, 1.0, *generator.random(4)], n)
    confidence = confidence.astype(np.float32)
    expected = 0.0
    for low in range(15):
        inside = (confidence * 15.0 >= low) & ((confidence * 15.0 < low + 1) | (low == 14))
        if inside.any():
            gap = np.mean(truth[inside] == predicted[inside]) - confidence[inside].astype(float).mean()
            expected += inside.mean() * abs(gap)
    found = calibration_error(truth, predicted, confidence, np.array([], dtype=int), "paper")
    assert found == pytest.approx(expected, abs=1e-6)
