"""How messages are written, and how errors are shown."""

import pickle

import pytest

from featprop.errors import (
    FeatpropError,
    FileError,
    GraphError,
    LabelError,
    MissingExtraError,
    ModelError,
    ParameterError,
    first_five,
    quote_error,
    shorten,
    unknown_choice,
)

EXAMPLES = [
    ParameterError("`budget` must be at least 1, not 0.", parameter="budget", value=0),
    FileError("picks.csv is a folder.", hint="Check the path.", path="picks.csv"),
    GraphError("2 node ids are repeated (a, b).", path="nodes.csv", row=3, column="id", node="a"),
    LabelError("All labels are of one class.", parameter="labels"),
    ModelError("model is damaged: no header.", path="model"),
    MissingExtraError("featprop.GCN", "train", "torch"),
]


def test_text_is_the_message_and_the_hint_on_one_line() -> None:
    assert str(FileError("a\nb.csv is\r\nempty.", hint="Check it.")) == "a b.csv is empty. Check it."


def test_long_message_keeps_both_ends() -> None:
    text = str(GraphError("Column " + "c" * 10**6 + " is too long.", hint="Shorten it."))
    assert text.startswith("Column ccc")
    assert text.endswith("is too long. Shorten it.")
    assert len(text) < 2100


def test_spelled_replaces_names_in_backquotes() -> None:
    error = FileError("`out` is `x.csv`.", hint="Pass `force=True`.")
    names = {"out": "--out", "force=True": "--force"}
    assert error.spelled(lambda name: names.get(name, name)) == "--out is x.csv. Pass --force."


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_pickling_keeps_message_and_fields(error: FeatpropError) -> None:
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert str(sent) == str(error)
    assert vars(sent) == vars(error)
    assert isinstance(error, ImportError if isinstance(error, MissingExtraError) else ValueError)


def test_lists_and_long_texts_are_shortened() -> None:
    assert [first_five(list("abcdef")[:length]) for length in (1, 6)] == ["1 (a)", "6 (a, b, c, d, e, …)"]
    assert [shorten("abcdef", length) for length in (6, 5)] == ["abcdef", "abcd…"]


@pytest.mark.parametrize(("value", "closest"), [("FeatProp", "featprop"), ("gnc", "gcn")])
def test_unknown_choice_suggests_the_closest(value: str, closest: str) -> None:
    error = unknown_choice("strategy", value, ["random", "gcn", "featprop"])
    assert (error.parameter, error.value) == ("strategy", value)
    assert error.choices == ("featprop", "gcn", "random")
    assert repr(closest) in error.hint


def test_unknown_choice_lists_all_if_none_is_close() -> None:
    assert "featprop, random" in unknown_choice("strategy", 3, ["random", "featprop"]).hint


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad\n  header."), "bad header"),
        (ValueError("Not a table. Try another."), "Not a table"),
        (KeyError("format"), "no 'format'"),
        (EOFError(), "EOFError"),
    ],
)
def test_the_reason_another_library_gives_fits_inside_a_message(error: Exception, text: str) -> None:
    assert quote_error(error) == text
