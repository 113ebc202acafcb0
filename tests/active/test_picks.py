"""What was chosen, as a frame, a table, a sheet, a line, and in a notebook."""

import csv
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from featprop.active import select
from featprop.errors import FileError, MissingExtraError
from featprop.graph import Graph
from tests.helpers import raises


def test_picks_as_a_frame_and_as_a_table(islands: Graph) -> None:
    picks = select(islands, budget=3, strategy="featprop")
    frame, table = picks.to_frame(), picks.to_table()
    assert list(frame.columns) == table.column_names == ["rank", "id", "represents", "spread"]
    assert frame["rank"].tolist() == [1, 2, 3]
    assert frame["id"].tolist() == table["id"].to_pylist() == list(picks) == picks.nodes.tolist()
    assert frame["represents"].tolist() == table["represents"].to_pylist() == [2, 2, 2]
    np.testing.assert_array_equal(frame["spread"], picks.spread)
    assert table.schema.field("id").type == pa.string()


def test_a_frame_needs_pandas_and_a_table_does_not(islands: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    picks = select(islands, budget=2)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with raises(MissingExtraError):
        picks.to_frame()
    assert picks.to_table().num_rows == 2


def test_the_sheet_from_python(islands: Graph, tmp_path: Path) -> None:
    picks, sheet = select(islands, budget=2), tmp_path / "picks.csv"
    picks.write(str(sheet))
    rows = list(csv.DictReader(sheet.read_text(encoding="utf-8").splitlines()))
    assert [row["id"] for row in rows] == picks.nodes.tolist()
    assert [int(row["represents"]) for row in rows] == picks.represents.tolist()
    assert {row["label"] for row in rows} == {""}
    sheet.write_text(sheet.read_text(encoding="utf-8").replace(",,", ",x,", 1), encoding="utf-8")
    typed = sheet.read_text(encoding="utf-8")
    with raises(FileError):
        picks.write(sheet)
    assert sheet.read_text(encoding="utf-8") == typed
    picks.write(sheet, force=True)
    assert sheet.read_text(encoding="utf-8") != typed
    assert (tmp_path / "picks.csv.bak").read_text(encoding="utf-8") == typed


def test_a_selection_is_told_in_a_line(islands: Graph) -> None:
    picks = select(islands, budget=6, strategy="degree")
    shown = ", ".join(map(repr, picks.nodes[:5]))
    assert repr(picks) == f"Selection(6 of 6 nodes: {shown}, …)"
    few = select(islands, budget=1, labelled=["a"])
    assert repr(few) == f"Selection(1 of 6 nodes: {few.nodes[0]!r})"
