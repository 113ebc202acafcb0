"""Words for missing values."""

import pyarrow as pa

from featprop.tables.missing import MISSING_WORDS, is_missing


def test_words_count_whatever_their_case_and_spaces() -> None:
    texts = pa.array([None, "", " ", "NaN", " N/A ", "\\N", "#DIV/0!", "…", "0", "no", "nano", "a-"])
    assert is_missing(texts).to_pylist() == [True] * 8 + [False] * 4


def test_words_are_kept_in_the_form_they_are_compared_in() -> None:
    assert {word for word in MISSING_WORDS if word != word.strip().casefold()} == set()
