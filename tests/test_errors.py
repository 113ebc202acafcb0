"""The form of a message, and what is told about an error."""

import inspect
import pickle
import re

import pytest

from featprop import errors
from featprop.errors import (
    FeatpropError,
    FileError,
    GraphError,
    LabelError,
    MissingExtraError,
    ModelError,
    ParameterError,
    first_five,
    reason,
    shortened,
    unknown_choice,
)

EXAMPLES = [
    ParameterError("budget", "must be at least 1", 0, "choose a larger one"),
    FileError("picks.csv", "must be a file", "a folder", "check the path"),
    GraphError("Node ids", "must be distinct", "2 (a, b) repeated", "keep one"),
    LabelError("labels", "must hold two classes", "one", "label more"),
    ModelError("model", "must be undamaged", "this: no header", "train it again"),
    MissingExtraError("featprop.GCN", "train", "torch"),
]


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or ""))
    assert drawn == {kind.__name__ for kind in FeatpropError.__subclasses__()}
    assert drawn == {type(example).__name__ for example in EXAMPLES}


def test_a_message_names_the_thing_the_rule_the_value_and_the_cure() -> None:
    assert str(EXAMPLES[0]) == "budget must be at least 1; found 0: choose a larger one."
    assert str(EXAMPLES[5]) == (
        "featprop.GCN needs the package torch; found no such package installed: pip install 'featprop[train]'."
    )


def test_a_message_is_one_line() -> None:
    assert (
        str(FileError("a\nb.csv", "must be\r\nwhole", "half", "mend it"))
        == "a b.csv must be whole; found half: mend it."
    )


def test_a_message_stays_a_sentence_however_long_the_value_is() -> None:
    text = str(GraphError("Column " + "c" * 10**6, "must be short", "v" * 10**6, "cut it"))
    assert text.startswith("Column ccc")
    assert text.endswith("vvv: cut it.")
    assert len(text) < 4000


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_being_sent_to_another_process(error: FeatpropError) -> None:
    sent = pickle.loads(pickle.dumps(error))
    assert type(sent) is type(error)
    assert str(sent) == str(error)
    assert (sent.what, sent.rule, sent.found, sent.cure) == (error.what, error.rule, error.found, error.cure)


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_is_also_of_the_built_in_kind(error: FeatpropError) -> None:
    assert isinstance(error, ImportError if isinstance(error, MissingExtraError) else ValueError)


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("fetprop", "did you mean 'featprop'?"),
        ("FeatProp", "did you mean 'featprop'?"),
        ("randomm", "did you mean 'random'?"),
        ("kmeans", "choose one of them."),
        ("", "choose one of them."),
        (3, "choose one of them."),
    ],
)
def test_an_unknown_name_lists_the_choices(name: object, cure: str) -> None:
    message = str(unknown_choice("strategy", name, ["random", "featprop"]))
    assert message == f"strategy must be one of featprop, random; found {name!r}: {cure}"


def test_two_names_equally_close_are_both_offered() -> None:
    assert str(unknown_choice("model", "gnc", ["gcn", "sgc"])).endswith("did you mean 'sgc' or 'gcn'?")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["a"], "1 (a)"),
        (list("abcde"), "5 (a, b, c, d, e)"),
        (list("abcdef"), "6 (a, b, c, d, e, …)"),
        (range(1_234), "1,234 (0, 1, 2, 3, 4, …)"),
    ],
)
def test_first_five(values: list[object], text: str) -> None:
    assert first_five(values) == text


@pytest.mark.parametrize(("most", "text"), [(6, "abcdef"), (7, "abcdef"), (5, "abcd…"), (1, "…")])
def test_a_long_text_is_cut(most: int, text: str) -> None:
    assert shortened("abcdef", most) == text


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
    assert reason(error) == text


def test_every_kind_is_public_and_documented() -> None:
    public = [getattr(errors, name) for name in errors.__all__]
    assert all(inspect.getdoc(thing) for thing in public)
    assert {kind for kind in public if isinstance(kind, type)} == {FeatpropError, *FeatpropError.__subclasses__()}
