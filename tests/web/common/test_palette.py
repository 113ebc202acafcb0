"""Colours and abbreviations of classes."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.web.common.palette import (
    DIGITS,
    PAPER,
    Colour,
    abbreviate_classes,
    class_stylesheet,
    css_variables,
    use_css_variables,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)


def test_colours_for_light_and_dark() -> None:
    assert css_variables().count("--digit-7:") == 2
    assert use_css_variables(f"fill: {DIGITS[7].light}") == "fill: var(--digit-7)"
    assert len({colour.light for colour in DIGITS}) == len({colour.dark for colour in DIGITS}) == 10


def luminance(colour: str) -> float:
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast ratio of two colours."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", DIGITS, ids=lambda colour: colour.name)
def test_classes_stand_out_from_the_page_and_text_from_them(colour: Colour) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast(colour.light, PAPER.light) >= 3
    assert contrast(colour.dark, PAPER.dark) >= 3
    assert contrast(colour.light, colour.text) >= 4.5
    assert contrast(colour.dark, "#000000") >= 4.5


def test_stylesheet_has_every_class_for_light_and_dark() -> None:
    css = class_stylesheet()
    for place in range(len(DIGITS)):
        assert len(re.findall(rf"\.class-{place} {{", css)) == 2
    assert css.count("{") == css.count("}")


@pytest.mark.parametrize(
    ("classes", "marks"),
    [
        (["ok", "review", "fraud"], ["ok", "r", "f"]),
        ([str(digit) for digit in range(11)], [*"0123456789", "10"]),
        (["Rule_Learning", "Reinforcement", "Rule_Based"], ["R", "Re", "Ru"]),
        (["aaa", "aaa", "aaa"], ["a", "aa", "3"]),
        (["", " "], ["?", "2"]),
        (["New York", "Newark", "New Yorker", "NY"], ["N", "Ne", "3", "NY"]),
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
