"""`Graph`, the one graph type inside featprop: checked when it is built, then trusted."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import symmetric_adjacency
from featprop.errors import GraphError, first_five
from featprop.html import card
from featprop.ids import as_array, closest, is_a, is_missing, name_to_text, package_of, plain, sorted_classes
from featprop.matrix import Features, dense, smaller

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    from featprop.features import TablePreprocessor

UNKNOWN = -1
"""Code of an unknown label."""

GraphLike: TypeAlias = Union["Graph", "Data", "nx.Graph", str, os.PathLike[str]]
"""A graph, or something `as_graph` makes one of: a PyG `Data`, a NetworkX graph, or a path that `read_graph` takes."""


class GraphCache:
    """Values computed from the edges and features of a graph, which its copies share.

    Threads that ask for the same value wait for one computation. A pickled graph leaves its cache behind.
    """

    def __init__(self) -> None:
        self.values: dict[Hashable, Any] = {}
        self._lock = threading.RLock()

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the value of a key, computing it the first time."""
        with self._lock:
            if key not in self.values:
                self.values[key] = compute()
            return self.values[key]

    def get_latest(self, kind: Hashable, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the value of a key, dropping that of any other key of its kind."""
        with self._lock:
            if self.values.get(kind, (None,))[0] != key:
                self.values.pop(kind, None)
                self.values[kind] = key, compute()
            return self.values[kind][1]

    def __reduce__(self) -> tuple[type[GraphCache], tuple[()]]:
        return GraphCache, ()


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph whose nodes have features.

    Build one with `read_graph`, `from_tables`, `from_scipy`, `from_pyg` or `from_networkx`: they check and copy their
    input. The constructor trusts its arguments. The arrays are read-only because results computed from them are cached.

    Attributes
    ----------
    adjacency : csr_array of float32, shape (n, n)
        Symmetric, no self-loops, no explicit zeros; 1 or the weight of the edge.
    features : csr_array or ndarray of float32, shape (n, d)
        Sparse while that takes less memory than dense.
    ids : ndarray, shape (n,)
        Id of each node, as the user wrote it. Internally, featprop uses positions 0..n-1.
    labels : ndarray of int64, shape (n,), or None
        Index into `classes`, -1 where the label is unknown.
    classes : tuple
        Names of the classes that occur, sorted.
    feature_names : tuple of str or None
        Name of each feature column, if it has one.
    table : pyarrow.Table or None
        The node table, one row per node, for people to read. It omits the id and label columns and, if there are many,
        columns that are features unchanged.
    preprocessor : TablePreprocessor or None
        How its columns became the features.
    repairs : tuple of str
        Description of each repair made when the graph was built.
    weight_scale : float or None
        Divisor of the edge weights; None if unknown.
    candidates : ndarray of bool, shape (n,), or None
        The nodes to select, audit and predict; None for all. The others pass their features on.
    id_name : str
        Name of the id column in the user's table.
    """

    adjacency: sp.csr_array
    features: Features
    ids: NDArray[Any]
    labels: NDArray[np.int64] | None = None
    classes: tuple[Hashable, ...] = ()
    feature_names: tuple[str, ...] | None = None
    table: pa.Table | None = None
    preprocessor: TablePreprocessor | None = None
    repairs: tuple[str, ...] = ()
    weight_scale: float | None = None
    candidates: NDArray[np.bool_] | None = None
    id_name: str = "id"
    cache: GraphCache = field(default_factory=GraphCache, init=False)

    @classmethod
    def from_edges(
        cls, source: Any, target: Any, features: Any = None, *, weights: Any = None, ids: Any = None, labels: Any = None
    ) -> Graph:
        """Build a graph from the two ends of each edge; every repair is logged.

        Parameters
        ----------
        source, target
            The ends, as positions 0..n-1 of nodes.
        features
            Shape (n, d), sparse or dense; structural features by default.
        weights
            Weight of each edge; 1 by default.
        ids
            Id of each node; 0..n-1 by default. Required without features.
        labels
            Class of each node; None, NaN or, if all are integers, a negative number where unknown.
        """
        if features is None and ids is None:
            raise GraphError(
                "`ids` is required without `features`.", hint="Pass range(n) for n nodes.", parameter="ids"
            )
        matrix = None if features is None else _checked_features(features)
        names = _checked_ids(ids, len(ids) if matrix is None else matrix.shape[0])
        adjacency, repairs = symmetric_adjacency(source, target, weights, names)
        feature_names = None
        if matrix is None:
            from featprop.sources.structure import structural_features

            matrix, feature_names = structural_features(adjacency)
        else:
            check_finite(matrix, names, None)
        codes, classes = encode_labels(labels, len(names))
        return freeze(cls(adjacency, matrix, names, codes, classes, feature_names, repairs=repairs, weight_scale=1.0))

    @classmethod
    def from_scipy(cls, adjacency: Any, features: Any = None, *, ids: Any = None, labels: Any = None) -> Graph:
        """Build a graph from an adjacency matrix and a feature matrix, each sparse or dense.

        Parameters
        ----------
        adjacency
            Shape (n, n). An entry is the weight of an edge; the matrix need not be symmetric. Duplicate entries are
            summed, as in SciPy.
        features
            Shape (n, d); structural features by default.
        ids
            Id of each node; 0..n-1 by default.
        labels
            Class of each node; None, NaN or, if all are integers, a negative number where unknown.
        """
        if sp.issparse(adjacency) and adjacency.dtype.kind in "iu":
            adjacency = adjacency.astype(np.float64)  # a small integer type may overflow in the sum
        matrix = sp.csr_array(adjacency)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        entries = matrix.tocoo()
        if features is not None:
            features = features if sp.issparse(features) else np.asarray(features)
        n = entries.shape[0] if features is None else features.shape[0]
        if entries.shape != (n, n):
            shapes = f"{entries.shape}" if features is None else f"{entries.shape} and {features.shape}"
            raise GraphError(
                f"`adjacency` must be square with one row per row of `features`; the shapes are {shapes}.",
                parameter="adjacency",
                value=entries.shape,
            )
        source, target = entries.coords
        if labels is not None and not (isinstance(labels, np.ndarray) and labels.dtype != object):
            labels = as_array(plain(labels))
        names = np.arange(n) if ids is None and features is None else ids
        return cls.from_edges(source, target, features, weights=entries.data, ids=names, labels=labels)

    @classmethod
    def from_tables(cls, nodes: Any, edges: Any, **settings: Any) -> Graph:
        """Build a graph from two tables: pandas, Polars, DuckDB, Arrow, anything with ``__arrow_c_stream__``.

        Parameters
        ----------
        nodes
            One row per node, or None if the edges name all nodes. The index of a pandas data frame holds the ids if it
            has no id column.
        edges
            One row per edge, with the ids of its two ends and, if it has one, its weight; None for no edges.
        **settings
            Fields of `featprop.sources.GraphDescription`, such as ``id``, ``label``, ``source``, ``target``,
            ``ignore``, ``kinds`` and ``only``.
        """
        from featprop.sources.objects import graph_from_tables

        return graph_from_tables(nodes, edges, settings)

    @classmethod
    def from_pyg(cls, data: Data) -> Graph:
        """Build a graph from a PyTorch Geometric `Data` with `edge_index`, and `x` and `y` if they are there.

        The weight of an edge is its `edge_weight` or, without any, its `edge_attr` if that is one non-negative number.
        """
        from featprop.sources.objects import graph_from_pyg

        return graph_from_pyg(data)

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph,
        *,
        features: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str = "weight",
    ) -> Graph:
        """Build a graph from a NetworkX graph; its nodes become the ids.

        Parameters
        ----------
        graph
            The graph.
        features
            Node attributes that become features like the columns of a table; by default ``x`` if it is a vector, else
            all but drawing coordinates.
        label
            Node attribute that holds the class, where it is known; ``label`` by default.
        weight
            Edge attribute that holds the weight; an edge without it weighs 1.
        """
        from featprop.sources.objects import graph_from_networkx

        return graph_from_networkx(graph, features, label, weight)

    def to_pyg(self) -> Data:
        """Return a PyTorch Geometric `Data` with `x`, `edge_index` and, where known, `y` and `edge_weight`."""
        from featprop.sources.objects import to_pyg

        return to_pyg(self.adjacency, self.features, self.labels)

    def to_networkx(self) -> nx.Graph:
        """Return a NetworkX graph with the node attributes `x` and `label` and the edge attribute `weight`."""
        from featprop.sources.objects import to_networkx

        return to_networkx(self.adjacency, self.features, self.ids, self.class_names())

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return int(self.adjacency.nnz) // 2

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return int(self.features.shape[1])

    @property
    def candidate_positions(self) -> NDArray[np.intp]:
        """Positions of the nodes to select, audit and predict."""
        return np.arange(self.n_nodes) if self.candidates is None else np.flatnonzero(self.candidates)

    def class_names(self) -> list[Hashable | None]:
        """Return the class name of each node, None where it is unknown."""
        if self.labels is None:
            return [None] * self.n_nodes
        return [None if code == UNKNOWN else self.classes[code] for code in self.labels.tolist()]

    def without_labels(self) -> Graph:
        """Return the graph without its labels; both share one cache."""
        return self._sharing_cache(replace(self, labels=None, classes=()))

    def _sharing_cache(self, other: Graph) -> Graph:
        object.__setattr__(other, "cache", self.cache)
        return other

    def column(self, name: str) -> pa.Array | None:
        """Return a column of the table of the nodes, or None if there is none of that name."""
        if self.preprocessor is not None and self.feature_names and name in self.preprocessor.raw_columns:
            values = dense(self.features[:, [self.feature_names.index(name)]])
            return pa.array(values[:, 0].astype(np.float64))
        if self.table is None or name not in self.table.column_names:
            return None
        return self.table.column(name).combine_chunks()

    def transformed(self, preprocessor: TablePreprocessor) -> Graph:
        """Return the graph with the features that another preprocessor makes of its table, one that a model learned.

        It is this graph if the preprocessor is its own, or if there is no table.
        """
        own = self.preprocessor
        if own is None or own.fingerprint == preprocessor.fingerprint:
            return self

        def transform() -> Graph:
            columns = {name: values for name in preprocessor.column_names if (values := self.column(name)) is not None}
            table = pa.table(columns) if columns else pa.table({"": pa.nulls(self.n_nodes)})
            features, names = smaller(preprocessor.transform(table)), preprocessor.feature_names
            check_finite(features, self.ids, names)
            bare = replace(self, features=features, feature_names=names or None, preprocessor=preprocessor)
            return freeze(replace(bare, labels=None, classes=()))

        bare: Graph = self.cache.get_latest("transformed", preprocessor.fingerprint, transform)
        return bare._sharing_cache(replace(bare, labels=self.labels, classes=self.classes))

    @cached_property
    def fingerprint(self) -> str:
        """Digest (32 hexadecimal digits) of the edges, features, ids, labels and classes."""
        digest = hashlib.blake2b(digest_size=16)
        arrays = [*_arrays(self.adjacency), *_arrays(self.features)]
        arrays += [] if self.labels is None else [self.labels]
        arrays += [self.ids] if self.ids.dtype.kind in "iu" else []
        names = [*self.classes, *([] if self.ids.dtype.kind in "iu" else self.ids.tolist())]
        for array in arrays:
            wide = array if array.dtype == np.float32 else array.astype("<i8")
            digest.update(f"{array.shape};".encode())
            for start in range(0, len(wide), 1 << 20):
                digest.update(np.ascontiguousarray(wide[start : start + (1 << 20)]).data)
        for name in names:
            digest.update(f"{name_to_text(name)};".encode())
        return digest.hexdigest()

    def positions(self, ids: Iterable[Hashable], what: str = "nodes") -> NDArray[np.intp]:
        """Return the position of each of `ids`; `what` describes them in the error about an unknown id.

        Booleans are a mask with one value per node, unless the ids of the graph are booleans.
        """
        wanted = plain(ids)
        if wanted and all(isinstance(name, bool) for name in wanted) and not _has_booleans(self.ids):
            if len(wanted) != self.n_nodes:
                message = f"A mask of {what} must have one boolean per node, {self.n_nodes:,}, not {len(wanted):,}."
                raise GraphError(message, parameter=what, value=len(wanted))
            return np.flatnonzero(wanted)
        found = [self._position(name) for name in wanted]
        unknown = [name for name, position in zip(wanted, found, strict=True) if position == UNKNOWN]
        if unknown:
            near = closest(unknown[0], self.ids.tolist())
            raise GraphError(
                f"Some {what} are not in the graph: {first_five(list(map(repr, unknown)))}.",
                hint=f"Its ids look like {self.ids.tolist()[0]!r}." if near is None else f"Did you mean {near!r}?",
                parameter=what,
                node=unknown[0],
            )
        return np.array(found, dtype=np.intp)

    def has(self, name: Hashable) -> bool:
        """Return whether the graph has a node of that id."""
        return self._position(name) != UNKNOWN

    def _position(self, name: Hashable) -> int:
        """Return the position of an id, -1 if there is none; numbered nodes need no lookup table."""
        if not self.is_counted:
            return self._position_of.get(name, UNKNOWN)
        if isinstance(name, int | float) and 0 <= name < self.n_nodes and name == int(name):
            return int(name)
        return UNKNOWN

    @cached_property
    def is_counted(self) -> bool:
        """Whether the ids are the positions 0, 1, 2, …."""
        return self.ids.dtype.kind in "iu" and bool(np.array_equal(self.ids, np.arange(self.n_nodes)))

    @cached_property
    def _position_of(self) -> dict[Hashable, int]:
        return {name: position for position, name in enumerate(self.ids.tolist())}

    def __repr__(self) -> str:
        known = 0 if self.labels is None else np.count_nonzero(self.labels != UNKNOWN)
        labels = f", {known:,} labels of {len(self.classes)} classes" if known else ""
        return f"Graph({self.n_nodes:,} nodes, {self.n_edges:,} edges, {self.n_features:,} features{labels})"

    def _repr_html_(self) -> str:
        kind = "sparse" if sp.issparse(self.features) else "dense"
        names = first_five(self.feature_names) if self.feature_names else f"{self.n_features:,}"
        facts = [
            ("nodes", f"{self.n_nodes:,}, such as {', '.join(map(repr, self.ids[:3].tolist()))}"),
            ("edges", f"{self.n_edges:,}"),
            ("features", f"{names}, {kind}"),
            ("classes", first_five(self.classes) if self.classes else "none"),
        ]
        return card("Graph", facts)


