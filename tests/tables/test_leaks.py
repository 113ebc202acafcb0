"""Columns that are filled at labelled nodes only."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featprop.tables.leaks import tell_of_leaks

N = 60
LABELLED = np.arange(0, N, 3)
IS_LABELLED = np.isin(np.arange(N), LABELLED)


def tell(values: pa.Array, labelled: np.ndarray) -> None:
    tell_of_leaks({"out come": values}.get, ["out come", "gone"], labelled)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([f"c{place % 2}" if there else "" for place, there in enumerate(IS_LABELLED)]),
        pa.array(["fraud" if there else "unknown" for there in IS_LABELLED]),
        pa.array([1.5 if there else None for there in IS_LABELLED]),
        pa.array(np.where(IS_LABELLED, 2.0, np.nan)),
        pa.array([True if there and place else None for place, there in enumerate(IS_LABELLED)]),
    ],
    ids=["text", "words", "null", "nan", "nearly all"],
)
def test_what_is_filled_where_labels_are_is_named(values: pa.Array, caplog: pytest.LogCaptureFixture) -> None:
    tell(values, LABELLED)
    assert "nowhere else: 1 (out come)" in caplog.text
    assert "--column 'out come=out'" in caplog.text


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["x"] * N),
        pa.array([None if place % 2 else 1 for place in range(N)]),
        pa.array([1 if there or place == 1 else None for place, there in enumerate(IS_LABELLED)]),
        pa.array([1 if there and place < N / 2 else None for place, there in enumerate(IS_LABELLED)]),
        pa.nulls(N, pa.float64()),
    ],
    ids=["everywhere", "half", "one elsewhere", "some of them", "nowhere"],
)
def test_what_is_filled_otherwise_is_not(values: pa.Array, caplog: pytest.LogCaptureFixture) -> None:
    tell(values, LABELLED)
    assert caplog.text == ""


def test_few_labels_and_labels_everywhere_tell_nothing(caplog: pytest.LogCaptureFixture) -> None:
    tell(pa.array([1] * 3 + [None] * (N - 3)), np.arange(3))
    tell(pa.array([1] * N), np.arange(N))
    assert caplog.text == ""


def test_on_the_command_line(run: Callable[..., Any], write_folder: Callable[..., Path], tmp_path: Path) -> None:
    classes = ["ok", "fraud"]
    rows = [f"n{k},{k % 7},{classes[k % 2] if k < 20 else ''}" for k in range(N)]
    edges = "source,target\n" + "".join(f"n{k},n{(k + 2) % N}\n" for k in range(N))
    folder = write_folder("id,x,outcome\n" + "\n".join(rows) + "\n", edges)
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"n{k},{classes[k % 2]}\n" for k in range(20)))
    result = run("train", folder, "--labels", labels, "--out", tmp_path / "m.safetensors")
    assert "at the labelled nodes and nowhere else: 1 (outcome): they may hold the answer itself" in result.stderr
    result = run("train", folder, "--labels", labels, "--out", tmp_path / "n.safetensors", "--column", "outcome=out")
    assert "nowhere else" not in result.stderr
