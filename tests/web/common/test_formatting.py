import datetime as dt
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.web.common.formatting import (
    clean_line,
    clean_text,
    format_date,
    format_number,
    format_percent,
    format_range,
    format_value,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
"""Text of any characters, control characters and halves of surrogate pairs among them."""


@given(ANY_TEXT)
def test_clean_text_is_valid_xml(text: str) -> None:
    clean = clean_text(text)
    clean.encode("utf-8")
    escaped = clean.replace("&", "&amp;").replace("<", "&lt;")
    assert ElementTree.fromstring(f"<a>{escaped}</a>").text in (clean.replace("\r\n", "\n").replace("\r", "\n"), None)


def test_valid_text_is_unchanged() -> None:
    assert clean_text("Ünïcode\n\t漢字 🎉 <b>&") == "Ünïcode\n\t漢字 🎉 <b>&"


def test_bidi_controls_are_removed() -> None:
    assert clean_text("invoice\u202egnp.exe\u2066") == "invoicegnp.exe"


def test_clean_line_has_one_line() -> None:
    assert clean_line(" a\u2028b\u2029 c\r\n\td\u202e ") == "a b c d"
    assert clean_line("a\nbcdef", 5) == "a bc…"


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (format_percent, 0, "0 %"), (format_percent, 0.001, "less than 1 %"), (format_percent, 0.014, "1 %"),
        (format_percent, 0.996, "more than 99 %"), (format_percent, 1, "100 %"),
        (format_number, 0.0, "0"), (format_number, 1995.0, "1995"), (format_number, -3.0, "-3"),
        (format_number, 1234567.0, "1,234,567"), (format_number, 0.1, "0.1"), (format_number, 1234.5678, "1,234.57"),
        (format_number, 123456.7, "123,457"), (format_number, 99999.0, "99,999"),
        (format_number, float("inf"), "inf"), (format_number, 0.000123456789, "0.000123457"),
        (format_date, dt.datetime(2019, 3, 4), "4 March 2019"),
        (format_date, dt.datetime(2019, 3, 4, 15, 20), "4 March 2019, 15:20"),
        (format_value, None, ""), (format_value, True, "yes"), (format_value, False, "no"), (format_value, 7.0, "7"),
        (format_value, 12345678, "12345678"), (format_value, 7.25, "7.25"), (format_value, ["a", None], "a, "),
        (format_range, [0.5, -2, 3], "3 numbers from -2 to 3"), (format_range, [], "0 numbers"),
        (lambda text: clean_text(text, 5), "abcdef", "abcd…"), (lambda text: clean_text(text, 6), "abcdef", "abcdef"),
        (lambda text: clean_text(text, 4), "ab cdef", "ab…"),
    ],
)  # fmt: skip
def test_values(write: Any, value: Any, text: str) -> None:
    assert write(value) == text
