"""Data frames as Arrow tables: types stay, and the index becomes what it is."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from featprop.errors import GraphError, LabelError
from featprop.interop.pandas import known_of, table_of

IDS = ("id", "node_id")


def test_types_survive() -> None:
    frame = pd.DataFrame(
        {
            "id": ["a", "b", "c"],
            "kind": pd.Categorical(["x", None, "y"]),
            "count": pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "day": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
            "price": [1.5, np.nan, 2.5],
            "vector": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        }
    )
    before = frame.copy()
    table = table_of(frame, "nodes", IDS)
    pd.testing.assert_frame_equal(frame, before)
    assert table.column_names == list(frame.columns)
    assert pa.types.is_dictionary(table.schema.field("kind").type)
    assert table.schema.field("count").type == pa.int64()
    assert table.schema.field("flag").type == pa.bool_()
    assert pa.types.is_timestamp(table.schema.field("day").type)
    assert pa.types.is_list(table.schema.field("vector").type)
    for name in ("kind", "count", "flag", "day", "price"):
        assert table[name].null_count == 1, name
        assert table[name].is_null().to_pylist() == [False, True, False]


@pytest.mark.parametrize(
    ("index", "columns", "expected"),
    [
        pytest.param(None, ["id", "x"], ["id", "x"], id="default, left out"),
        pytest.param(pd.Index([0, 1]), ["id", "x"], ["id", "x"], id="counts the rows, left out"),
        pytest.param(pd.Index(["p", "q"]), ["x"], ["id", "x"], id="without a name"),
        pytest.param(pd.Index([7, 9]), ["x"], ["id", "x"], id="numbers after a filter"),
        pytest.param(pd.Index(["p", "q"], name="customer"), ["x"], ["id", "x"], id="with a name"),
        pytest.param(pd.Index(["p", "q"], name="node_id"), ["x"], ["node_id", "x"], id="with a usual name"),
        pytest.param(pd.Index([0, 1], name="id"), ["x"], ["id", "x"], id="counts the rows under a name"),
        pytest.param(pd.Index([7, 9]), ["id", "x"], ["id", "x"], id="numbers beside ids"),
        pytest.param(pd.Index([7, 9]), ["Node_ID", "x"], ["Node_ID", "x"], id="numbers beside ids of a usual name"),
        pytest.param(pd.Index([7, 9], name="shop"), ["id", "x"], ["shop", "id", "x"], id="with a name beside ids"),
        pytest.param(pd.Index([7, 9], name="id"), ["id", "x"], ["id", "x"], id="the ids twice"),
    ],
)
def test_the_index_of_the_nodes(index: Any, columns: list[str], expected: list[str]) -> None:
    frame = pd.DataFrame({name: [5, 6] for name in columns}, index=index)
    table = table_of(frame, "nodes", IDS)
    assert table.column_names == expected
    if index is not None and "id" not in columns and "Node_ID" not in columns:
        assert table[0].to_pylist() == index.tolist()


def test_the_index_of_the_edges() -> None:
    frame = pd.DataFrame({"payer": ["a"], "payee": ["b"]}, index=[4])
    assert table_of(frame, "edges").column_names == ["payer", "payee"]
    assert table_of(frame.set_index("payer"), "edges").column_names == ["payer", "payee"]


def test_numbers_for_column_names_are_text() -> None:
    assert table_of(pd.DataFrame(np.ones((2, 2)), index=["a", "b"]), "nodes", IDS).column_names == ["id", "0", "1"]


def test_numbers_and_text_mixed_are_text_as_in_a_file() -> None:
    frame = pd.DataFrame({"id": [1, 2, 3], "age": pd.Series([40, "unknown", None], dtype=object)})
    assert table_of(frame, "nodes", IDS)["age"].to_pylist() == ["40", "unknown", None]


def test_sparse_and_period_columns() -> None:
    frame = pd.DataFrame(
        {
            "id": [1, 2],
            "word": pd.arrays.SparseArray([0.0, 2.0]),
            "month": pd.PeriodIndex(["2026-01", "2026-02"], freq="M"),
        }
    )
    table = table_of(frame, "nodes", IDS)
    assert table["word"].to_pylist() == [0.0, 2.0]
    assert table["month"].to_pylist() == ["2026-01", "2026-02"]


def test_an_arrow_table_is_taken_as_it_is() -> None:
    table = pa.table({"id": [1]})
    assert table_of(table) is table


class Streaming:
    """What other libraries of tables hand out."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return pa.table({"id": [3]}).__arrow_c_stream__(requested_schema)


