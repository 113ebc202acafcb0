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

from featprop.errors import GraphError, LabelError, MissingExtraError, unknown_choice
from featprop.graph import Graph, freeze
from featprop.ids import as_array, counts_rows, is_a, is_missing, is_series
from featprop.matrix import Features, dense
from featprop.sources.building import build_graph
from featprop.sources.description import GraphDescription
from featprop.sources.naming import ID_NAMES, LABEL_NAME
from featprop.sources.tables import Tables

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

log = logging.getLogger(__name__)

DRAWING = ("x", "y", "z", "pos", "viz", "size", "r", "g", "b", "color", "colour", "shape")
"""Attributes that programs write for drawing."""


def graph_from_tables(nodes: Any, edges: Any, settings: Mapping[str, Any]) -> Graph:
    """Return the graph of two tables in memory: see `Graph.from_tables`."""
    known = [each.name for each in fields(GraphDescription) if each.name not in ("nodes", "edges", "attach", "folder")]
    for name in settings:
        if name not in known:
            raise unknown_choice("settings", name, known)
    description = GraphDescription(**settings)
    with Tables() as tables:
        node_source, edge_source = (
            None if frame is None else tables.arrow(_as_table(frame, name, description.id), name)
            for frame, name in ((nodes, "nodes"), (edges, "edges"))
        )
        return build_graph(tables, description, node_source, edge_source)


def _as_table(frame: Any, name: str, id_column: str | None) -> pa.Table:
    """Return a data frame of any library as an Arrow table."""
    if is_a(frame, "pandas", "DataFrame"):
        return _from_pandas(frame, name, id_column)
    if hasattr(frame, "__arrow_c_stream__") and not is_series(frame):
        return pa.table(frame)
    raise GraphError(
        f"`{name}` must be a table (pandas, Polars, Arrow, DuckDB), not an object of type {type(frame).__name__}.",
        parameter=name,
        value=type(frame).__name__,
    )


def _from_pandas(frame: Any, name: str, id_column: str | None) -> pa.Table:
    """Return the table of a pandas data frame, whose index holds the ids of nodes without an id column."""
    frame = frame.rename(columns=str)
    if not frame.columns.is_unique:
        repeated = str(frame.columns[frame.columns.duplicated()][0])
        message = f"`{name}` has several columns named {repeated!r}."
        raise GraphError(message, hint="Rename them.", parameter=name, column=repeated)
    index = frame.index
    if index.nlevels > 1:
        raise GraphError(f"`{name}` has an index of several levels.", hint="Call reset_index().", parameter=name)
    wanted = ID_NAMES if id_column is None else (id_column,)
    has_ids = any(column in wanted or column.strip().lower() in wanted for column in frame.columns)
    if name == "nodes" and not has_ids and (index.name is not None or not counts_rows(index)):
        is_usual = str(index.name).strip().lower() in ID_NAMES
        frame = frame.reset_index(names=id_column or (str(index.name) if is_usual else "id"))
    elif index.name is not None and index.name not in frame.columns:
        frame = frame.reset_index(names=str(index.name))
    if frame.columns.empty:
        return pa.table({"": pa.nulls(len(frame))})
    return pa.table({column: _column(frame[column]) for column in frame.columns})


def _column(values: Any) -> pa.Array:
    """Return a pandas series or a list as a column; values of several types become text."""
    if is_a(getattr(values, "dtype", None), "pandas", "SparseDtype"):
        values = values.sparse.to_dense()
    try:
        column = pa.array(values, from_pandas=True)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if not isinstance(column.type, pa.ExtensionType):
            return column
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        log.info("A column with values of several types is read as text")
    return pa.array([None if is_missing(value) else str(value) for value in values], pa.string())


