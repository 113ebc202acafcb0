"""Text read as numbers, dates and lists, and columns whose values allow two readings."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.features.parsing import (
    BLANKS,
    as_text,
    find_date_form,
    find_decimal_mark,
    has_value,
    is_missing,
    is_mostly_read,
    is_no_class,
    plain_array,
    read_dates,
    read_lists,
    read_numbers,
)

DAY = 86_400


def numbers(*texts: str | None, decimal: str | None = None) -> list[float]:
    column = pa.array(texts, pa.string())
    return read_numbers(column, find_decimal_mark(column, decimal).text).tolist()


def dates(*texts: str | None) -> list[float]:
    column = pa.array(texts, pa.string())
    return read_dates(column, find_date_form(column).text).tolist()


def seconds(*days: str) -> list[float]:
    return [dt.datetime.fromisoformat(day).replace(tzinfo=dt.UTC).timestamp() for day in days]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1.5", -1.5),
        ("+3", 3),
        ("1e3", 1000),
        (".5", 0.5),
        ("1,234.50", 1234.5),
        ("1.234,50", 1234.5),
        ("12,5", 12.5),
        ("12,34,567.5", 1_234_567.5),
        ("1'234.5", 1234.5),
        ("1\u202f234,5", 1234.5),
        ("−2.5", -2.5),
        ("-$5.25", -5.25),
        ("€ 12,50", 12.5),
        ("12,5%", 0.125),
    ],
)
def test_number_is_read_as_written(text: str, value: float) -> None:
    assert numbers(text, "1") == pytest.approx([value, 1])
    assert not find_decimal_mark(pa.array([text, "1"])).is_ambiguous


@pytest.mark.parametrize("text", ["seventy", "1 2 3", "12 kg", "1.2.3", "--5", "€", "1,2,3", "12-13", "0x10", "1_000"])
def test_other_text_is_no_number(text: str) -> None:
    column = pa.array(["1", text, "2,5"])
    assert np.isnan(read_numbers(column)).tolist() == [False, True, False]
    assert not is_mostly_read(read_numbers(column), column)


@pytest.mark.parametrize("text", [None, "", "n/a", "NaN", "unknown", "-", "?", "#DIV/0!", "inf", "-Infinity"])
def test_words_for_nothing_are_missing_numbers(text: str | None) -> None:
    column = pa.array(["1", text, "2,5"])
    assert np.isnan(read_numbers(column)).tolist() == [False, True, False]
    assert has_value(column).tolist() == [True, False, True]
    assert is_mostly_read(read_numbers(column), column)


@pytest.mark.parametrize(("texts", "mark"), [(("1.234", "2,5"), ","), (("1,234", "2.5"), ".")])
def test_values_that_show_the_decimal_mark_decide_for_the_others(texts: tuple[str, ...], mark: str) -> None:
    for decimal in (None, ".", ","):
        assert find_decimal_mark(pa.array(texts), decimal) == (mark, False)
        assert numbers(*texts, decimal=decimal) == [1234, 2.5]


@pytest.mark.parametrize(("text", "point", "comma"), [("1.234", 1.234, 1234), ("1,234", 1234, 1.234)])
def test_decimal_decides_where_values_allow_two_readings(text: str, point: float, comma: float) -> None:
    assert find_decimal_mark(pa.array([text, "162"])).is_ambiguous
    assert numbers(text, "162") == numbers(text, "162", decimal=".") == [point, 162]
    assert numbers(text, "162", decimal=",") == [comma, 162]
    assert not find_decimal_mark(pa.array([text, "162"]), ",").is_ambiguous


def test_each_number_is_read_independently_of_the_others() -> None:
    texts = ["1.234", "3.5", "2,5", "1,234", "7"]
    whole = read_numbers(pa.array(texts), ",").tolist()
    assert whole == [1234, 3.5, 2.5, 1.234, 7]
    assert [read_numbers(pa.array([text]), ",")[0] for text in texts] == whole


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=20))
def test_numbers_as_python_writes_them_are_read_back(values: list[float]) -> None:
    np.testing.assert_allclose(numbers(*map(repr, values), decimal="."), values, rtol=1e-12)


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([1, None], pa.int8()), [1, np.nan]),
        (pa.array([True, False]), [1, 0]),
        (pa.array([1.5, float("inf")]), [1.5, np.nan]),
        (plain_array(pa.array([1, 2], pa.duration("ms"))), [0.001, 0.002]),
        (plain_array(pa.array([60, 61], pa.time32("s"))), [60, 61]),
        (plain_array(pa.array([1, 2]).cast(pa.decimal128(22, 2))), [1, 2]),
        (plain_array(pa.chunked_array([["1"], ["2.5"]]).dictionary_encode()), [1, 2.5]),
        (plain_array(pa.array(["1", "2"], pa.string_view())), [1, 2]),
        (plain_array(pa.chunked_array([], pa.int64())), []),
        (pa.array([[1], None]), [np.nan, np.nan]),
        (pa.array([dt.date(2020, 1, 1)]), [np.nan]),
    ],
)
def test_numbers_of_typed_columns(array: pa.Array, values: list[float]) -> None:
    np.testing.assert_array_equal(read_numbers(array), values)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2020-04-03", ""),
        ("2020-04-03T00:00:00Z", ""),
        ("03.04.2020", "%d.%m.%Y"),
        ("03-04-2020", "%d-%m-%Y"),
        ("3 Apr 2020", "%d %b %Y"),
        ("Apr 3, 2020", "%b %d, %Y"),
        ("03-APR-2020", "%d-%b-%Y"),
        ("April 3, 2020", "%B %d, %Y"),
    ],
)
def test_date_is_read_as_written(text: str, form: str) -> None:
    assert dates(text, None)[0] == seconds("2020-04-03")[0]
    assert find_date_form(pa.array([text])).text.lower() == form.lower()


@pytest.mark.parametrize(
    ("texts", "days", "is_ambiguous"),
    [
        (("01/02/2020", "03/04/2020"), ("2020-02-01", "2020-04-03"), True),
        (("01/02/2020", "03/14/2020"), ("2020-01-02", "2020-03-14"), False),
        (("14/02/2020", "03/04/2020"), ("2020-02-14", "2020-04-03"), False),
        (("1/2/2020 3:04 PM", "1/13/2020 3:04 AM"), ("2020-01-02T15:04", "2020-01-13T03:04"), False),
        (("2020-01-31", "03/25/2020"), ("2020-01-31", "2020-03-25"), False),
        (("2020-01-02 10:30:15",), ("2020-01-02T10:30:15",), False),
    ],
)
def test_days_come_before_months_unless_a_value_shows_otherwise(
    texts: tuple[str, ...], days: tuple[str, ...], is_ambiguous: bool
) -> None:
    assert dates(*texts) == seconds(*days)
    assert find_date_form(pa.array(texts)).is_ambiguous == is_ambiguous


@pytest.mark.parametrize("text", ["1.2.0", "2020-13-45", "1-2-3", "5 apples", "03.04.20", "red"])
def test_versions_and_other_texts_are_not_dates(text: str) -> None:
    assert np.isnan(dates(text)).all()
    assert np.isnan(read_dates(pa.array([text]), "%d.%m.%Y")).all()


def test_typed_dates_are_seconds() -> None:
    for array in (pa.array([dt.date(1970, 1, 2), None]), pa.array([DAY * 10**9, None], pa.timestamp("ns", "UTC"))):
        np.testing.assert_array_equal(read_dates(array), [DAY, np.nan])
    assert np.isnan(read_dates(pa.array([1]))).all()


@pytest.mark.parametrize(
    ("array", "lists"),
    [
        (pa.array(["[1, 2.5]", "[3 4]", "[.5;1e1]", None]), [[1, 2.5], [3, 4], [0.5, 10], None]),
        (pa.array(["1;0;0", "0; 1 ;0", "n/a"]), [[1, 0, 0], [0, 1, 0], None]),
        (pa.array(['["a", "b c"]', "[d]", "[]"]), [["a", "b c"], ["d"], []]),
        (pa.array([[1, 2], None]), [[1, 2], None]),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)), [[1, 2], [3, 4]]),
        (pa.array([["a"], []], pa.large_list(pa.large_string())), [["a"], []]),
        (pa.array(["a;b", "c"]), [None, None]),
        (pa.array([1, 2]), [None, None]),
        (pa.array([[{"a": 1}]]), [None]),
    ],
)
def test_lists_are_read(array: pa.Array, lists: list[object]) -> None:
    assert read_lists(array).to_pylist() == lists


def test_text_of_whole_numbers_has_no_point() -> None:
    for kind in (pa.float64(), pa.float32(), pa.float16(), pa.int8()):
        assert as_text(pa.array([2, None], kind)).to_pylist() == ["2", None]
    assert as_text(pa.array([1.5, 2.0, -0.0])).to_pylist() == ["1.5", "2", "0"]
    assert as_text(pa.array([[1]])) is None
    assert as_text(pa.array([b"\xff"])) is None


def test_words_for_nothing() -> None:
    texts = pa.array(["NA", " n/a ", "x", None])
    assert is_missing(texts).to_pylist() == [True, True, False, True]
    assert is_missing(texts, BLANKS).to_pylist() == [False, True, False, True]
    assert [name for name in ("None", "none", "", "NaN", 0, None) if is_no_class(name)] == ["None", "", "NaN"]
