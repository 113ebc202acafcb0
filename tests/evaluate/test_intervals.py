"""Wilson intervals, against statsmodels and simulation."""

import numpy as np
import pytest

from featprop.errors import ParameterError
from featprop.evaluate import wilson_interval
from tests.helpers import raises


def test_wilson_by_hand() -> None:
    # 8 of 10 at 95 %: (0.8 + 0.19207 ± 1.95996 sqrt(0.016 + 0.0096036)) / 1.384146
    found = wilson_interval(0.8, 10, 0.95)
    assert (found.value, found.level) == (0.8, 0.95)
    assert (found.low, found.high) == pytest.approx((0.49016, 0.94331), abs=2e-5)


@pytest.mark.parametrize(("truth", "count"), [(0.5, 30), (0.8, 30), (0.9, 30), (0.95, 100)])
def test_wilson_coverage(truth: float, count: int) -> None:
    drawn = np.random.default_rng(0).binomial(count, truth, 4000) / count
    held = np.mean([wilson_interval(share, count).contains(truth) for share in drawn])
    assert 0.86 <= held <= 0.97


@pytest.mark.parametrize(("share", "count"), [(1.2, 10), (-0.1, 10), (0.5, 0)])
def test_invalid_shares_and_counts_are_refused(share: float, count: float) -> None:
    fields = {"parameter": "count", "value": count} if count <= 0 else {"parameter": "share", "value": share}
    with raises(ParameterError, **fields):
        wilson_interval(share, count)