def is_structural(feature_names: Sequence[str] | None) -> bool:
    """Return whether features are `structural_features`, which say where a node is in one graph only."""
    return bool(feature_names) and all(name == "degree" or name.startswith("spectral_") for name in feature_names or ())


def _arrays(matrix: Any) -> list[NDArray[Any]]:
    return [matrix.indptr, matrix.indices, matrix.data] if sp.issparse(matrix) else [matrix]


def freeze(graph: Graph) -> Graph:
    """Make the arrays of a graph read-only and return it."""
    arrays = [*_arrays(graph.adjacency), *_arrays(graph.features), graph.ids]
    for array in [*arrays, *(each for each in (graph.labels, graph.candidates) if each is not None)]:
        array.flags.writeable = False
    return graph


def _checked_features(given: Any) -> Features:
    features = given if sp.issparse(given) else np.asarray(given)
    if features.ndim != 2 or 0 in features.shape:
        message = f"`features` must be a matrix with one row per node, not an array of shape {features.shape}."
        raise GraphError(message, parameter="features", value=features.shape)
    if features.dtype.kind not in "biuf":
        kind = str(features.dtype)
        raise GraphError(f"`features` must be numbers, not {kind}.", parameter="features", value=kind)
    with np.errstate(over="ignore"):
        return smaller(features)


