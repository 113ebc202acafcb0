"""Names as JSON keep value and type."""

import datetime as dt
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.errors import ParameterError
from featprop.names import from_jsonable, name_from_text, name_to_text, to_jsonable

PLAIN = st.one_of(
    st.text(),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.binary(max_size=8),
)
NAMES = st.recursive(PLAIN, lambda names: st.one_of(st.tuples(names, names), st.frozensets(PLAIN, max_size=3)))


@given(NAMES)
def test_what_goes_in_comes_back(name: object) -> None:
    again = name_from_text(name_to_text(name))
    assert again == name
    assert type(again) is type(name)
    assert name_to_text(again) == name_to_text(name)


def test_names_that_are_equal_in_python_and_differ_in_type_have_other_texts() -> None:
    assert len({name_to_text(name) for name in (1, 1.0, True, "1", (1,))}) == 5


def test_what_json_has_is_itself() -> None:
    assert [to_jsonable(name) for name in ("a", 1, 1.5, None)] == ["a", 1, 1.5, None]
    assert [to_jsonable(name) for name in (np.int64(3), np.str_("x"), np.float32(0.5))] == [3, "x", 0.5]
    assert to_jsonable((dt.date(2026, 11, 16), 1)) == {"tuple": [{"date": "2026-11-16"}, 1]}


@pytest.mark.parametrize("name", [object(), [1], {"a": 1}, 1j])
def test_other_things_are_no_names(name: object) -> None:
    with pytest.raises(ParameterError, match="must be text, numbers, dates or tuples; found"):
        to_jsonable(name)


@pytest.mark.parametrize("text", ['{"list": [1]}', "[1]", '{"tuple": [1], "date": 2}', '{"date": "no"}', "{}"])
def test_damaged_names(text: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        from_jsonable(json.loads(text))
