"""Names written in several ways."""

import pytest

from featprop.spelling import closest, normalize_label


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OK", " ok "),
        (1, "1.0"),
        ("1.50", "1.5"),
        ("Don’t  know", "don't know"),
        ("-2.00", -2),
        ("pru\u0308fen", "PRÜFEN"),
    ],
)
def test_one_name_in_two_ways(one: object, other: object) -> None:
    assert normalize_label(one) == normalize_label(other)


@pytest.mark.parametrize(("one", "other"), [("007", 7), ("007", "7.0"), ("1.05", "1.5"), ("10", "1.0"), ("a b", "ab")])
def test_two_names(one: object, other: object) -> None:
    assert normalize_label(one) != normalize_label(other)


def test_the_closest_name() -> None:
    assert closest("FRUED", ["ok", "fraud"]) == "fraud"
    assert closest("spam!", ["spam", "fraud"]) == "spam"
    assert closest("zebra", ["ok", "fraud"]) is None
