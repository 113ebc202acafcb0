"""Feature propagation, the first half of FeatProp.

    S = (I + D)^-1/2 (A + I) (I + D)^-1/2        Z = S^K X

(the paper's section 3.1 and equation 6; the same S as PyG's `gcn_norm` and the same Z as its `SGConv`).

The default strategy compares nodes by feature sets (`featprop.propagation.feature_sets`) of centred features X̃
(`featprop.compute.reduction`): the node's own features, features after two hops, and features after diffusion by
personalised PageRank (Gasteiger et al., "Predict then propagate"):

    X̃,    S² X̃,    Σ_{t ≤ T} α (1 - α)^t S^t X̃
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from featprop.compute import get_backend, release_pages, split_into_chunks
from featprop.compute.kernels import normalize_rows
from featprop.compute.message_passing import Edges, propagate_rows
from featprop.compute.points import Points
from featprop.compute.propagated_points import PropagatedPoints
from featprop.compute.reduction import (
    MIN_CENTRED_LENGTH,
    SVD_SAMPLE_ROWS,
    Reduction,
    effective_dimension,
    truncated_svd,
)
from featprop.errors import ParameterError, unknown_choice
from featprop.graph import Graph, GraphLike, as_graph
from featprop.matrix import Features, Floats, Positions, read_only, unit_rows
from featprop.progress import tracked
from featprop.propagation.feature_sets import (
    FEATURE_SETS,
    STRUCTURE,
    FeatureSpace,
    feature_homophily,
    make_feature_sets,
)

COMPARED_COLUMNS, FLAT_COLUMNS = 64, 512
"""Number of singular vectors kept to compare nodes, and the same for features without dominant directions."""
FLAT_DIMENSION = 256
"""Effective dimension above which features have no dominant directions (docs/default.md)."""
OWN_SHARE = 3 / 8
"""Weight of a node's own features if its neighbours are no more similar than random pairs."""
MIN_OPERATOR_COLUMNS = 1024
MIN_OPERATOR_NODES, MAX_OPERATOR_NODES = 16_384, 60_000
MAX_OPERATOR_HOPS = 2
"""Sizes for which `PropagatedPoints` pays off: all distances between fewer nodes can be kept, the search on more nodes
reads all rows again and again, and after more hops features are no longer sparse before the last one."""
MAX_OPERATOR_VALUE = 1e6
"""Values between one over this and this have squares that fit float32."""

Value = TypeVar("Value")


