"""Scores, compared with scikit-learn and with a loop over the bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from featprop.experiments.protocol import score
from featprop.graph import UNKNOWN


def loop_over_bins(right: np.ndarray, confidence: np.ndarray) -> float:
    error = 0.0
    for low in range(15):
        inside = (confidence * 15.0 >= low) & ((confidence * 15.0 < low + 1) | (low == 14))
        if inside.any():
            error += inside.mean() * abs(right[inside].mean() - confidence[inside].astype(float).mean())
    return error


@given(seed=st.integers(0, 10_000), classes=st.integers(1, 6), n=st.integers(4, 40))
@settings(max_examples=40)
def test_equals_scikit_learn_and_a_loop_over_bins(seed: int, classes: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    truth, predicted = generator.integers(0, classes, n), generator.integers(0, classes + 2, n)
    confidence = generator.choice([0.0, 0.5, 0.665, 0.668, 0.93, 0.94, 0.999, 1.0], n).astype(np.float32)
    pool = generator.choice(n, size=2, replace=False)
    others = np.setdiff1d(np.arange(n), pool)
    for protocol, counted in (("paper", np.arange(n)), ("unlabelled", others)):
        right, answer = truth[counted], predicted[counted]
        assert score(truth, predicted, confidence, pool, protocol) == {
            "macro_f1": pytest.approx(f1_score(right, answer, average="macro", zero_division=0)),
            "micro_f1": pytest.approx(f1_score(right, answer, average="micro", zero_division=0)),
            "accuracy": pytest.approx(accuracy_score(right, answer)),
            "calibration_error": pytest.approx(loop_over_bins(right == answer, confidence[counted]), abs=1e-6),
        }


def test_calibration_error_of_six_nodes() -> None:
    truth = np.array([0, 0, 1, 1, UNKNOWN, 0])
    predicted = np.array([0, 1, 1, 1, 0, 1])
    confidence = np.array([0.90, 0.91, 0.60, 0.62, 0.99, 1.0], dtype=np.float32)
    # in the bin of 0.9 one of two is right, in that of 0.6 both are, in that of 1.0 none is
    gaps = abs(1 - 1.81) + abs(2 - 1.22) + abs(0 - 1.0)
    pool = np.array([5])
    found = [score(truth, predicted, confidence, pool, each)["calibration_error"] for each in ("paper", "unlabelled")]
    assert found == pytest.approx([gaps / 5, (gaps - 1.0) / 4], abs=1e-6)
