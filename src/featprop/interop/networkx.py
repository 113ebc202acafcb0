"""NetworkX graphs, in and out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError, MissingExtraError
from featprop.graph import RawGraph
from featprop.matrix import Features, dense

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["raw_from_networkx", "to_networkx"]


def raw_from_networkx(graph: nx.Graph, features: str | Sequence[str], label: str, weight: str) -> RawGraph:
    """Take nodes as ids, `features` as one vector attribute or several scalar ones, `label` and `weight`."""
    ids = list(graph.nodes)
    position = {node: index for index, node in enumerate(ids)}
    rows = [_features_of(graph, node, features) for node in ids]
    width = len(rows[0]) if rows else 0
    for node, row in zip(ids, rows, strict=True):
        if len(row) != width:
            found = f"{len(row)} at node {node!r} and {width} at node {ids[0]!r}"
            raise GraphError("Features", "must have one length", found, "give every node as many features")
    ends = np.array([(position[a], position[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    weights = [value for _, _, value in graph.edges(data=weight)]
    weighted = any(value is not None for value in weights)
    labels = [value for _, value in graph.nodes(data=label)]
    return RawGraph(
        source=ends[:, 0],
        target=ends[:, 1],
        features=np.array(rows, dtype=np.float32).reshape(len(ids), width),
        weights=np.array([1.0 if value is None else value for value in weights]) if weighted else None,
        ids=np.fromiter(ids, dtype=object, count=len(ids)),
        labels=labels if any(value is not None for value in labels) else None,
        feature_names=None if isinstance(features, str) else tuple(features),
    )


def to_networkx(
    adjacency: sp.csr_array,
    features: Features,
    ids: NDArray[Any],
    labels: Sequence[Hashable | None],
) -> nx.Graph:
    """Build an undirected graph with the node attributes `x` and `label` and the edge attribute `weight`."""
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError("A NetworkX graph", "networkx", "networkx") from error
    graph = nx.Graph()
    names = ids.tolist()
    for name, row, label in zip(names, dense(features), labels, strict=True):
        graph.add_node(name, x=row, **({} if label is None else {"label": label}))
    upper = sp.triu(adjacency, format="coo")
    for a, b, value in zip(*upper.coords, upper.data.tolist(), strict=True):
        graph.add_edge(names[a], names[b], weight=value)
    return graph


def _features_of(graph: nx.Graph, node: Hashable, features: str | Sequence[str]) -> NDArray[Any]:
    attributes = graph.nodes[node]
    names = [features] if isinstance(features, str) else list(features)
    return np.concatenate([_numbers(attributes, name, node) for name in names])


def _numbers(attributes: Mapping[Any, Any], name: str, node: Hashable) -> NDArray[Any]:
    """Return the numbers of one attribute of a node; text, None and nothing are errors that say what to do."""
    what = f"Node attribute {name!r}"
    if name not in attributes:
        found = f"none at node {node!r}, which has {', '.join(map(str, attributes)) or 'no attribute'}"
        numeric = [str(key) for key, value in attributes.items() if _is_numeric(value)]
        cure = f"call Graph.from_networkx(graph, features={numeric})" if numeric else "set it to numbers for every node"
        raise GraphError(what, "must be there for every node", found, cure)
    value = attributes[name]
    if value is None:
        raise GraphError(what, "must be numbers", f"None at node {node!r}", "fill it, or leave the attribute out")
    if not _is_numeric(value):
        cure = "encode it as numbers, or put the nodes into a table for Graph.from_pandas, which does"
        raise GraphError(what, "must be numbers", f"{_shortened(value)} at node {node!r}", cure)
    return np.ravel(np.asarray(value, dtype=np.float32))


def _is_numeric(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except ValueError:
        return False


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
