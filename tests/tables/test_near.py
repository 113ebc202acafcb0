"""Ids that miss by the way they are written."""

from collections.abc import Hashable

import pytest

from featprop.tables.near import did_you_mean, near_ids


@pytest.mark.parametrize(
    ("unknown", "known"),
    [
        ("161.0", 161),
        (161.0, "161"),
        ("161.", "161"),
        ("161,0", "161"),
        ("0161", 161),
        ("161", "0161"),
        ("+161", 161),
        ("-161.0", -161),
        (" a ", "a"),
        ("'a'", "a"),
        ("“a”", "a"),
        ("\ufeffa", "a"),
        ("Ann", "ann"),
        ("N001", "n1"),
        ("node-7", "node_7"),
        ("node 07", "Node7"),
        ("7-8", "7_8"),
        ("custmer", "customer"),
    ],
)
def test_the_id_that_was_meant(unknown: Hashable, known: Hashable) -> None:
    assert near_ids([unknown], ["other", known, 999_999]) == {unknown: known}


@pytest.mark.parametrize(
    ("unknown", "known"),
    [
        ("162", ["161", "163"]),
        ("1612", [161, 1613]),
        ("-161", [161]),
        ("07", ["7", "007"]),
        ("x", []),
        ("anything", ["other"]),
        ("161.5", [161]),
    ],
)
def test_none_or_several_are_not_guessed(unknown: Hashable, known: list[Hashable]) -> None:
    assert near_ids([unknown], known) == {}


def test_the_closest_writing_wins() -> None:
    assert near_ids([" A7 ", "a07"], ["A7", "a7", "a007"]) == {" A7 ": "A7"}
    assert near_ids(["ANN "], ["ann", "an-n"]) == {"ANN ": "ann"}


def test_many_ids_are_told_apart() -> None:
    known = range(200_000)
    near = near_ids([f"{node}.0" for node in known] + [f"name{node}" for node in range(1_000)], known)
    assert near == {f"{node}.0": node for node in known}


@pytest.mark.parametrize(
    ("unknown", "ids", "advice"),
    [
        (["161.0"], [160, 161], "did you mean 161?"),
        ([" 161"], [160, 161], "did you mean 161?"),
        (["0161"], [160, 161], "did you mean 161?"),
        (["0161.0"], ["161"], "did you mean '161'?"),
        ([161], ["0161"], "did you mean '0161'?"),
        (["ann"], ["Ann", "Bob"], "did you mean 'Ann'?"),
        ([None, "161.0"], [161], "did you mean 161 for '161.0'?"),
        (["1.0", "x", "2.0"], [1, 2], "did you mean 1 for '1.0', 2 for '2.0'?"),
        (
            ["1.0", "2.0", "3.0", "4.0"],
            [1, 2, 3, 4],
            "did you mean 1 for '1.0', 2 for '2.0', 3 for '3.0', …?",
        ),
        (["q"], [1, 2], None),
        ([None], ["None"], None),
    ],
)
def test_advice_on_ids(unknown: list[Hashable], ids: list[Hashable], advice: str | None) -> None:
    assert did_you_mean(unknown, ids) == advice