def test_whatever_hands_out_arrow_data_is_taken() -> None:
    assert table_of(Streaming()).to_pydict() == {"id": [3]}


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (None, "nodes must be a pandas DataFrame or a PyArrow table; found None: pass one with a row each."),
        (
            {"id": [1]},
            "nodes must be a pandas DataFrame or a PyArrow table; found an object of type dict: "
            "pass one with a row each.",
        ),
        (
            pd.Series([1, 2]),
            "nodes must be a pandas DataFrame or a PyArrow table; found an object of type Series: "
            "pass one with a row each.",
        ),
        (
            pd.DataFrame([[1, 2, 3]], columns=["id", "x", "x"]),
            "nodes must have distinct columns; found 1 (x) repeated: rename them.",
        ),
        (
            pd.DataFrame({"x": [1]}, index=pd.MultiIndex.from_tuples([("a", 1)])),
            "nodes must have one name a row; found an index of 2 levels: call reset_index() and name the id column.",
        ),
        (
            pd.DataFrame({"x": [1], "y": [2]}),
            "nodes must have an id column or ids as their index; found the columns x, y, and rows that are only "
            "counted: pass id='column', or nodes.rename_axis('id') where the ids are 0, 1, 2, ….",
        ),
    ],
)
def test_what_is_no_table(frame: Any, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        table_of(frame, "nodes", IDS)
    assert str(caught.value) == message


def test_a_column_that_arrow_cannot_hold() -> None:
    frame = pd.DataFrame({"id": [1, 2], "z": [1 + 2j, 3j]})
    with pytest.raises(
        GraphError, match=r"Column 'z' of nodes must hold values of one kind; found this: .*: convert it"
    ):
        table_of(frame, "nodes", IDS)


def test_a_series_of_labels() -> None:
    series = pd.Series([1, None, 2], index=["a", "b", "c"])
    told = known_of(series, 5, [])
    assert told == {"a": 1, "c": 2}
    assert all(isinstance(label, int) for label in told.values())
    assert known_of(pd.Series([0.5, 1.0], index=["a", "b"]), 5, []) == {"a": 0.5, "b": 1.0}
    words = pd.Series(["x", None, np.nan, ""], index=list("abcd"), dtype=object)
    assert known_of(words, 5, []) == {"a": "x"}
    assert known_of(pd.Series([1, pd.NA], index=list("ab"), dtype="Int64"), 5, []) == {"a": 1}
    assert known_of(pd.Series(pd.Categorical(["x", None]), index=list("ab")), 5, []) == {"a": "x"}
    assert known_of(pd.Series(["x", None], index=["a", "a"]), 5, []) == {"a": "x"}


def test_rows_that_are_only_numbered_name_no_nodes() -> None:
    numbered = pd.Series(["x", "y"])
    message = (
        "Labels told must have the ids of nodes as their index; found a Series whose index numbers its rows, 0 to 1: "
        "pass pd.Series(labels, index=picks.nodes)."
    )
    with pytest.raises(LabelError) as caught:
        known_of(numbered, 5, [3, 4])
    assert str(caught.value) == message
    assert known_of(numbered, 2, []) == {0: "x", 1: "y"}
    assert known_of(numbered, 5, [1, 0]) == {0: "x", 1: "y"}
    assert known_of(numbered.rename_axis("id"), 5, []) == {0: "x", 1: "y"}


def test_a_node_told_twice() -> None:
    with pytest.raises(LabelError, match=r"Labels told must name a node once; found 1 \('a'\) repeated: keep one"):
        known_of(pd.Series(["x", "y"], index=["a", "a"]), 5, [])


def test_pandas_waits_to_be_given() -> None:
    program = "import sys, featprop as fp; fp.Graph, fp.select, fp.GraphRidge; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
