"""Numbers, whatever they are written like."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.tables.numbers import Numbers, are_enough, are_most, decimal_comma, numbers_in, numbers_of

nan = float("nan")


def read(texts: list[str | None], comma: bool | None = None, *, padded: bool = False) -> Numbers:
    found = numbers_in(pa.array(texts, pa.string()), comma, padded=padded)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (pa.array([1, 2], pa.int8()), [1, 2]),
        (pa.array([True, False]), [1, 0]),
        (pa.array([0.5, None]), [0.5, np.nan]),
        (pa.array([2**63, 2], pa.uint64()), [2.0**63, 2]),
        (pa.array([1, 2]).cast(pa.decimal128(21, 2)), [1, 2]),
        (pa.array([1.5, None], pa.float16()), [1.5, np.nan]),
        (pa.array([1, 2]).cast(pa.decimal256(40, 2)), [1, 2]),
        (pa.array([90, None], pa.duration("s")), [90, np.nan]),
        (pa.array([1_500, None], pa.duration("ms")), [1.5, np.nan]),
        (pa.array([1_500_000, 250_000], pa.duration("us")), [1.5, 0.25]),
        (pa.array([1_500_000_000, -1], pa.duration("ns")), [1.5, -1e-9]),
        (pa.array([3600, 61], pa.time32("s")), [3600, 61]),
        (pa.array([3_600_000, 500], pa.time32("ms")), [3600, 0.5]),
        (pa.array([3_600_000_000, 500_000], pa.time64("us")), [3600, 0.5]),
        (pa.array([3_600_000_000_000, None], pa.time64("ns")), [3600, np.nan]),
    ],
)
def test_numbers_of_arrow(values: pa.Array, numbers: list[float]) -> None:
    found = numbers_of(values)
    assert found is not None
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize("values", [pa.array(["1"]), pa.array([[1.0]]), pa.array([None]), pa.array([0], pa.date32())])
def test_what_is_no_number(values: pa.Array) -> None:
    assert numbers_of(values) is None


@pytest.mark.parametrize(
    ("texts", "numbers", "how"),
    [
        (["1", "2.5", "-3e2", "+4", ".5", "6."], [1, 2.5, -300, 4, 0.5, 6], ()),
        ([" 1 ", "\t2", "\u00a03\u00a0"], [1, 2, 3], ()),
        (["3,5", "4", "-0,25", ",5"], [3.5, 4, -0.25, 0.5], ("decimal comma",)),
        (["1,234.56", "12", "1,234,567"], [1234.56, 12, 1234567], ("thousands separators",)),
        (["1.234,56", "12,5", "1.234"], [1234.56, 12.5, 1234], ("decimal comma", "thousands separators")),
        (["1.234.567", "1.000"], [1234567, 1000], ("thousands separators",)),
        (
            ["1 234,56", "1\u00a0234", "1\u202f234,5"],
            [1234.56, 1234, 1234.5],
            ("decimal comma", "thousands separators"),
        ),
        (["1'234.5", "12’345"], [1234.5, 12345], ("thousands separators",)),
        (["12,34,567.5", "1,000"], [1234567.5, 1000], ("thousands separators",)),
        (["1,234", "5,678"], [1234, 5678], ("thousands separators",)),
        (["1,234", "5,67"], [1.234, 5.67], ("decimal comma",)),
        (["0,123", "1,234"], [0.123, 1.234], ("decimal comma",)),
        (["1234,567", "1,234"], [1234.567, 1.234], ("decimal comma",)),
        (["€ 12,50", "13 EUR", "7", "-€5", "€ -3,2"], [12.5, 13, 7, -5, -3.2], ("decimal comma", "currency €")),
        (["$1,200", "$1"], [1200, 1], ("thousands separators", "currency $")),
        (["CHF 1'000", "5 Fr."], [1000, 5], ("thousands separators", "currency CHF")),
        (["12 kr", "5 kr."], [12, 5], ("currency kr",)),
        (["¥5", "¥7"], [5, 7], ("currency ¥",)),
        (["12 %", "7%", "0", "-2,5 %"], [0.12, 0.07, 0, -0.025], ("decimal comma", "percent")),
        (["(12.50)", "($3)", "2", "$4"], [-12.5, -3, 2, 4], ("currency $",)),
        (["−5", "–3", "5-", "- 4"], [-5, -3, -5, -4], ()),
    ],
)
def test_numbers_as_people_write_them(texts: list[str], numbers: list[float], how: tuple[str, ...]) -> None:
    found = read(texts)
    np.testing.assert_allclose(found.values, numbers, rtol=1e-15)
    assert found.how == how
    assert found.odd.size == 0


@pytest.mark.parametrize(
    ("texts", "comma", "numbers"),
    [
        (["1,234", "5,678"], True, [1.234, 5.678]),
        (["1,234", "5,678"], False, [1234, 5678]),
        (["1.234", "950"], True, [1234, 950]),
        (["1.234", "950"], None, [1.234, 950]),
        (["3.5", "1.234"], True, [3.5, 1.234]),
        (["3,5", "1,234"], False, [3.5, 1.234]),
    ],
)
def test_a_hint_counts_where_the_values_do_not_tell(texts: list[str], comma: bool | None, numbers: list[float]) -> None:
    assert read(texts, comma).values.tolist() == numbers


def test_missing_words_and_what_is_not_finite_are_missing() -> None:
    words = ["", "NA", "n/a", "NaN", "NULL", "None", "-", "--", "?", ".", "#N/A", "#DIV/0!", " unknown ", "inf", "-Inf"]
    found = read(["1", None, *words, "2"])
    assert found.odd.size == 0
    np.testing.assert_array_equal(found.values, [1, *[nan] * (len(words) + 1), 2])


def test_odd_values_are_named_by_their_place() -> None:
    found = read([*["1"] * 10, "old", None, *["2"] * 10, "12,-"])
    assert found.odd.tolist() == [10, 22]
    assert np.isnan(found.values[[10, 11, 22]]).all()


@pytest.mark.parametrize(
    ("found", "known", "most", "enough"),
    [
        (0, 0, False, False),
        (1, 1, True, True),
        (3, 4, False, False),
        (3, 5, False, False),
        (4, 5, False, True),
        (17, 20, False, False),
        (18, 20, True, True),
    ],
)
def test_nearly_all_or_all_but_one_of_a_few(found: int, known: int, most: bool, enough: bool) -> None:
    assert are_most(found, known) == most
    assert are_enough(found, known) == enough
    assert (numbers_in(pa.array([*["7"] * found, *["word"] * (known - found)], pa.string())) is not None) == enough


@pytest.mark.parametrize(
    "odd", ["3,5", "1.2.3", "12 kg", "12-13", "((5)", "-(5)", "$5%", "€5$", "1 2", "5 000 00", "1e400"]
)
def test_what_is_no_number_among_numbers(odd: str) -> None:
    found = read([*["1.5"] * 10, odd])
    assert found.odd.tolist() == [10]
    assert np.isnan(found.values[10])


@pytest.mark.parametrize(
    ("common", "rare"), [("5 %", "3"), ("5", "3 %"), ("$5", "€3"), ("$5", "3 %"), ("5 %", "$3"), ("3,5 EUR", "3,5 USD")]
)
def test_the_rarer_unit_is_odd(common: str, rare: str) -> None:
    assert read([*[common] * 10, rare]).odd.tolist() == [10]
    assert numbers_in(pa.array([common, rare] * 5)) is None


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "b"],
        [*["1"] * 7, "a", "b"],
        ["2020-01-01", "2020-01-02"],
        ["12.05.2020", "13.05.2020"],
        ["12:30", "13:45"],
        ["192.168.0.1", "10.0.0.1"],
        ["01234", "99999"],
        ["030 123 456", "030 123 457"],
        ["", None],
        ["inf", "nan"],
        [],
    ],
)
def test_words_dates_and_codes_are_no_numbers(texts: list[str | None]) -> None:
    assert numbers_in(pa.array(texts, pa.string())) is None


def test_codes_are_numbers_on_request() -> None:
    assert read(["01234", "99999"], padded=True).values.tolist() == [1234, 99999]


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_every_type_of_text(kind: pa.DataType) -> None:
    found = numbers_in(pa.array(["3,5", None, "4,25"]).cast(kind))
    assert found is not None
    np.testing.assert_array_equal(found.values, [3.5, nan, 4.25])


@pytest.mark.parametrize("values", [pa.array([[1.0]]), pa.array([None]), pa.array([0], pa.date32())])
def test_what_is_no_text(values: pa.Array) -> None:
    assert numbers_in(values) is None
    assert decimal_comma(values) is None


@pytest.mark.parametrize(
    ("texts", "tells"),
    [
        (["3,5"], True),
        (["1.234,5 €"], True),
        (["1,234.5"], False),
        (["3.5"], False),
        (["1,234"], None),
        (["a,b"], None),
    ],
)
def test_what_a_column_tells_the_others_of_its_file(texts: list[str], tells: bool | None) -> None:
    assert decimal_comma(pa.array(texts)) is tells


FRACTION = st.integers(-(10**12), 10**12).map(lambda cents: cents / 100)
SWAP = str.maketrans(",.", ".,")
STYLES: list[Callable[[float], str]] = [
    lambda number: f"{number:.2f}",
    lambda number: repr(number),
    lambda number: f"{number:.17e}",
    lambda number: f"{number:.2f}".replace(".", ","),
    lambda number: f"{number:,.2f}",
    lambda number: f"{number:,.2f}".translate(SWAP),
    lambda number: f"{number:,.2f}".replace(",", " "),
    lambda number: f"{number:,.2f}".replace(",", "\u00a0").replace(".", ","),
    lambda number: f"{number:,.2f}".replace(",", "'"),
    lambda number: f"€ {number:,.2f}".translate(SWAP),
    lambda number: f"{number:,.2f} EUR".translate(SWAP),
    lambda number: f"{'-' if number < 0 else ''}${abs(number):,.2f}",
    lambda number: f"({-number:,.2f})" if number < 0 else f"{number:,.2f}",
    lambda number: f"{number:.2f}".replace("-", "−"),
    lambda number: f"{abs(number):.2f}{'-' if number < 0 else ''}",
    lambda number: f"  {number:.2f}\t",
]


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=25)  # of each style
@given(numbers=st.lists(FRACTION, min_size=1, max_size=8))
def test_what_is_written_in_one_style_reads_back(style: Callable[[float], str], numbers: list[float]) -> None:
    found = read([style(number) for number in numbers])
    assert found.values.tolist() == numbers
    assert found.odd.size == 0


@given(numbers=st.lists(FRACTION, min_size=1, max_size=8))
def test_percent_reads_back(numbers: list[float]) -> None:
    assert read([f"{number:.2f} %" for number in numbers]).values.tolist() == [number / 100 for number in numbers]


@given(texts=st.lists(st.one_of(st.none(), st.text(), st.text("0123456789.,-+() %€$e'")), max_size=8))
def test_any_text_is_read_or_not_but_nothing_raises(texts: list[str | None]) -> None:
    found = numbers_in(pa.array(texts, pa.string()))
    if found is not None:
        assert len(found.values) == len(texts)
        assert np.isnan(found.values[found.odd]).all()


def test_a_million_values_are_read() -> None:
    numbers = np.round(np.arange(1_000_000) / 7, 2)
    found = numbers_in(pa.array([f"{number:.2f}".replace(".", ",") for number in numbers]))
    assert found is not None
    np.testing.assert_array_equal(found.values, numbers)
