"""Words for missing values."""

import pyarrow as pa
import pytest

from featprop.tables.missing import BLANKS, MISSING_WORDS, is_missing, is_no_class


def test_words_count_whatever_their_case_and_spaces() -> None:
    texts = pa.array([None, "", " ", "NaN", " N/A ", "\\N", "#DIV/0!", "…", "0", "no", "nano", "a-"])
    assert is_missing(texts).to_pylist() == [True] * 8 + [False] * 4


def test_words_are_kept_in_the_form_they_are_compared_in() -> None:
    assert {word for word in MISSING_WORDS if word != word.strip().casefold()} == set()


def test_blanks_are_among_them() -> None:
    assert BLANKS < MISSING_WORDS


@pytest.mark.parametrize(
    "word", ["NULL", "nan", "NaN", "None", " <NA> ", "#N/A", "#REF!", "n/a", "\\N", "", "0000-00-00"]
)
def test_programs_words_are_no_classes(word: str) -> None:
    assert is_no_class(word)


@pytest.mark.parametrize("name", ["none", "NONE", "unknown", "NA", "missing", "other", 0, None, float("nan")])
def test_what_may_be_a_class(name: object) -> None:
    assert not is_no_class(name)
