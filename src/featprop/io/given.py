"""`as_graph`: whatever a user gives as a graph, as a graph."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from featprop.errors import GraphError
from featprop.graph import Graph
from featprop.interop.recognise import is_a, package_of
from featprop.io.reading import read_graph
from featprop.tables import Preparation

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

__all__ = ["GraphLike", "as_graph"]

GraphLike: TypeAlias = Union[Graph, "Data", "nx.Graph", str, os.PathLike[str]]
"""A graph, or what one is made of: a PyG `Data`, a NetworkX graph, or a path that `read_graph` takes."""


def as_graph(thing: GraphLike, preparation: Preparation | None = None) -> Graph:
    """Return a graph as it is; build one from a PyG `Data` or a NetworkX graph; read one from a path.

    What is built or read is not kept: give a graph rather than a path to read it once.

    Parameters
    ----------
    thing
        What there is.
    preparation
        How columns of tables become features, where a model learnt that before.
    """
    if isinstance(thing, Graph):
        return thing
    if isinstance(thing, str | os.PathLike):
        return read_graph(thing, preparation=preparation)
    if package_of(thing) == "torch_geometric" or is_a(thing, "torch_geometric", "Data"):
        return Graph.from_pyg(thing)
    if is_a(thing, "networkx", "Graph"):
        return Graph.from_networkx(thing)
    found, cure = _told(thing)
    raise GraphError("The graph", "must be a Graph, a PyG Data, a NetworkX graph or a path", found, cure)


def _told(thing: Any) -> tuple[str, str]:
    """Return what was given instead and what to do about it."""
    if thing is None:
        return "None", "read one with fp.read_graph(path)"
    found = f"an object of type {type(thing).__name__}"
    parts = thing if isinstance(thing, list | tuple) and thing else [thing]
    if any(is_a(part, "pandas", "DataFrame") or isinstance(part, pa.Table) for part in parts):
        return found, "build it with fp.Graph.from_pandas(nodes, edges)"
    if any(is_a(part, "torch_geometric", "Data") for part in parts):
        return f"a {type(thing).__name__} of {len(parts):,}", "pass one of them"
    if any(sp.issparse(part) or isinstance(part, np.ndarray) or is_a(part, "torch", "Tensor") for part in parts):
        return found, "build it with fp.Graph.from_scipy(adjacency, features)"
    if package_of(thing) == "dgl":
        cure = "build it with fp.Graph.from_scipy(graph.adj_external(scipy_fmt='csr'), graph.ndata['feat'].numpy())"
        return f"a graph of DGL ({type(thing).__name__})", cure
    if package_of(thing) == "igraph":
        return "a graph of igraph", "pass graph.to_networkx(), with the features as the vertex attribute 'x'"
    return found, "build one with fp.Graph.from_scipy, from_pandas, from_pyg or from_networkx"
