"""Text read as numbers, dates and lists, and columns whose values allow two readings."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.features.parsing import (
    ParsedColumn,
    as_text,
    is_blank,
    is_missing,
    is_no_class,
    plain_array,
    read_dates,
    read_lists,
    read_numbers,
)

DAY = 86_400


def numbers(*texts: str | None, decimal: str | None = None, force: bool = False) -> ParsedColumn:
    return read_numbers(pa.array(texts, pa.string()), decimal, force=force)


def dates(*texts: str | None, form: str | None = None) -> ParsedColumn:
    return read_dates(pa.array(texts, pa.string()), form)


def seconds(*days: str) -> list[float]:
    return [dt.datetime.fromisoformat(day).replace(tzinfo=dt.UTC).timestamp() for day in days]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-1.5", -1.5),
        ("+3", 3),
        (" 7 ", 7),
        ("1e3", 1000),
        (".5", 0.5),
        ("5.", 5),
        ("1,234.50", 1234.5),
        ("1.234,50", 1234.5),
        ("12,5", 12.5),
        ("1,234,567", 1_234_567),
        ("1.234.567", 1_234_567),
        ("12,34,567.5", 1_234_567.5),
        ("1'234.5", 1234.5),
        ("1 234,5", 1234.5),
        ("1\u00a0234,5", 1234.5),
        ("1\u202f234.5", 1234.5),
        ("−2.5", -2.5),
        ("$1,234.50", 1234.5),
        ("-$5.25", -5.25),
        ("€ 12,50", 12.5),
        ("12,50 €", 12.5),
        ("12.50 EUR", 12.5),
        ("CHF 1'250.75", 1250.75),
        ("12.5 %", 0.125),
        ("12,5%", 0.125),
    ],
)
def test_number_is_read_as_written(text: str, value: float) -> None:
    parsed = numbers(text, "1")
    assert parsed.values.tolist() == pytest.approx([value, 1])
    assert not parsed.unread.any()
    assert not parsed.is_ambiguous


@pytest.mark.parametrize("text", ["seventy", "1 2 3", "12 kg", "1.2.3", "--5", "€", "1,2,3", "12-13", "0x10", "1_000"])
def test_other_text_is_unread(text: str) -> None:
    parsed = numbers("1", text, "2,5")
    assert np.isnan(parsed.values[1])
    assert parsed.unread.tolist() == [False, True, False]


@pytest.mark.parametrize("text", [None, "", "n/a", "NaN", "unknown", "-", "?", "#DIV/0!", "inf", "-Infinity"])
def test_missing_number_is_not_unread(text: str | None) -> None:
    parsed = numbers("1", text, "2,5")
    assert np.isnan(parsed.values[1])
    assert not parsed.unread.any()


@pytest.mark.parametrize(("texts", "form"), [(("1.234", "2,5"), ","), (("1,234", "2.5"), ".")])
def test_values_that_show_the_decimal_mark_decide_for_the_others(texts: tuple[str, ...], form: str) -> None:
    for decimal in (None, ".", ","):
        parsed = numbers(*texts, decimal=decimal)
        assert (parsed.values.tolist(), parsed.form, parsed.is_ambiguous) == ([1234, 2.5], form, False)


@pytest.mark.parametrize(("text", "point", "comma"), [("1.234", 1.234, 1234), ("1,234", 1234, 1.234)])
def test_decimal_decides_where_values_allow_two_readings(text: str, point: float, comma: float) -> None:
    assert numbers(text, "162").is_ambiguous
    assert numbers(text, "162").values.tolist() == [point, 162]
    for decimal, value in ((".", point), (",", comma)):
        parsed = numbers(text, "162", decimal=decimal)
        assert parsed.values.tolist() == [value, 162]
        assert not parsed.is_ambiguous


def test_forced_mark_reads_each_value_independently_of_the_others() -> None:
    texts = ["1.234", "3.5", "2,5", "1,234", "7"]
    whole = numbers(*texts, decimal=",", force=True).values
    assert whole.tolist() == [1234, 3.5, 2.5, 1.234, 7]
    assert [numbers(text, decimal=",", force=True).values[0] for text in texts] == whole.tolist()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=20))
def test_numbers_as_python_writes_them_are_read_back(values: list[float]) -> None:
    parsed = numbers(*map(repr, values), decimal=".")
    np.testing.assert_allclose(parsed.values, values, rtol=1e-12)


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([1, None], pa.int8()), [1, np.nan]),
        (pa.array([True, False]), [1, 0]),
        (pa.array([1.5, float("inf")]), [1.5, np.nan]),
        (pa.array([1, 2], pa.duration("ms")), [0.001, 0.002]),
        (pa.array([60, 61], pa.time32("s")), [60, 61]),
        (plain_array(pa.array([1, 2]).cast(pa.decimal128(22, 2))), [1, 2]),
        (plain_array(pa.chunked_array([["1"], ["2.5"]]).dictionary_encode()), [1, 2.5]),
        (plain_array(pa.array(["1", "2"], pa.string_view())), [1, 2]),
        (plain_array(pa.chunked_array([], pa.int64())), []),
    ],
)
def test_typed_columns_are_numbers(array: pa.Array, values: list[float]) -> None:
    np.testing.assert_array_equal(read_numbers(array).values, values)


def test_lists_and_dates_are_not_numbers() -> None:
    for parsed in (
        read_numbers(pa.array([[1], None])),
        read_numbers(pa.array([dt.date(2020, 1, 1), None])),
        read_dates(pa.array([1, None])),
        read_dates(pa.array(["red", None])),
    ):
        assert np.isnan(parsed.values).all()
        assert parsed.unread.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2020-04-03", ""),
        ("2020/04/03", ""),
        ("2020-04-03T00:00:00Z", ""),
        ("03.04.2020", "%d.%m.%Y"),
        ("3.4.2020 00:00", "%d.%m.%Y"),
        ("03-04-2020", "%d-%m-%Y"),
        ("3 Apr 2020", "%d %b %Y"),
        ("Apr 3, 2020", "%b %d, %Y"),
        ("03-APR-2020", "%d-%b-%Y"),
        ("3 April 2020", "%d %B %Y"),
        ("April 3, 2020", "%B %d, %Y"),
        ("03.04.20", "%d.%m.%y"),
        ("03-Apr-20", "%d-%b-%y"),
    ],
)
def test_date_is_read_as_written(text: str, form: str) -> None:
    parsed = dates(text, None)
    assert parsed.values[0] == seconds("2020-04-03")[0]
    assert parsed.form == form or {parsed.form, form} <= {"%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"}
    assert not parsed.unread.any()


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
    parsed = dates(*texts)
    assert (parsed.values.tolist(), parsed.is_ambiguous) == (seconds(*days), is_ambiguous)


def test_iso_dates_are_read_next_to_another_form() -> None:
    parsed = dates("2020-01-31", "04/05/2020", "soon", form="%m/%d/%Y")
    assert parsed.values[:2].tolist() == seconds("2020-01-31", "2020-04-05")
    assert parsed.unread.tolist() == [False, False, True]


@pytest.mark.parametrize("texts", [["1.2.0", "1.3.1"], ["2020-13-45"], ["1-2-3"], ["5 apples"]])
def test_versions_and_other_texts_are_not_dates(texts: list[str]) -> None:
    assert not read_dates(pa.array(texts)).is_mostly_read


def test_typed_dates_are_seconds() -> None:
    for array in (pa.array([dt.date(1970, 1, 2), None]), pa.array([DAY * 10**9, None], pa.timestamp("ns", "UTC"))):
        np.testing.assert_array_equal(read_dates(array).values, [DAY, np.nan])


@pytest.mark.parametrize(
    ("array", "lists"),
    [
        (pa.array(["[1, 2.5]", "[3 4]", "[.5;1e1]", None]), [[1, 2.5], [3, 4], [0.5, 10], None]),
        (pa.array(["1;0;0", "0; 1 ;0", "n/a"]), [[1, 0, 0], [0, 1, 0], None]),
        (pa.array(['["a", "b c"]', "[d]", "[]"]), [["a", "b c"], ["d"], []]),
        (pa.array([[1, 2], None]), [[1, 2], None]),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)), [[1, 2], [3, 4]]),
        (pa.array([["a"], []], pa.large_list(pa.large_string())), [["a"], []]),
        (pa.array(["a;b", "c"]), None),
        (pa.array([1, 2]), None),
        (pa.array([[{"a": 1}]]), None),
    ],
)
def test_lists_are_read(array: pa.Array, lists: list[object] | None) -> None:
    found = read_lists(array)
    assert (None if found is None else found.to_pylist()) == lists


def test_text_of_whole_numbers_has_no_point() -> None:
    for kind in (pa.float64(), pa.float32(), pa.float16(), pa.int8()):
        assert as_text(pa.array([2, None], kind)).to_pylist() == ["2", None]
    assert as_text(pa.array([1.5, 2.0])).to_pylist() == ["1.5", "2"]
    assert as_text(pa.array([[1]])) is None
    assert as_text(pa.array([b"\xff"])) is None


def test_words_for_nothing() -> None:
    texts = pa.array(["NA", " n/a ", "x", None])
    assert is_missing(texts).to_pylist() == [True, True, False, True]
    assert is_blank(texts).to_pylist() == [False, True, False, True]
    assert [name for name in ("None", "none", "", "NaN", 0, None) if is_no_class(name)] == ["None", "", "NaN"]
