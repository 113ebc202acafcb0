"""Graphs of data frames, NetworkX and PyTorch Geometric, in and out."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import RawGraph
from featprop.errors import GraphError, LabelError, MissingExtraError, quote_error, shorten, unknown_choice
from featprop.graph import Graph, freeze
from featprop.ids import as_array, counts_rows, is_a, is_series
from featprop.matrix import Features, dense
from featprop.sources.building import build_graph
from featprop.sources.description import GraphDescription
from featprop.sources.naming import ID_NAMES
from featprop.sources.tables import Tables

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

log = logging.getLogger(__name__)

DRAWING = ("x", "y", "z", "pos", "viz", "size", "r", "g", "b", "color", "colour", "shape")
"""Attributes that programs write for drawing."""
OTHER_PYG = {
    "HeteroData": "Pass data.to_homogeneous(), or one node type and its edges.",
    "Batch": "Pass one of batch.to_data_list(), or Data(x=batch.x, edge_index=batch.edge_index) for all as one.",
    "TemporalData": "Pass a Data with the edges of one time.",
    "Dataset": "Pass one of its graphs, such as dataset[0].",
}
"""Classes of PyTorch Geometric that are not one graph with one kind of nodes, and what to pass instead."""


def graph_from_tables(nodes: Any, edges: Any, settings: Mapping[str, Any]) -> Graph:
    """Return the graph of two tables in memory: see `Graph.from_tables`."""
    known = [each.name for each in fields(GraphDescription) if each.name not in ("nodes", "edges", "attach", "folder")]
    for name in settings:
        if name not in known:
            raise unknown_choice("settings", name, known)
    description = GraphDescription(**settings)
    with Tables() as tables:
        node_source, edge_source = (
            None if frame is None else tables.arrow(as_table(frame, name, description.id), name)
            for frame, name in ((nodes, "nodes"), (edges, "edges"))
        )
        return build_graph(tables, description, node_source, edge_source)


def as_table(frame: Any, name: str, id_column: str | None = None) -> pa.Table:
    """Return a data frame of any library as an Arrow table.

    The index of a pandas data frame of nodes becomes the column ``id`` if there is none. Columns of mixed types become
    text.
    """
    if isinstance(frame, pa.Table):
        return frame
    if is_a(frame, "pandas", "DataFrame"):
        return _from_pandas(frame, name, id_column)
    if hasattr(frame, "__arrow_c_stream__") and not is_series(frame):
        return pa.table(frame)
    raise GraphError(
        f"`{name}` must be a table (pandas, Polars, Arrow, DuckDB), not an object of type {type(frame).__name__}.",
        parameter=name,
        value=type(frame).__name__,
    )


def graph_from_networkx(
    graph: nx.Graph, features: str | Sequence[str] | None = None, label: str | None = None, weight: str = "weight"
) -> Graph:
    """Return the graph of a NetworkX graph: see `Graph.from_networkx`."""
    ids = list(graph.nodes)
    position = {node: index for index, node in enumerate(ids)}
    ends = np.array([(position[a], position[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    given = [value for _, _, value in graph.edges(data=weight)]
    weights = None
    if any(value is not None for value in given):
        weights = np.array([1.0 if value is None else value for value in given])
    label = "label" if label is None else label
    if features is None and _is_vector(next((value for _, value in graph.nodes(data="x")), None)):
        features = "x"
    if features is None:
        columns = {name: [graph.nodes[node].get(name) for node in ids] for name in _attributes(graph)}
        return graph_from_columns(ids, columns, ends, weights, label if label in columns else None)
    rows = [_features_of(graph.nodes[node], node, features) for node in ids]
    width = len(rows[0]) if rows else 0
    for node, row in zip(ids, rows, strict=True):
        if len(row) != width:
            raise GraphError(
                f"Node {node!r} has {len(row)} features, but node {ids[0]!r} has {width}.",
                hint="Give every node the same number of features.",
                node=node,
            )
    labels = [value for _, value in graph.nodes(data=label)]
    return Graph.from_raw(
        RawGraph(
            source=ends[:, 0],
            target=ends[:, 1],
            features=np.array(rows, dtype=np.float32).reshape(len(ids), width),
            weights=weights,
            ids=np.fromiter(ids, dtype=object, count=len(ids)),
            labels=labels if any(value is not None for value in labels) else None,
            feature_names=None if isinstance(features, str) else tuple(features),
        )
    )


def graph_from_columns(
    ids: Sequence[Hashable],
    columns: Mapping[str, Sequence[Any]],
    ends: NDArray[np.int64],
    weights: NDArray[Any] | None = None,
    label: str | None = None,
) -> Graph:
    """Return a graph whose columns become features as those of a table do; drawing coordinates do not.

    Parameters
    ----------
    ids
        Id of each node, of any type.
    columns
        Attributes of the nodes by name, None where missing.
    ends
        Positions of the two ends of each edge.
    weights
        Weight of each edge.
    label
        Name of the column of the labels.
    """
    kept = {name: values for name, values in columns.items() if not _is_drawing(name, values)}
    if len(kept) < len(columns):
        log.info("Attributes for drawing are not features: %s", ", ".join(sorted(set(columns) - set(kept))))
    if label is not None and _are_names(kept[label]):
        log.info("Attribute %r names the nodes: it is not used as the label", label)
        kept["name"] = kept.pop(label)
        label = None
    position = next(name for name in ("id", "_id", "_position") if name not in kept)
    nodes = pa.table({position: np.arange(len(ids)), **{name: _column(values) for name, values in kept.items()}})
    edges = pa.table({"source": ends[:, 0], "target": ends[:, 1], **({} if weights is None else {"weight": weights})})
    usual: dict[str, Any] = {"id": position, "label": label, "source": "source", "target": "target", "weights": "raw"}
    graph = graph_from_tables(nodes, edges, usual)
    return freeze(replace(graph, ids=as_array(list(ids)), id_name="id"))


def raw_from_pyg(data: Data) -> RawGraph:
    """Return the edges, `x`, `y` and the weights of a `Data`: `edge_weight`, or one number per edge in `edge_attr`."""
    check_is_data(data)
    if data.edge_index is None:
        raise GraphError("The Data has no edge_index.", hint="Set data.edge_index.", parameter="edge_index")
    if data.x is not None and not is_a(data.x, "torch", "Tensor"):
        raise GraphError(
            f"data.x must be a tensor of numbers, not a {type(data.x).__name__}.",
            hint="Encode text as numbers, or use Graph.from_tables.",
            parameter="x",
        )
    source, target = data.edge_index.cpu().numpy()
    n_nodes = int(data.num_nodes)
    return RawGraph(
        source=source,
        target=target,
        features=None if data.x is None else _features(data.x),
        weights=_weights(data),
        ids=np.arange(n_nodes) if data.x is None else None,
        labels=None if data.y is None else _labels(data.y),
    )


def check_is_data(data: Any) -> None:
    """Refuse what is not one graph with one kind of nodes."""
    for name, hint in OTHER_PYG.items():
        if is_a(data, "torch_geometric", name):
            raise GraphError(f"A {name} is not one graph with one kind of nodes.", hint=hint, value=name)
    if not is_a(data, "torch_geometric", "Data"):
        raise GraphError(
            f"Expected a torch_geometric.data.Data, not a {type(data).__name__}.", value=type(data).__name__
        )


def to_pyg(adjacency: sp.csr_array, features: Features, labels: NDArray[np.int64] | None) -> Data:
    """Return a `Data` with `x`, `edge_index`, `y` (-1 where unknown) and, if any is not 1, `edge_weight`."""
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingExtraError("A PyG Data", "pyg", (error.name or "torch_geometric").partition(".")[0]) from error
    entries = adjacency.tocoo()
    edge_index = torch.from_numpy(np.stack(entries.coords).astype(np.int64))
    data = Data(x=torch.from_numpy(dense(features)), edge_index=edge_index)
    if np.any(entries.data != 1):
        data.edge_weight = torch.from_numpy(entries.data.copy())
    if labels is not None:
        data.y = torch.from_numpy(labels.copy())
    return data


def to_networkx(
    adjacency: sp.csr_array, features: Features, ids: NDArray[Any], labels: Sequence[Hashable | None]
) -> nx.Graph:
    """Return an undirected graph with the node attributes `x` and `label` and the edge attribute `weight`."""
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


def _attributes(graph: nx.Graph) -> list[str]:
    """Return the names of the node attributes in the order they first appear."""
    return list(dict.fromkeys(str(name) for _, attributes in graph.nodes(data=True) for name in attributes))


def _is_drawing(name: str, values: Sequence[Any]) -> bool:
    """Return whether an attribute holds coordinates or looks: one number, text or dictionary, not a vector."""
    first = next((value for value in values if value is not None), None)
    return name.lower() in DRAWING and (name.lower() in ("viz", "pos") or not _is_vector(first))


def _are_names(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None and value != ""]
    return len(known) > 2 and len({str(value) for value in known}) > len(known) / 2


def _column(values: Sequence[Any]) -> pa.Array:
    plain = [value.tolist() if isinstance(value, np.ndarray | np.generic) else value for value in values]
    try:
        return pa.array(plain, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([None if value is None else str(value) for value in plain], pa.string())


def _is_vector(value: Any) -> bool:
    if value is None or isinstance(value, str | bytes | dict | set):
        return False
    try:
        array = np.asarray(value)
    except ValueError:
        return False
    return array.ndim >= 1 and array.dtype.kind in "biuf"


def _features_of(attributes: Mapping[Any, Any], node: Hashable, features: str | Sequence[str]) -> NDArray[Any]:
    names = [features] if isinstance(features, str) else list(features)
    return np.concatenate([_numbers(attributes, name, node) for name in names])


def _numbers(attributes: Mapping[Any, Any], name: str, node: Hashable) -> NDArray[Any]:
    """Return the numbers of one attribute of a node."""
    if name not in attributes:
        has = ", ".join(map(str, attributes)) or "no attribute"
        raise GraphError(f"Node {node!r} has no attribute {name!r}; it has {has}.", node=node, column=name)
    try:
        array = np.asarray(attributes[name])
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise GraphError(
            f"Attribute {name!r} of node {node!r} is not a number: {shorten(repr(attributes[name]), 40)}.",
            hint="Fill or encode it, or leave `features` out to have text and categories encoded.",
            node=node,
            column=name,
        )
    return np.ravel(array.astype(np.float32))


def _labels(y: Any) -> NDArray[Any]:
    labels = y.squeeze(-1) if y.dim() == 2 and y.size(1) == 1 else y
    if labels.dim() != 1:
        raise LabelError(
            f"data.y has the shape {tuple(labels.shape)}, not one class per node.",
            hint="Choose one column: train one model per label.",
            parameter="y",
        )
    values = _array(labels)
    if values.dtype.kind == "f":
        whole = np.isnan(values) | (values == np.round(values))
        if not whole.all():
            raise LabelError(
                "data.y holds numbers that are not classes.",
                hint="Cut them into bins first, for example with numpy.digitize.",
                parameter="y",
            )
        values = np.where(np.isnan(values), -1, values).astype(np.int64)
    return values


def _weights(data: Data) -> NDArray[Any] | None:
    if data.edge_weight is not None:
        return _array(data.edge_weight).reshape(-1)
    attributes = data.edge_attr
    if not is_a(attributes, "torch", "Tensor"):
        return None
    if attributes.dim() > 1 and attributes.shape[1:].numel() != 1:
        log.warning("edge_attr has %s columns and is not used; set edge_weight", f"{attributes.shape[1:].numel():,}")
        return None
    weights = _array(attributes).reshape(-1)
    if weights.dtype.kind not in "biuf" or not np.all(np.isfinite(weights) & (weights >= 0)):
        log.warning("edge_attr holds negative or missing numbers and is not used as the weight of the edges")
        return None
    log.info("edge_attr is used as the weight of the edges")
    return weights


def _features(x: Any) -> Any:
    if x.is_sparse or x.is_sparse_csr:
        x = x.detach().cpu().to_sparse_coo().coalesce()
        return sp.coo_array((_array(x.values()), tuple(x.indices().numpy())), shape=tuple(x.shape))
    return _array(x)


def _array(tensor: Any) -> NDArray[Any]:
    """Return a tensor as an array; types NumPy does not have, such as bfloat16, become float32."""
    tensor = tensor.detach().cpu()
    try:
        return np.asarray(tensor.numpy())
    except TypeError:
        return np.asarray(tensor.float().numpy())


def _from_pandas(frame: Any, name: str, id_column: str | None) -> pa.Table:
    if frame.index.nlevels > 1:
        raise GraphError(
            f"`{name}` has an index of {frame.index.nlevels} levels.",
            hint="Call reset_index() and name the id column.",
            parameter=name,
        )
    frame = frame.rename(columns=str)
    names = list(frame.columns)
    repeated = sorted({each for each in names if names.count(each) > 1})
    if repeated:
        raise GraphError(
            f"`{name}` has several columns named {repeated[0]!r}.",
            hint="Rename them.",
            parameter=name,
            column=repeated[0],
        )
    wanted = (id_column,) if id_column is not None else ID_NAMES
    has_ids = any(each in wanted or each.strip().lower() in wanted for each in names)
    own = None if frame.index.name is None else str(frame.index.name)
    if (name == "nodes" and not has_ids and (own is not None or not counts_rows(frame.index))) or (
        own is not None and own not in names
    ):
        title = id_column or (own if own is not None and own.strip().lower() in ID_NAMES else "id")
        frame = frame.reset_index(names=title if name == "nodes" and not has_ids else own)
    columns = {}
    for each in frame.columns:
        series = frame[each]
        if is_a(series.dtype, "pandas", "SparseDtype"):
            series = series.sparse.to_dense()
        columns[each] = _series(series, each, name)
    return pa.table(columns) if columns else pa.table({"": pa.nulls(len(frame))})


def _series(series: Any, column: str, name: str) -> pa.Array:
    try:
        values = pa.Array.from_pandas(series)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if not isinstance(values.type, pa.ExtensionType):
            return values
    except (pa.ArrowException, TypeError, ValueError) as error:
        simple = (str, bytes, bool, int, float, np.generic)
        if not all(isinstance(value, simple) for value in series[series.notna()]):
            raise GraphError(
                f"Column {column!r} of `{name}` holds values of several kinds: {quote_error(error)}.",
                hint="Convert it to numbers or text, or drop it.",
                parameter=name,
                column=column,
            ) from error
        log.info("Column %r of %s holds values of several types and is read as text", column, name)
    missing = series.isna().tolist()
    return pa.array([None if gone else str(value) for value, gone in zip(series, missing, strict=True)], pa.string())
