import datetime as dt
from typing import Any

import pytest

from featprop.web.common.formatting import format_date, format_number, format_range, written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1995.0, "1995"), (-3.0, "-3"), (1234567.0, "1,234,567"), (0.1, "0.1"), (1234.5678, "1,234.57"),
        (1e-7, "1.00000e-07"), (3e20, "3.00000e+20"), (0.000123456789, "0.000123457"), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_numbers(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (dt.date(2019, 3, 4), "4 March 2019"),
        (dt.datetime(2019, 3, 4), "4 March 2019"),
        (dt.datetime(2019, 3, 4, 15, 20), "4 March 2019, 15:20"),
        (dt.datetime(2019, 3, 4, 15, 20, 7, tzinfo=dt.UTC), "4 March 2019, 15:20:07 UTC"),
    ],
)
def test_dates(value: dt.date, text: str) -> None:
    assert format_date(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "yes"), (False, "no"), (12345678, "12345678"), (7.0, "7"), (7.25, "7.25"),
        (b"abc", "3 bytes"),
        (["a", None, "b"], "a, , b"), ({"x": 1, "y": dt.date(2020, 1, 2)}, "x: 1, y: 2 January 2020"),
    ],
)  # fmt: skip
def test_other_values(value: Any, text: str) -> None:
    assert written(value) == text


def test_spans() -> None:
    assert format_range([0.5, -2, 3]) == "3 numbers from -2 to 3"
    assert format_range([1.5]) == "1 number from 1.5 to 1.5"
    assert format_range([]) == "0 numbers"
