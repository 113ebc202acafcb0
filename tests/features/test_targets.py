"""Label columns that hold no classes, and columns that give the labels away."""

import logging

import numpy as np
import pyarrow as pa
import pytest

from featprop import Graph, GraphRidge
from featprop.errors import LabelError
from featprop.features import LeakReason, check_target, find_leaks, suggest_label
from tests.helpers import raises

N = 60
RNG = np.random.default_rng(0)
LABELS = [f"c{place % 2}" if place % 3 == 0 else None for place in range(N)]
IS_LABELLED = np.array([label is not None for label in LABELS])


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=500).tolist(),
        [f"{value:.2f}" for value in RNG.normal(size=500)],
        RNG.permutation(np.arange(500) * 7 + 1990).tolist(),
        pa.chunked_array([RNG.integers(0, 5000, 7000)]),
        (np.arange(300) * 7 % 199).tolist(),
        np.arange(120).tolist(),
    ],
)
def test_many_different_numbers_are_not_classes(values: object) -> None:
    with raises(LabelError, column="price") as caught:
        check_target(values, "price")
    assert caught.value.value > 50


@pytest.mark.parametrize("values", [RNG.normal(size=30).tolist(), ["a|b", "b"] * 15], ids=["numbers", "several labels"])
def test_a_model_is_not_trained_on_them(values: list[object]) -> None:
    graph = Graph.from_scipy(np.ones((30, 30)), RNG.normal(size=(30, 3)))
    with raises(LabelError, column="label"):
        GraphRidge().fit(graph, list(range(30)), values)
    tables = (
        pa.table({"id": range(30), "x": RNG.normal(size=30), "label": values}),
        pa.table({"source": [0], "target": [1]}),
    )
    with raises(LabelError, column="label"):
        Graph.from_tables(*tables)


def test_cells_with_several_labels_are_not_classes() -> None:
    with raises(LabelError, column="genres", value="drama|comedy"):
        check_target(["drama", "drama|comedy", None, "comedy"], "genres")


@pytest.mark.parametrize(
    "values",
    [
        RNG.integers(0, 40, 500).tolist(),
        RNG.integers(0, 70, 160).tolist(),
        RNG.integers(5, 25, 5000).tolist(),
        [f"class {place}" for place in range(500)],
        ["a|b"] + ["a"] * 99,
        [None, "", "n/a"],
        pa.array([[1], [2]]),
    ],
    ids=["codes", "few rows for each", "many rows for each", "many names", "one odd name", "nothing", "lists"],
)
def test_classes_pass(values: object) -> None:
    check_target(values, "label")


@pytest.mark.parametrize(
    "values",
    [
        [f"x{place % 2}" if there else "" for place, there in enumerate(IS_LABELLED)],
        ["fraud" if there else "unknown" for there in IS_LABELLED],
        [1.5 if there else None for there in IS_LABELLED],
        np.where(IS_LABELLED, 2.0, np.nan),
        [True if there and place else None for place, there in enumerate(IS_LABELLED)],
    ],
    ids=["text", "words", "null", "nan", "nearly all"],
)
def test_values_only_where_labels_are_leak(values: object, caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"age": RNG.integers(0, 90, N), "outcome": values})
    assert find_leaks(table, LABELS) == [("outcome", LeakReason.FILLED_WHERE_LABELLED)]
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "outcome" in record.getMessage()
    assert find_leaks(table, LABELS, ignore=["outcome"]) == []


@pytest.mark.parametrize(
    "values",
    [
        ["x"] * N,
        [None if place % 2 else 1 for place in range(N)],
        [1 if there or place == 1 else None for place, there in enumerate(IS_LABELLED)],
        [1 if there and place < N / 2 else None for place, there in enumerate(IS_LABELLED)],
        pa.nulls(N, pa.float64()),
        [[1]] * N,
    ],
    ids=["everywhere", "half", "one elsewhere", "some of them", "nowhere", "lists"],
)
def test_other_columns_do_not_leak(values: object) -> None:
    assert find_leaks(pa.table({"x": values}), LABELS) == []


def test_a_column_that_determines_the_labels_leaks() -> None:
    rows = 300
    classes = RNG.integers(0, 3, rows)
    labels = [int(label) if place < 120 else None for place, label in enumerate(classes)]
    noisy = np.where(RNG.random(rows) < 0.2, RNG.integers(0, 3, rows), classes)
    table = pa.table(
        {
            "class code": classes * 10,
            "class name": np.array(["red", "green", "blue"])[classes],
            "good feature": noisy,
            "one per row": [f"n{place}" for place in range(rows)],
            "score": classes + RNG.normal(size=rows),
        }
    )
    reason = LeakReason.DETERMINES_LABELS
    assert find_leaks(table, labels) == [("class code", reason), ("class name", reason)]
    assert find_leaks(table, labels[:15] + [None] * (rows - 15)) == [], "too few labels"
    assert find_leaks(pa.table({"x": ["a"] * rows}), ["c"] * rows) == [], "a constant column and one class"


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (["id", "Class", "age"], "Class"),
        (["y", "target"], "target"),
        (["label", "Label "], None),
        (["id", "age"], None),
    ],
)
def test_label_column_is_suggested_by_name(names: list[str], label: str | None) -> None:
    assert suggest_label(names) == label