def graph_from_networkx(
    graph: nx.Graph, features: str | Sequence[str] | None = None, label: str | None = None, weight: str = "weight"
) -> Graph:
    """Return the graph of a NetworkX graph: see `Graph.from_networkx`."""
    ids = list(graph.nodes)
    position = {node: index for index, node in enumerate(ids)}
    ends = np.array([(position[a], position[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    weights = weights_of([value for _, _, value in graph.edges(data=weight)])
    names = dict.fromkeys(str(name) for _, attributes in graph.nodes(data=True) for name in attributes)
    columns: Mapping[str, Sequence[Any]] = {name: [value for _, value in graph.nodes(data=name)] for name in names}
    if features is None:
        chosen = ["x"] if _is_vector(next(iter(columns.get("x", ())), None)) else list(without_drawing(columns))
    else:
        chosen = [features] if isinstance(features, str) else list(features)
    for name in chosen:
        if name not in columns:
            raise unknown_choice("features", name, columns)
    labels = [name for name in columns if name == label or (label is None and name.lower() == LABEL_NAME)]
    return graph_from_columns(ids, {name: columns[name] for name in (*chosen, *labels)}, ends, weights, label)


def graph_from_columns(
    ids: Sequence[Hashable],
    columns: Mapping[str, Sequence[Any]],
    ends: NDArray[np.int64],
    weights: NDArray[Any] | None = None,
    label: str | None = None,
) -> Graph:
    """Return a graph whose columns become features as those of a table do.

    `ends` are the positions of the two ends of each edge, `label` names the column of the labels.
    """
    position = next(name for name in ("id", "_id", "_position") if name not in columns)
    nodes = pa.table({position: np.arange(len(ids)), **{name: _column(values) for name, values in columns.items()}})
    edges = pa.table({"source": ends[:, 0], "target": ends[:, 1], **({} if weights is None else {"weight": weights})})
    usual: dict[str, Any] = {"id": position, "label": label, "source": "source", "target": "target", "weights": "raw"}
    graph = graph_from_tables(nodes, edges, usual)
    return freeze(replace(graph, ids=as_array(list(ids)), id_name="id"))


def weights_of(given: Sequence[Any]) -> NDArray[Any] | None:
    """Return the weights of edges, 1 where an edge has none; None if no edge has one."""
    if all(weight is None for weight in given):
        return None
    return np.array([1.0 if weight is None else weight for weight in given])


def without_drawing(columns: Mapping[str, Sequence[Any]]) -> Mapping[str, Sequence[Any]]:
    """Return the columns that do not hold coordinates or looks."""
    kept = {name: values for name, values in columns.items() if not _is_drawing(name, values)}
    if len(kept) < len(columns):
        log.info("Attributes for drawing are not features: %s", ", ".join(sorted(set(columns) - set(kept))))
    return kept


def _is_drawing(name: str, values: Sequence[Any]) -> bool:
    """Return whether an attribute holds coordinates or looks: one number, text or dictionary, not a vector."""
    first = next((value for value in values if value is not None), None)
    return name.lower() in DRAWING and (name.lower() in ("viz", "pos") or not _is_vector(first))


def _is_vector(value: Any) -> bool:
    """Return whether a value is a list, an array or a tensor of numbers."""
    if not isinstance(value, list | tuple) and not getattr(value, "ndim", 0):
        return False
    return all(isinstance(each, int | float | np.number) for each in np.asarray(value, dtype=object).ravel())


def graph_from_pyg(data: Data) -> Graph:
    """Return the graph of a `Data`; the weights are `edge_weight`, or `edge_attr` if it has one number per edge."""
    check_is_data(data)
    if data.edge_index is None:
        raise GraphError("The Data has no edge_index.", hint="Set data.edge_index.", parameter="edge_index")
    if data.x is not None and not is_a(data.x, "torch", "Tensor"):
        message = f"data.x must be a tensor of numbers, not a {type(data.x).__name__}."
        raise GraphError(message, hint="Encode text as numbers, or use Graph.from_tables.", parameter="x")
    source, target = data.edge_index.cpu().numpy()
    return Graph.from_edges(
        source,
        target,
        None if data.x is None else _features(data.x),
        weights=_weights(data),
        ids=np.arange(int(data.num_nodes)) if data.x is None else None,
        labels=None if data.y is None else _labels(data.y),
    )


def check_is_data(data: Any) -> None:
    """Refuse what is not one graph with one kind of nodes."""
    if not is_a(data, "torch_geometric", "Data") or is_a(data, "torch_geometric", "Batch"):
        kind = type(data).__name__
        hint = "Pass one graph with one kind of nodes, such as dataset[0] or data.to_homogeneous()."
        raise GraphError(f"Expected a torch_geometric.data.Data, not a {kind}.", hint=hint, value=kind)


def _labels(y: Any) -> NDArray[np.int64]:
    labels = y.squeeze(-1) if y.dim() == 2 and y.size(1) == 1 else y
    if labels.dim() != 1:
        message = f"data.y has the shape {tuple(labels.shape)}, not one class per node."
        raise LabelError(message, hint="Choose one column: train one model per label.", parameter="y")
    values = labels.detach().cpu().double().numpy()
    known = ~np.isnan(values)
    if (values[known] % 1 != 0).any():
        hint = "Cut them into bins first, for example with numpy.digitize."
        raise LabelError("data.y holds numbers that are not classes.", hint=hint, parameter="y")
    return np.where(known, values, -1).astype(np.int64)


def _weights(data: Data) -> NDArray[np.float32] | None:
    if data.edge_weight is not None:
        return _floats(data.edge_weight).reshape(-1)
    if not is_a(data.edge_attr, "torch", "Tensor"):
        return None
    weights = _floats(data.edge_attr)
    if weights.size != len(weights) or not np.all(np.isfinite(weights) & (weights >= 0)):
        log.warning("edge_attr is not one number of at least 0 per edge and is not used; set edge_weight")
        return None
    log.info("edge_attr is used as the weight of the edges")
    return weights.reshape(-1)


def _features(x: Any) -> Any:
    if x.is_sparse or x.is_sparse_csr:
        x = x.detach().cpu().to_sparse_coo().coalesce()
        return sp.coo_array((_floats(x.values()), tuple(x.indices().numpy())), shape=tuple(x.shape))
    return _floats(x)


def _floats(tensor: Any) -> NDArray[np.float32]:
    return np.asarray(tensor.detach().cpu().float().numpy())


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
    names = ids.tolist()
    graph = nx.relabel_nodes(nx.from_scipy_sparse_array(adjacency), dict(enumerate(names)))
    nx.set_node_attributes(graph, dict(zip(names, dense(features), strict=True)), "x")
    known = {name: label for name, label in zip(names, labels, strict=True) if label is not None}
    nx.set_node_attributes(graph, known, "label")
    return graph
