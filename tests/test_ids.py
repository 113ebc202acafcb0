"""Ids and class names: JSON keeps value and type, and spellings of one name are recognised."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.errors import LabelError, ParameterError
from featprop.ids import (
    closest,
    from_jsonable,
    match_labels,
    name_from_text,
    name_to_text,
    normalize_label,
    to_jsonable,
)
from tests.helpers import raises

PLAIN = st.one_of(
    st.text(),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.dates(),
    st.datetimes(),
)
NAMES = st.recursive(PLAIN, lambda names: st.tuples(names, names))


@given(NAMES)
def test_json_round_trip(name: object) -> None:
    again = name_from_text(name_to_text(name))
    assert again == name
    assert type(again) is type(name)
    assert name_to_text(again) == name_to_text(name)


def test_equal_names_of_different_types_have_different_texts() -> None:
    assert len({name_to_text(name) for name in (1, 1.0, True, "1", (1,))}) == 5


def test_json_types_stand_for_themselves() -> None:
    assert [to_jsonable(name) for name in ("a", 1, 1.5, None)] == ["a", 1, 1.5, None]
    assert [to_jsonable(name) for name in (np.int64(3), np.str_("x"), np.float32(0.5))] == [3, "x", 0.5]
    assert to_jsonable((dt.date(2026, 11, 16), 1)) == {"tuple": [{"date": "2026-11-16"}, 1]}


@pytest.mark.parametrize("name", [object(), [1], {"a": 1}, 1j, b"a", frozenset({1})])
def test_other_types_are_refused(name: object) -> None:
    with raises(ParameterError, value=name):
        to_jsonable(name)


@pytest.mark.parametrize("text", ['{"list": [1]}', "[1]", '{"tuple": [1], "date": 2}', '{"date": "no"}', "{}"])
def test_damaged_json(text: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        from_jsonable(json.loads(text))


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
def test_spellings_of_one_name(one: object, other: object) -> None:
    assert normalize_label(one) == normalize_label(other)
    for near, far in [("007", 7), ("1.05", "1.5"), ("10", "1.0"), ("a b", "ab")]:
        assert normalize_label(near) != normalize_label(far)


def test_closest_name() -> None:
    assert closest("FRUED", ["ok", "fraud"]) == "fraud"
    assert closest("spam!", ["spam", "fraud"]) == "spam"
    assert closest("zebra", ["ok", "fraud"]) is None


def test_labels_are_matched_by_position() -> None:
    assert match_labels(["b", "a"], ["x", "y"], ["b", "a"]) == ["x", "y"]
    labels = pd.Series(["x", "y"], index=["a", "b"])
    assert match_labels(["a", "b"], labels, ["a", "b"]) == ["x", "y"]
    assert match_labels(["p", "q"], labels, ["p", "q"]) == ["x", "y"]
    assert match_labels(pd.Series(["b", "a"], index=["a", "b"]), labels, ["b", "a"]) == ["x", "y"]
    with raises(LabelError, parameter="labels"):
        match_labels(["b", "a"], labels, ["b", "a"])


def test_labels_of_a_mapping_are_matched_by_node() -> None:
    labels = {"a": "x", "b": np.int64(7), "c": "z"}
    assert match_labels([True, True], labels, np.array(["b", "a"], dtype=object)) == [7, "x"]
    with raises(LabelError, parameter="labels", node="q"):
        match_labels(["a", "q"], labels, ["a", "q"])
