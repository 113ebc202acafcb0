import re

import pytest
from featprop.web.common.class_marks import _contrast, abbreviate_classes, class_css, drawing_stylesheet
from hypothesis import given
from hypothesis import strategies as st

from featprop.web.common.palette import DIGITS

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)


@pytest.mark.parametrize(
    ("classes", "marks"),
    [
        (["ok", "review", "fraud"], ["ok", "r", "f"]),
        ([str(digit) for digit in range(11)], [*"0123456789", "10"]),
        (["Rule_Learning", "Reinforcement", "Rule_Based"], ["R", "Re", "Ru"]),
        (["aaa", "aaa", "aaa"], ["a", "aa", "3"]),
        (["", " "], ["?", "2"]),
        (["New York", "Newark", "New Yorker", "NY"], ["N", "Ne", "NY", "4"]),
    ],
)
def test_abbreviations(classes: list[str], marks: list[str]) -> None:
    assert abbreviate_classes(classes) == marks


@given(st.lists(ANY_TEXT, max_size=40))
def test_abbreviations_are_short_unique_and_stable(classes: list[str]) -> None:
    marks = abbreviate_classes(classes)
    assert len({mark.casefold() for mark in marks}) == len(classes)
    assert all(1 <= len(mark) <= 4 for mark in marks)
    assert abbreviate_classes([*classes, "another"])[:-1] == marks


def test_colours_repeat_with_another_outline() -> None:
    assert class_css(3) == "class-3"
    assert class_css(13) == "class-3 class-repeated"
    assert class_css(None) == "class-none"


def test_stylesheet_has_every_class_for_light_and_dark() -> None:
    css = drawing_stylesheet()
    for place in range(len(DIGITS)):
        assert len(re.findall(rf"\.class-{place} {{", css)) == 2
    assert "--digit-9:" in css
    assert ".neighbour-labelled .neighbour-shape" in css
    assert css.count("{") == css.count("}")


def test_contrast_of_letters_on_every_colour() -> None:
    for colour in DIGITS:
        for shade in (colour.light, colour.dark):
            assert max(_contrast(shade, "#000000"), _contrast(shade, "#ffffff")) >= 4.5
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
