"""What was selected: as a frame, as a table, and as the sheet a person decides from."""

import csv
import datetime as dt
import io
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import featprop as fp
from featprop.active import Selection, select
from featprop.errors import MissingExtraError, ParameterError
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


@pytest.fixture
def graph(line: Graph) -> Graph:
    """The line a, b, c, d, e, with a table of its nodes."""
    columns = {
        "id": list("abcde"),
        "name": ["Ann", "Bob, sen.", None, "Dee", "Eve\nline"],
        "born": [dt.date(1990, 1, day) for day in range(1, 6)],
        "tags": [["x"], [], ["y", "z"], None, ["x"]],
        "since": pa.array([(months, 0, 0) for months in range(5)], pa.month_day_nano_interval()),
        "label": ["left", None, "right", None, None],
    }
    return replace(line, table=pa.table(columns))


def picks_of(graph: Graph, *positions: int) -> Selection:
    chosen = np.array(positions, dtype=np.intp)
    return Selection(graph.ids[chosen], chosen, np.empty(0, dtype=np.intp), graph)


def written(picks: Selection, **options: Any) -> list[list[str]]:
    """Return the rows of a sheet, without how well the picks represent the graph."""
    stream = io.BytesIO()
    picks.write(stream, **options)
    rows = list(csv.reader(io.StringIO(stream.getvalue().decode())))
    assert rows[0][:5] == ["id", "label", "rank", "represents", "spread"]
    return [row[:3] + row[5:] for row in rows]


def test_columns_of_the_nodes(graph: Graph) -> None:
    assert written(picks_of(graph, 4, 2), show=["name", "born", "tags", "since", "name"]) == [
        ["id", "label", "rank", "name", "born", "tags", "since"],
        ["e", "", "1", "Eve\nline", "1990-01-05", "['x']", "MonthDayNano(months=4, days=0, nanoseconds=0)"],
        ["c", "", "2", "", "1990-01-03", "['y', 'z']", "MonthDayNano(months=2, days=0, nanoseconds=0)"],
    ]


def test_neighbours_and_predictions(graph: Graph) -> None:
    known = {"a": "left", "c": "right"}
    rows = written(picks_of(graph, 1, 3, 4), labels=known)
    assert [row[3:] for row in rows] == [["neighbours"], ["1 left, 1 right"], ["1 right"], ["1 without a label"]]
    model = fp.GraphRidge().fit(graph, list(known), list(known.values()))
    probabilities, names = model.predict_proba(graph), model.predict(graph)
    assert written(picks_of(graph, 4, 3), labels=known, model=model)[1:] == [
        ["e", "", "1", names[4], f"{probabilities[4].max():.4g}", f"predicted: 1 {names[3]}"],
        ["d", "", "2", names[3], f"{probabilities[3].max():.4g}", "1 right"],
    ]


@pytest.mark.parametrize("name", ["nmae", "zebra", "label"])
def test_columns_that_cannot_be_shown(graph: Graph, name: str) -> None:
    with raises(ParameterError, parameter="show", value=name):
        written(picks_of(graph, 1), show=[name])
