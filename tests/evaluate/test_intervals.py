"""Intervals: Wilson's against statsmodels' figures and against simulation."""

import numpy as np
import pytest

from featprop.errors import ParameterError
from featprop.evaluate import Interval, wilson


def test_wilson_by_hand() -> None:
    # 8 of 10 at 95 %: (0.8 + 0.19207 ± 1.95996 sqrt(0.016 + 0.0096036)) / 1.384146
    found = wilson(0.8, 10, 0.95)
    assert (found.value, found.level) == (0.8, 0.95)
    assert (found.low, found.high) == pytest.approx((0.49016, 0.94331), abs=2e-5)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_wilson_of_none_or_all_is_an_interval(share: float) -> None:
    found = wilson(share, 20)
    assert 0 <= found.low < found.high <= 1
    assert found.holds(share)


@pytest.mark.parametrize(("truth", "count"), [(0.5, 30), (0.8, 30), (0.9, 30), (0.95, 100)])
def test_wilson_holds_as_often_as_it_says(truth: float, count: int) -> None:
    drawn = np.random.default_rng(0).binomial(count, truth, 4000) / count
    held = np.mean([wilson(share, count).holds(truth) for share in drawn])
    assert 0.86 <= held <= 0.97


def test_more_draws_make_it_narrower() -> None:
    widths = [wilson(0.7, count).width for count in (10, 40, 160, 640)]
    assert widths == sorted(widths, reverse=True)
    assert widths[3] == pytest.approx(widths[2] / 2, rel=0.02)


def test_in_words() -> None:
    assert str(Interval(0.8, 0.7, 0.9)) == "80% (70 to 90%)"


@pytest.mark.parametrize(("share", "count"), [(1.2, 10), (-0.1, 10), (0.5, 0)])
def test_what_is_no_share_is_refused(share: float, count: float) -> None:
    with pytest.raises(ParameterError):
        wilson(share, count)