def check_finite(features: Features, ids: Any, names: Sequence[str] | None) -> None:
    """Refuse features that are not finite; `ids` names the nodes by position, `names` the features."""
    values = features.data if sp.issparse(features) else features
    if np.isfinite(values).all():
        return
    entries = sp.coo_array(features)
    bad = np.flatnonzero(~np.isfinite(entries.data))[0]
    row, column = (int(positions[bad]) for positions in entries.coords)
    node = ids[row].as_py() if isinstance(ids[row], pa.Scalar) else plain([ids[row]])[0]
    raise GraphError(
        "Features must be finite numbers below 3.4e38, but feature "
        f"{names[column] if names else column!r} of node {node!r} is {entries.data[bad]}.",
        hint="Fill or drop these values.",
        parameter="features",
        value=float(entries.data[bad]),
        column=str(names[column]) if names else None,
        node=node,
    )


def _has_booleans(ids: NDArray[Any]) -> bool:
    return ids.dtype == object and any(isinstance(name, bool) for name in ids)


def _checked_ids(ids: Any, n: int) -> NDArray[Any]:
    if n == 0:
        raise GraphError("The graph has no nodes.", hint="Add a row for each node.", parameter="features")
    if ids is None:
        return np.arange(n)
    names = plain(ids)
    if len(names) != n or (isinstance(ids, np.ndarray) and ids.ndim != 1):
        message = f"`ids` must have one entry per node, {n:,}, not {len(names):,}."
        raise GraphError(message, parameter="ids", value=len(names))
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        message = f"Node ids must be distinct, but several nodes share an id: {first_five(list(map(repr, repeated)))}."
        raise GraphError(message, parameter="ids", node=repeated[0])
    return as_array(names)


