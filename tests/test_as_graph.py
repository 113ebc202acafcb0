"""`as_graph`: what it accepts, and the hint for what it does not."""

import sys
import types
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from featprop.errors import FileError, GraphError
from featprop.graph import Graph, as_graph
from tests.helpers import raises

DATA = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))


class MyGraph(nx.DiGraph):
    """A subclass of a NetworkX graph."""


def test_every_form_of_one_graph(line: Graph, write_folder: Any) -> None:
    folder: Path = write_folder()
    assert as_graph(line) is line
    outside = line.to_networkx()
    for given in (folder, str(folder), outside, MyGraph(outside)):
        graph = as_graph(given)
        assert graph.ids.tolist() == line.ids.tolist()
        np.testing.assert_array_equal(graph.adjacency.toarray(), line.adjacency.toarray())
    data = as_graph(line.to_pyg())
    np.testing.assert_array_equal(data.adjacency.toarray(), line.adjacency.toarray())


def test_a_graph_that_is_read_is_not_kept(write_folder: Any) -> None:
    folder = write_folder()
    first, second = as_graph(folder), as_graph(folder)
    assert first is not second
    assert first.fingerprint == second.fingerprint


def of_package(package: str, name: str) -> Any:
    """Return an object of a library that is not installed."""
    return types.new_class(name, exec_body=lambda space: space.update(__module__=f"{package}.core"))()


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (None, "read_graph"),
        (3, "from_scipy"),
        ([], "from_scipy"),
        (pd.DataFrame({"id": [1]}), "from_tables"),
        ((pd.DataFrame({"id": [1]}), pd.DataFrame({"source": [1]})), "from_tables"),
        (pa.table({"id": [1]}), "from_tables"),
        ([DATA, DATA], "one graph"),
        (sp.csr_array((2, 2)), "from_scipy"),
        ((np.eye(2), np.eye(2)), "from_scipy"),
        (torch.eye(2), "from_scipy"),
        (of_package("dgl", "DGLGraph"), "adj_external"),
        (of_package("igraph", "Graph"), "to_networkx"),
    ],
)
def test_other_objects_are_refused(source: Any, hint: str) -> None:
    with raises(GraphError, parameter="graph", value=type(source).__name__) as caught:
        as_graph(source)
    assert hint in caught.value.hint
    assert "dgl" not in sys.modules


def test_a_heterogeneous_graph_is_refused() -> None:
    with pytest.raises(GraphError):
        as_graph(HeteroData())


def test_missing_path() -> None:
    with pytest.raises(FileError):
        as_graph("nowhere")
