"""Whatever is given as a graph: taken, or refused in one sentence that says what to pass."""

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
from featprop.graph import Graph
from featprop.io.given import as_graph

BUILD = "build one with fp.Graph.from_scipy, from_pandas, from_pyg or from_networkx."
RULE = "The graph must be a Graph, a PyG Data, a NetworkX graph or a path; found"
DATA = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))


class MyGraph(nx.DiGraph):
    """A graph of somebody's own."""


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


def test_nothing_is_kept(write_folder: Any) -> None:
    folder = write_folder()
    first, second = as_graph(folder), as_graph(folder)
    assert first is not second
    assert first.fingerprint == second.fingerprint


def of_package(package: str, name: str) -> Any:
    """An object of a library that is not installed here."""
    return types.new_class(name, exec_body=lambda space: space.update(__module__=f"{package}.core"))()


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (None, f"{RULE} None: read one with fp.read_graph(path)."),
        (
            3,
            f"{RULE} an object of type int: {BUILD}",
        ),
        (
            [],
            f"{RULE} an object of type list: {BUILD}",
        ),
        (
            pd.DataFrame({"id": [1]}),
            f"{RULE} an object of type DataFrame: build it with fp.Graph.from_pandas(nodes, edges).",
        ),
        (
            (pd.DataFrame({"id": [1]}), pd.DataFrame({"source": [1]})),
            f"{RULE} an object of type tuple: build it with fp.Graph.from_pandas(nodes, edges).",
        ),
        (pa.table({"id": [1]}), f"{RULE} an object of type Table: build it with fp.Graph.from_pandas(nodes, edges)."),
        ([DATA, DATA], f"{RULE} a list of 2: pass one of them."),
        (
            sp.csr_array((2, 2)),
            f"{RULE} an object of type csr_array: build it with fp.Graph.from_scipy(adjacency, features).",
        ),
        (
            (np.eye(2), np.eye(2)),
            f"{RULE} an object of type tuple: build it with fp.Graph.from_scipy(adjacency, features).",
        ),
        (torch.eye(2), f"{RULE} an object of type Tensor: build it with fp.Graph.from_scipy(adjacency, features)."),
        (
            of_package("dgl", "DGLGraph"),
            f"{RULE} a graph of DGL (DGLGraph): build it with "
            "fp.Graph.from_scipy(graph.adj_external(scipy_fmt='csr'), graph.ndata['feat'].numpy()).",
        ),
        (
            of_package("igraph", "Graph"),
            f"{RULE} a graph of igraph: pass graph.to_networkx(), with the features as the vertex attribute 'x'.",
        ),
        (
            HeteroData(),
            "The graph must be one Data of PyG; found a HeteroData: "
            "pass data.to_homogeneous(), or choose one node type and its edges.",
        ),
    ],
)
def test_what_cannot_be_taken(thing: Any, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        as_graph(thing)
    assert str(caught.value) == message
    assert "dgl" not in sys.modules


def test_a_path_where_nothing_is() -> None:
    with pytest.raises(FileError, match=r"nowhere must be .*; found no such file or folder: check the path"):
        as_graph("nowhere")
