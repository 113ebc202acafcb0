"""Graphs of data frames, NetworkX and PyTorch Geometric: what they hold becomes a graph, and the rest is refused."""

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import featprop as fp
from featprop.errors import FeatpropError, GraphError, LabelError, ParameterError
from featprop.matrix import as_dense
from tests.helpers import raises

EDGES = pa.table({"source": ["a", "b"], "target": ["b", "c"]})


@pytest.mark.parametrize(
    "columns",
    [
        {"x": pd.arrays.SparseArray([1, 0, 2])},
        {"x": pd.array([1, None, 2], dtype="Int64")},
        {"x": pd.Series(["u", "v", "u"], dtype="category")},
        {"x": [1, "v", 2.5]},
        {"x": [1.0, 2.0, 4.0], "label": ["p", None, "q"]},
    ],
)
def test_pandas_columns_of_many_types(columns: dict[str, Any]) -> None:
    graph = fp.Graph.from_tables(pd.DataFrame({"id": ["a", "b", "c"], **columns}), EDGES)
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.table is not None
    assert graph.table.column_names == ["x"]


@pytest.mark.parametrize(
    "nodes",
    [
        pd.DataFrame({"x": [1]}, index=pd.MultiIndex.from_tuples([("a", 1)])),
        pd.DataFrame([["a", 1, 2]], columns=["id", "x", "x"]),
        pd.Series([1, 2]),
        None,
    ],
)
def test_other_tables_are_refused(nodes: Any) -> None:
    with pytest.raises(FeatpropError):
        fp.Graph.from_tables(nodes, None)


def a_graph(**attributes: dict[str, Any]) -> nx.Graph:
    graph = nx.path_graph(["a", "b", "c"])
    for name, values in attributes.items():
        nx.set_node_attributes(graph, values, name)
    return graph


def test_networkx_attributes_named_as_features() -> None:
    given = a_graph(x={"a": [1, 2], "b": [3, 4], "c": [5, 6]}, y={"a": 7, "b": 8, "c": 9}, label={"a": "p", "c": "q"})
    given.edges["a", "b"]["weight"] = 2.5
    graph = fp.Graph.from_networkx(given)
    assert as_dense(graph.features).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert graph.class_names() == ["p", None, "q"]
    both = fp.Graph.from_networkx(given, features=["x", "y"])
    assert both.feature_names is not None
    assert both.feature_names[-1] == "y"
    assert both.class_names() == ["p", None, "q"]
    with raises(ParameterError, parameter="features", value="z"):
        fp.Graph.from_networkx(given, features="z")
    back = graph.to_networkx()
    assert dict(back.nodes(data="label")) == {"a": "p", "b": None, "c": "q"}
    assert back.edges["a", "b"]["weight"] == 2.5


def test_networkx_attributes_of_mixed_types_are_text() -> None:
    graph = fp.Graph.from_networkx(a_graph(w={"a": 1, "b": "two", "c": {"three": 3}}, size={"a": 1, "b": 2, "c": 3}))
    assert graph.table is not None
    assert graph.table.to_pydict() == {"w": ["1", "two", "{'three': 3}"]}


def pyg(**parts: Any) -> Any:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data
    given = {"x": torch.eye(3), "edge_index": torch.tensor([[0, 1], [1, 2]])} | parts
    return data(**{name: part for name, part in given.items() if part is not None})


def test_pyg_weights_labels_and_sparse_features() -> None:
    torch = pytest.importorskip("torch")
    graph = fp.Graph.from_pyg(
        pyg(
            x=torch.eye(3).to_sparse(), y=torch.tensor([[0.0], [float("nan")], [1.0]]), edge_attr=torch.tensor([2.0, 1])
        )
    )
    assert graph.class_names() == [0, None, 1]
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    back = graph.to_pyg()
    assert back.y.tolist() == [0, -1, 1]
    assert back.edge_weight.tolist() == [2, 2, 1, 1]
    half = fp.Graph.from_pyg(pyg(x=torch.eye(3, dtype=torch.bfloat16), edge_weight=torch.tensor([1.0, 3.0])))
    assert as_dense(half.features).tolist() == np.eye(3).tolist()
    assert half.adjacency[1, 2] == 3
    for unused in (torch.eye(2), torch.tensor([1.0, -1.0]), ["a", "b"]):
        assert set(fp.Graph.from_pyg(pyg(edge_attr=unused)).adjacency.data.tolist()) == {1.0}


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"edge_index": None}, GraphError),
        ({"x": ["a", "b", "c"]}, GraphError),
        ({"y": [[0, 1], [1, 0], [1, 1]]}, LabelError),
        ({"y": [0.5, 1.25, 2.0]}, LabelError),
    ],
)
def test_pyg_data_that_is_no_graph_with_classes(parts: dict[str, Any], error: type[FeatpropError]) -> None:
    torch = pytest.importorskip("torch")
    given = {name: torch.tensor(part) if name == "y" else part for name, part in parts.items()}
    with pytest.raises(error):
        fp.Graph.from_pyg(pyg(**given))
    with pytest.raises(GraphError):
        fp.Graph.from_pyg("no data")
    with raises(GraphError, value="HeteroData"):
        fp.Graph.from_pyg(pytest.importorskip("torch_geometric.data").HeteroData())
