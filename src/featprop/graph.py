"""The one graph type inside featprop: checked once at the door, then trusted."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import symmetric_adjacency
from featprop.errors import GraphError, first_five, unknown_choice
from featprop.html import bars, card
from featprop.interop.networkx import raw_from_networkx, to_networkx
from featprop.interop.pandas import Frame, naming_arguments, table_of
from featprop.interop.plain import as_array, is_missing, plain, sorted_classes
from featprop.interop.positions import repeated_ids
from featprop.interop.pyg import raw_from_pyg, to_pyg
from featprop.interop.raw import RawGraph
from featprop.interop.tables import raw_from_tables
from featprop.matrix import Features, dense, smaller
from featprop.names import name_to_text
from featprop.tables import Preparation, TableOptions
from featprop.tables.looks import column_of
from featprop.tables.naming import ID_NAMES
from featprop.tables.near import did_you_mean

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

__all__ = ["UNKNOWN", "Graph", "check_finite", "encoded"]

_COMPUTING = threading.RLock()
"""Held while something is computed once: two threads that ask for it wait for one."""

UNKNOWN = -1
"""The code of a label that is not known."""

SHOWN_NODES = 100_000
"""Nodes whose neighbours are counted for a picture; of more nodes, about as many at equal steps."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph whose nodes have features.

    Build one with `read_graph`, `from_pandas`, `from_scipy`, `from_pyg` or `from_networkx`: they check what they are
    given and copy it, and the arrays cannot be written to, as much is computed from them once. The constructor trusts
    its arguments.

    Attributes
    ----------
    adjacency : csr_array of float32, shape (n, n)
        Symmetric, no self loops, no explicit zeros; 1 or the weight of the edge.
    features : csr_array or ndarray of float32, shape (n, d)
        Sparse while that takes less memory than dense.
    ids : ndarray, shape (n,)
        The user's name of each node. Everything inside featprop uses positions 0..n-1 instead.
    labels : ndarray of int64, shape (n,), or None
        Index into `classes`, -1 where the label is not known.
    classes : tuple
        The class names that occur, sorted.
    feature_names : tuple of str or None
        The name of each feature column, if it has one.
    table : pyarrow.Table or None
        The table of the nodes as it came, a row a node: what a person can read of them. The column of the labels is
        not in it, and columns that are features unchanged are not if they are many.
    preparation : Preparation or None
        How its columns became the features.
    repairs : tuple of str
        What was mended when the graph was made.
    weight_scale : float or None
        What the weights of the edges were divided by; None if that is not known, or there was none to tell.
    """

    adjacency: sp.csr_array
    features: Features
    ids: NDArray[Any]
    labels: NDArray[np.int64] | None = None
    classes: tuple[Hashable, ...] = ()
    feature_names: tuple[str, ...] | None = None
    table: pa.Table | None = None
    preparation: Preparation | None = None
    repairs: tuple[str, ...] = ()
    weight_scale: float | None = None
    _computed: dict[Hashable, Any] = field(default_factory=dict, init=False)

    @classmethod
    def from_raw(cls, raw: RawGraph) -> Graph:
        """Check the arrays of an outside graph and build the graph; each repair is counted in the log."""
        features = _checked_features(raw)
        n = features.shape[0]
        ids = _checked_ids(raw.ids, n)
        check_finite(features, ids, raw.feature_names)
        adjacency, repairs, scale = symmetric_adjacency(raw, ids)
        labels, classes = encoded(raw.labels, n)
        for array in (*_arrays(adjacency), *_arrays(features), ids, *([] if labels is None else [labels])):
            array.flags.writeable = False
        parts = (adjacency, features, ids, labels, classes, raw.feature_names, raw.table, raw.preparation)
        return cls(*parts, repairs, scale)

    @classmethod
    def from_scipy(cls, adjacency: Any, features: Any, *, ids: Any = None, labels: Any = None) -> Graph:
        """Build a graph from an adjacency matrix and a feature matrix, each sparse or dense.

        Parameters
        ----------
        adjacency
            Shape (n, n). An entry is the weight of an edge; the matrix need not be symmetric. Entries of one place are
            summed, as SciPy does.
        features
            Shape (n, d).
        ids
            The name of each node; 0..n-1 if not given.
        labels
            The class of each node; None, NaN or, if all are integers, a negative one where unknown.
        """
        if sp.issparse(adjacency) and adjacency.dtype.kind in "iu":
            adjacency = adjacency.astype(np.float64)  # small whole numbers may not hold their sum
        matrix = sp.csr_array(adjacency)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        entries = matrix.tocoo()
        features = features if sp.issparse(features) else np.asarray(features)
        if entries.shape != features.shape[:1] * 2:
            found = f"the shapes {entries.shape} and {features.shape}"
            raise GraphError("adjacency", "must be square with one row a feature row", found, "pass matching ones")
        source, target = entries.coords
        if labels is not None and not (isinstance(labels, np.ndarray) and labels.dtype != object):
            labels = as_array(plain(labels))
        return cls.from_raw(RawGraph(source, target, features, entries.data, ids=ids, labels=labels))

    @classmethod
    def from_pandas(cls, nodes: Frame, edges: Frame, **options: Any) -> Graph:
        """Build a graph from two pandas data frames or Arrow tables: the columns of the nodes become features.

        Parameters
        ----------
        nodes
            A row a node. An index that does not count the rows from 0 holds the ids, if there is no id column.
        edges
            A row an edge, with the ids of its two ends and, if it has one, its weight.
        **options
            As in `featprop.tables.TableOptions`: the columns `id`, `label`, `source` and `target`, the `features` to
            take, the kinds of `columns`, `raw`, `weights` and `repeated`.
        """
        known = [option.name for option in fields(TableOptions)]
        for name in options:
            if name not in known:
                raise unknown_choice("Option of from_pandas", name, known)
        chosen = TableOptions(**options)
        node_table = table_of(nodes, "nodes", ID_NAMES if chosen.id is None else (chosen.id,))
        edge_table = table_of(edges, "edges")
        with naming_arguments():
            return cls.from_raw(raw_from_tables(node_table, edge_table, chosen, "nodes", "edges"))

    @classmethod
    def from_pyg(cls, data: Data) -> Graph:
        """Build a graph from a PyTorch Geometric `Data` with `x` and `edge_index`, and `y` if labels are known.

        The weight of an edge is its `edge_weight` or, without any, its `edge_attr` if that is one number, not negative.
        """
        return cls.from_raw(raw_from_pyg(data))

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph,
        *,
        features: str | Sequence[str] = "x",
        label: str = "label",
        weight: str = "weight",
    ) -> Graph:
        """Build a graph from a NetworkX graph; its nodes become the ids.

        Parameters
        ----------
        features
            The node attribute that holds the feature vector, or several that hold one number each.
        label
            The node attribute that holds the class, where it is known.
        weight
            The edge attribute that holds the weight; an edge without it weighs 1.
        """
        return cls.from_raw(raw_from_networkx(graph, features, label, weight))

    def to_pyg(self) -> Data:
        """Return a PyTorch Geometric `Data` with `x`, `edge_index` and, where known, `y` and `edge_weight`."""
        return to_pyg(self.adjacency, self.features, self.labels)

    def to_networkx(self) -> nx.Graph:
        """Return a NetworkX graph with the node attributes `x` and `label` and the edge attribute `weight`."""
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

    def class_names(self) -> list[Hashable | None]:
        """Return the class of each node by name, None where it is not known."""
        if self.labels is None:
            return [None] * self.n_nodes
        return [None if code == UNKNOWN else self.classes[code] for code in self.labels.tolist()]

    def without_labels(self) -> Graph:
        """Return the same graph as somebody sees it who knows no label; what was computed from it is shared."""
        bare = replace(self, labels=None, classes=())
        object.__setattr__(bare, "_computed", self._computed)
        return bare

    def column(self, name: str) -> pa.Array | None:
        """Return a column of the nodes' table, or None if there is none of that name."""
        if self.preparation is not None and self.feature_names and name in self.preparation.as_it_is:
            values = dense(self.features[:, [self.feature_names.index(name)]])
            return pa.array(values[:, 0].astype(np.float64))
        return None if self.table is None else column_of(self.table, name)

    def prepared(self, preparation: Preparation) -> Graph:
        """Return the graph with features that another preparation makes of its table, one that a model learnt from.

        It is this graph if the preparation is its own, or if there is no table to prepare.
        """
        own = self.preparation
        if own is None or own.fingerprint == preparation.fingerprint:
            return self
        key = ("prepared", preparation.fingerprint)

        def prepare() -> Graph:
            made, titles = preparation.apply(self.column, self.n_nodes)
            features = smaller(made)
            check_finite(features, self.ids, titles)
            for array in _arrays(features):
                array.flags.writeable = False
            bare = replace(self, labels=None, classes=())
            return replace(bare, features=features, feature_names=titles, preparation=preparation)

        self.forget(lambda other: isinstance(other, tuple) and other[0] == "prepared" and other != key)
        bare: Graph = self.once(key, prepare)
        named = replace(bare, labels=self.labels, classes=self.classes)
        object.__setattr__(named, "_computed", bare._computed)
        return named

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` computes from edges and features alone: the first time, and the same from then on."""
        with _COMPUTING:
            if key not in self._computed:
                self._computed[key] = make()
            return self._computed[key]

    def forget(self, unwanted: Callable[[Hashable], bool]) -> None:
        """Let go of what was computed once under a key that is not wanted any more."""
        with _COMPUTING:
            for key in [key for key in self._computed if unwanted(key)]:
                del self._computed[key]

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that are the same for equal graphs only: edges, features, ids, labels and classes."""
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
        """Return the position of each of `ids`; `what` names them in the error about an unknown one.

        Truth values are a mask, one for every node in their order, unless the ids of the graph are truth values.
        """
        wanted = plain(ids)
        if wanted and all(isinstance(name, bool) for name in wanted) and not _has_truth_values(self.ids):
            if len(wanted) != self.n_nodes:
                rule = f"must be ids, or a mask of {self.n_nodes:,} truth values, one a node"
                raise GraphError(what, rule, f"{len(wanted):,} truth values", "pass one for every node, or the ids")
            return np.flatnonzero(wanted)
        found = [self._position(name) for name in wanted]
        unknown = [repr(name) for name, position in zip(wanted, found, strict=True) if position == UNKNOWN]
        if unknown:
            strange = [name for name, position in zip(wanted, found, strict=True) if position == UNKNOWN]
            cure = did_you_mean(strange, self.ids.tolist()) or f"ids of this graph look like {self.ids.tolist()[0]!r}"
            raise GraphError(what, "must be ids of the graph", f"{first_five(unknown)} unknown", cure)
        return np.array(found, dtype=np.intp)

    def has(self, name: Hashable) -> bool:
        """Say whether a node of that id is in the graph."""
        return self._position(name) != UNKNOWN

    def _position(self, name: Hashable) -> int:
        """Return where a node of that id is, -1 if there is none; of counted nodes without a table of all names."""
        if not self.is_counted:
            return self._position_of.get(name, UNKNOWN)
        if isinstance(name, int | float) and 0 <= name < self.n_nodes and name == int(name):
            return int(name)
        return UNKNOWN

    @cached_property
    def is_counted(self) -> bool:
        """Whether nodes have no names but their places, 0, 1, 2, …."""
        return self.ids.dtype.kind in "iu" and bool(np.array_equal(self.ids, np.arange(self.n_nodes)))

    @cached_property
    def _position_of(self) -> dict[Hashable, int]:
        return {name: position for position, name in enumerate(self.ids.tolist())}

    @cached_property
    def _n_labelled(self) -> int:
        return 0 if self.labels is None else int(np.count_nonzero(self.labels != UNKNOWN))

    def __repr__(self) -> str:
        known = self._n_labelled
        labels = f", {known:,} labels of {len(self.classes)} classes" if known else ""
        return f"Graph({self.n_nodes:,} nodes, {self.n_edges:,} edges, {self.n_features:,} features{labels})"

    def _repr_html_(self) -> str:
        kind = "sparse" if sp.issparse(self.features) else "dense"
        names = first_five(self.feature_names) if self.feature_names else f"{self.n_features:,}"
        known = f"{self._n_labelled:,} of {len(self.classes):,} classes" if self._n_labelled else "none"
        facts = [
            ("nodes", f"{self.n_nodes:,}, such as {', '.join(map(repr, self.ids[:3].tolist()))}"),
            ("edges", f"{self.n_edges:,}"),
            ("features", f"{names}, {kind}"),
            ("labels", known),
        ]
        return card("Graph", facts, bars(*self._degrees()))

    def _degrees(self) -> tuple[str, list[tuple[str, float]]]:
        """Return how many nodes have how many neighbours, in steps that double; of a sample if there are many nodes."""
        chosen = np.arange(0, self.n_nodes, -(-self.n_nodes // SHOWN_NODES))
        degrees = self.adjacency.indptr[chosen + 1] - self.adjacency.indptr[chosen]
        counts = np.bincount(np.ceil(np.log2(degrees + 1)).astype(np.int64))
        steps = ["0", "1", *(f"{2**step // 2:,} to {2**step - 1:,}" for step in range(2, len(counts)))]
        of = "nodes" if len(chosen) == self.n_nodes else f"{len(chosen):,} of the nodes"
        return f"{of} by number of neighbours", list(zip(steps, counts.tolist(), strict=False))


def _arrays(matrix: Any) -> list[NDArray[Any]]:
    return [matrix.indptr, matrix.indices, matrix.data] if sp.issparse(matrix) else [matrix]


def _checked_features(raw: RawGraph) -> Features:
    features = raw.features if sp.issparse(raw.features) else np.asarray(raw.features)
    if features.ndim != 2:
        raise GraphError("features", "must have one row a node", f"the shape {features.shape}", "pass a matrix")
    if features.shape[0] == 0:
        raise GraphError("The graph", "must have at least one node", "none", "add a row to the nodes")
    if features.shape[1] == 0:
        raise GraphError("The graph", "must have at least one numeric feature", "none", "add a numeric column")
    if features.dtype.kind not in "biuf":
        raise GraphError("features", "must be numbers", f"the type {features.dtype}", "encode them as numbers")
    with np.errstate(over="ignore"):
        return smaller(features)


def check_finite(features: Features, ids: Any, names: tuple[str, ...] | None) -> None:
    """Refuse features that are no numbers; `ids` names the nodes by position, `names` the features."""
    values = features.data if sp.issparse(features) else features
    if np.isfinite(values).all():
        return
    entries = sp.coo_array(features)
    bad = np.flatnonzero(~np.isfinite(entries.data))
    row, column = entries.coords[0][bad[0]], entries.coords[1][bad[0]]
    where = repr(names[column]) if names else f"number {column}"
    found = f"{entries.data[bad[0]]} at node {_plain_id(ids[int(row)])!r}, feature {where} ({len(bad):,} in all)"
    raise GraphError("Features", "must be finite numbers below 3.4e38", found, "fill or drop those values")


def _plain_id(name: Any) -> Hashable:
    """Return an id as Python has it, whoever holds it."""
    plain_name: Hashable = name.as_py() if isinstance(name, pa.Scalar) else plain([name])[0]
    return plain_name


def _has_truth_values(ids: NDArray[Any]) -> bool:
    return ids.dtype == bool or (ids.dtype == object and any(isinstance(name, bool) for name in ids))


def _checked_ids(ids: Any, n: int) -> NDArray[Any]:
    if ids is None:
        return np.arange(n)
    names = ids.copy() if isinstance(ids, np.ndarray) else as_array(plain(ids))
    if names.shape != (n,):
        raise GraphError("ids", f"must name each of the {n:,} nodes once", f"the shape {names.shape}", "pass n ids")
    if names.dtype.kind == "U":
        names = names.astype(object)
    elif names.dtype == object:
        names = as_array(names.tolist())
    if len(set(names.tolist())) < n:
        raise repeated_ids(names.tolist())
    return names


def encoded(labels: Any, n: int) -> tuple[NDArray[np.int64] | None, tuple[Hashable, ...]]:
    """Turn class names into codes; None, NaN and, in an integer array, negative numbers are unknown."""
    if labels is None:
        return None, ()
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise GraphError("labels", "must hold one class a node", f"the shape {labels.shape}", "pass one column")
    if len(labels) != n:
        raise GraphError("labels", f"must have one entry for each of the {n:,} nodes", len(labels), "pass n labels")
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