class _CachedProperty(Generic[Value]):
    """A property that is computed once, on first use; other threads wait for it."""

    def __init__(self, compute: Callable[[Propagation], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Propagation, kind: type[Propagation] | None = None) -> Value:
        with owner.lock:
            if self.compute not in owner.values:
                owner.values[self.compute] = self.compute(owner)
            found: Value = owner.values[self.compute]
            return found


class Propagation:
    """Propagated features of a graph, each part computed on first use.

    The matrices are read-only, shared by all callers, and kept as long as the graph. Use `Propagation.of` to get the
    instance of a graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph.without_labels()
        self.values: dict[Callable[[Propagation], Any], Any] = {}
        self.lock = threading.RLock()
        self._rows: dict[int, Features] = {0: read_only(graph.features)}

    @classmethod
    def of(cls, graph: Graph) -> Propagation:
        """Return the propagation of a graph, the same instance every time and also for a copy without labels."""
        found: Propagation = graph.cache.get("propagation", lambda: cls(graph))
        return found

    @property
    def adjacency(self) -> sp.csr_array:
        """S, the normalised adjacency."""
        return read_only(self.graph.cache.get("S", partial(normalised_adjacency, self.graph)))

    @_CachedProperty
    def edges(self) -> Edges:
        """Prepare the edges for message passing."""
        return Edges.of(self.graph.adjacency)

    def rows(self, layers: int) -> Features:
        """Return S^K X for K = `layers`; sparse features stay sparse while that takes less memory."""
        if not isinstance(layers, int | np.integer) or layers < 0:
            raise ParameterError(
                f"`layers` must be a non-negative integer, not {layers!r}.", parameter="layers", value=layers
            )
        rows: Features = self.graph.cache.get(("rows", layers), lambda: self._propagate(layers))
        return read_only(rows) if sp.issparse(rows) else rows  # a caller cannot replace the arrays of the shared matrix

    def _propagate(self, layers: int) -> Features:
        """Return S^K X, bit by bit the same whatever was computed before.

        Sparse features continue from the highest known power, which is rounded as an intermediate result would be.
        Dense features start from X: their intermediate results are scaled (`featprop.compute.message_passing`).
        """
        if not sp.issparse(self.graph.features):
            rows: Features = (
                propagate_rows(self.edges, np.asarray(self.graph.features), layers) if layers else self._rows[0]
            )
        else:
            start = max(known for known in self._rows if known <= layers)
            rows = self._rows[start]
            for _ in tracked(range(layers - start), "propagating features", layers - start):
                rows = _dense_if_filled(self.adjacency @ rows)
        self._rows[layers] = read_only(rows)
        return self._rows[layers]

    def rows_at(self, layers: int, nodes: Positions) -> Features:
        """Return some rows of S^K X, bit by bit as in `rows`.

        If S^K X is not known yet, only the neighbourhoods of these nodes are computed for sparse features.
        """
        if layers not in self._rows and layers > 0 and sp.issparse(self.graph.features):
            mixing = self.adjacency[nodes]
            around = np.unique(mixing.indices)
            if len(around) < self.graph.n_nodes:
                return mixing[:, around] @ self.rows_at(layers - 1, around)
        return self.rows(layers)[nodes]

    @_CachedProperty
    def reduction(self) -> Reduction:
        """Fit centring and truncated SVD of the features."""
        return Reduction.fit(self.graph.features)

    @_CachedProperty
    def space(self) -> FeatureSpace:
        """Fit the transformation of the features into feature sets."""
        return self._make_space(FEATURE_SETS, {})

    @_CachedProperty
    def structural_space(self) -> FeatureSpace:
        """Return the `space` with the centre of the ``"structure"`` set."""
        return self._make_space((STRUCTURE,), self.space.centres)

    def _make_space(self, names: tuple[str, ...], centres: Mapping[str, Floats]) -> FeatureSpace:
        """Compute feature sets, keep their rows, and return the space with their centres and the given ones."""
        rows, own = make_feature_sets(self.graph, self.edges, self.reduction, names)
        space = FeatureSpace(self.reduction, {**centres, **own})
        for name in names:
            self.graph.cache.get_latest(("features", name), space.fingerprint(name), partial(rows.get, name))
        return space

    def features(self, name: str, space: FeatureSpace | None = None) -> Floats:
        """Return the rows of one of the `FEATURE_SETS` or of ``"structure"``, centred and of unit length.

        Parameters
        ----------
        name
            Name of the set.
        space
            Space of the graph that a model was trained on, by default that of this graph. Only the rows of the last
            space are kept.
        """
        if name not in (*FEATURE_SETS, STRUCTURE):
            raise unknown_choice("features", name, (*FEATURE_SETS, STRUCTURE))
        chosen = space or (self.structural_space if name == STRUCTURE else self.space)

        def compute() -> Floats:
            return make_feature_sets(self.graph, self.edges, chosen.reduction, (name,), chosen.centres)[0][name]

        kind, key = ("features", name), chosen.fingerprint(name)
        return np.asarray(self.graph.cache.get_latest(kind, key, compute))

    @_CachedProperty
    def compared_shares(self) -> dict[str, float]:
        """Return the weight of each feature set when nodes are compared.

        If neighbours have similar features, smoothed features compare nodes best. Otherwise a node's own features count
        too.
        """
        alike = min(1.0, max(0.0, feature_homophily(self.graph, self.features("own"))))
        own = OWN_SHARE * (1 - alike)
        return {name: own if name == "own" else (1 - own) / 2 for name in FEATURE_SETS if name != "own" or own > 0}

    @_CachedProperty
    def compared(self) -> Points:
        """Return the points with which the default strategy and all estimates compare nodes.

        A distance is one minus the cosine of the concatenated feature sets, weighted by `compared_shares` and reduced
        by truncated SVD if they have many columns.
        """
        n = self.graph.n_nodes
        parts = [(self.features(name), np.float32(np.sqrt(share))) for name, share in self.compared_shares.items()]
        sample = _join(parts, slice(None, None, -(-n // SVD_SAMPLE_ROWS)))
        width = COMPARED_COLUMNS if effective_dimension(sample) <= FLAT_DIMENSION else FLAT_COLUMNS
        directions = truncated_svd(sample, width) if sample.shape[1] > width else None
        compared = get_backend().allocate_rows(n, sample.shape[1] if directions is None else directions.shape[1])
        get_backend().run(_compare, n, parts, directions, compared)
        return Points.wrap(compared, "cosine")

    def points(self, layers: int, unit: bool = False) -> Points:
        """Return the rows of S^K X as points, scaled to length 1 if `unit`; rows of zeros stay zero."""

        def compute() -> Points:
            if self._uses_operator(layers):
                return PropagatedPoints(self.adjacency, self._rows[0], layers, unit, partial(self.rows, layers))
            return Points(unit_rows(self.rows(layers)) if unit else self.rows(layers))

        found: Points = self.graph.cache.get(("points", layers, unit), compute)
        return found

    def _uses_operator(self, layers: int) -> bool:
        """Return whether distances are computed faster without S^K X."""
        features = self._rows[0]
        n, d = features.shape
        if not sp.issparse(features) or d < MIN_OPERATOR_COLUMNS or not 1 <= layers <= MAX_OPERATOR_HOPS:
            return False
        largest = float(np.abs(features.data).max(initial=0.0))
        has_usual_values = 1 / MAX_OPERATOR_VALUE <= largest <= MAX_OPERATOR_VALUE
        return MIN_OPERATOR_NODES < n <= MAX_OPERATOR_NODES and has_usual_values


def _join(parts: list[tuple[Floats, np.float32]], nodes: slice) -> Floats:
    """Concatenate the weighted feature sets of some nodes."""
    weighted = []
    for rows, factor in parts:
        weighted.append(rows[nodes] * factor)
        release_pages(rows)
    return np.hstack(weighted)


def _compare(block: slice, parts: list[tuple[Floats, np.float32]], directions: Floats | None, out: Floats) -> None:
    """Write concatenated feature sets, multiplied by `directions` if given and scaled to unit length."""
    for chunk in split_into_chunks(block):
        joined = _join(parts, chunk)
        out[chunk] = joined if directions is None else joined @ directions
        normalize_rows(out[chunk], MIN_CENTRED_LENGTH)


def propagate(graph: GraphLike, layers: int = 2) -> Features:
    """Return S^K X for K = `layers`, read-only and shared by all callers.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path.
    layers
        K, the number of hops; 0 returns the features.
    """
    return Propagation.of(as_graph(graph)).rows(layers)


def normalised_adjacency(graph: Graph) -> sp.csr_array:
    """Return S, the adjacency with self-loops, symmetrically normalised by the degrees, in float32."""
    degrees = graph.adjacency.sum(axis=1, dtype=np.float64)
    scale = sp.dia_array((1.0 / np.sqrt(1.0 + degrees)[None, :], [0]), shape=graph.adjacency.shape)
    looped = graph.adjacency.astype(np.float64) + sp.eye_array(graph.n_nodes, format="csr")
    normalised = sp.csr_array(scale @ looped @ scale, dtype=np.float32)
    normalised.sort_indices()
    return normalised


def _dense_if_filled(matrix: Any) -> Features:
    if sp.issparse(matrix) and 2 * matrix.nnz >= matrix.shape[0] * matrix.shape[1]:
        return matrix.toarray()
    if sp.issparse(matrix):
        matrix.sum_duplicates()
    return matrix