def encode_labels(labels: Any, n: int) -> tuple[NDArray[np.int64] | None, tuple[Hashable, ...]]:
    """Return the code of each label and the classes; None, NaN and negative integers in an array are unknown."""
    if labels is None:
        return None, ()
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        message = f"`labels` must be one column with one class per node, not an array of shape {labels.shape}."
        raise GraphError(message, parameter="labels", value=labels.shape)
    if len(labels) != n:
        message = f"`labels` must have one entry per node, {n:,}, not {len(labels):,}."
        raise GraphError(message, parameter="labels", value=len(labels))
    codes = np.full(n, UNKNOWN, dtype=np.int64)
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        known = labels >= 0
        names, codes[known] = np.unique(labels[known], return_inverse=True)
        return codes, tuple(names.tolist())
    listed = plain(labels)
    classes = sorted_classes(name for name in listed if not is_missing(name))
    code_of = {name: code for code, name in enumerate(classes)}
    codes[:] = [UNKNOWN if is_missing(name) else code_of[name] for name in listed]
    return codes, classes


def as_graph(source: GraphLike, preprocessor: TablePreprocessor | None = None) -> Graph:
    """Return a graph unchanged, build one from a PyG `Data` or a NetworkX graph, or read one from a path.

    A graph that is built or read is not kept: pass a `Graph` instead of a path to read it once.

    Parameters
    ----------
    source
        The graph, or what to make one of.
    preprocessor
        How columns of tables become features, for example a fitted model's.
    """
    if isinstance(source, Graph):
        return source
    if isinstance(source, str | os.PathLike):
        from featprop.sources import read_graph

        return read_graph(source, preprocessor=preprocessor)
    if package_of(source) == "torch_geometric" or is_a(source, "torch_geometric", "Data"):
        return Graph.from_pyg(source)
    if is_a(source, "networkx", "Graph"):
        return Graph.from_networkx(source)
    raise GraphError(
        f"A graph must be a Graph, a PyG Data, a NetworkX graph or a path, not of type {type(source).__name__}.",
        hint="Make one with fp.Graph.from_tables(nodes, edges) or fp.Graph.from_scipy(adjacency, features).",
        parameter="graph",
        value=type(source).__name__,
    )
