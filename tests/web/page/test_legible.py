from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.web.common.formatting import clean_text, clean_line, percent

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
"""Text of any characters, control characters and halves of surrogate pairs among them."""


@given(ANY_TEXT)
def test_what_is_left_can_be_written_and_stand_in_xml(text: str) -> None:
    clean = clean_text(text)
    clean.encode("utf-8")
    escaped = clean.replace("&", "&amp;").replace("<", "&lt;")
    assert ElementTree.fromstring(f"<a>{escaped}</a>").text in (clean.replace("\r\n", "\n").replace("\r", "\n"), None)


def test_text_that_a_page_can_hold_stays_as_it_is() -> None:
    assert clean_text("Ünïcode\n\t漢字 🎉 <b>&") == "Ünïcode\n\t漢字 🎉 <b>&"


def test_nothing_turns_the_line_around() -> None:
    assert clean_text("invoice\u202egnp.exe\u2066") == "invoicegnp.exe"


def test_a_line_is_one_line() -> None:
    assert clean_line(" a\u2028b\u2029 c\r\n\td\u202e ") == "a b c d"
    assert clean_line("a\nbcdef", 5) == "a bc…"


@pytest.mark.parametrize(
    ("text", "most", "cut"), [("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("ab cdef", 4, "ab…")]
)
def test_long_text_is_cut(text: str, most: int, cut: str) -> None:
    assert clean_text(text, most) == cut


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (0.001, "less than 1 %"), (0.014, "1 %"), (0.5, "50 %"), (0.996, "more than 99 %"), (1, "100 %")],
)
def test_shares_in_percent(share: float, words: str) -> None:
    assert percent(share) == words
