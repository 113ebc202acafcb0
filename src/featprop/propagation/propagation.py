"""Feature propagation, the first half of FeatProp: one object a graph.

    S = (I + D)^-1/2 (A + I) (I + D)^-1/2        Z = S^K X

(the paper's section 3.1 and equation 6; the same S as PyG's `gcn_norm` and the same Z as its `SGConv`).

The label-efficient default compares nodes by feature sets (`featprop.propagation.feature_sets`) made of centred
features X̃ (`featprop.propagation.reduction`): the node's own, those after two hops, and those after a diffusion, which
sums all powers with less of the farther ones (personalised PageRank, as in Gasteiger et al., "Predict then propagate"):

    X̃,    S² X̃,    Σ_{t ≤ T} α (1 - α)^t S^t X̃
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.compute import let_go, place
from featprop.compute.block_points import BlockPoints
from featprop.compute.points import Points
from featprop.errors import ParameterError, unknown_choice
from featprop.graph import Graph
from featprop.matrix import Features, read_only, unit_rows
from featprop.progress import tracked
from featprop.propagation.feature_sets import (
    FEATURE_SETS,
    ROUNDING,
    STRUCTURE,
    FeatureSpace,
    feature_homophily,
    make_feature_sets,
)
from featprop.propagation.lengths import unit_length
from featprop.propagation.passing import Edges, passed_on
from featprop.propagation.propagated_points import PropagatedPoints
from featprop.propagation.reduction import SAMPLE, Reduction, effective_dimension, main_directions
from featprop.sources import GraphLike, as_graph

__all__ = ["Propagation", "normalised_adjacency", "propagate"]

COMPARED_COLUMNS, FLAT_COLUMNS = 64, 512
"""Number of main directions in which nodes are compared, and the same for features without main directions."""
FLAT_DIMENSION = 256
"""Effective dimension above which features have no main directions (docs/default.md)."""
OWN_SHARE = 3 / 8
"""What a node's own features count when nodes are compared and neighbours are no more alike than random pairs."""
KEPT_SPACES = 2
"""Feature spaces whose rows are kept."""
IN_BLOCKS = 262_144
"""Nodes above which dense rows are compared where they are, a block at a time."""
WIDE = 1024
"""Columns from which sparse features are not propagated to measure between."""
MANY, TOO_MANY = 16_384, 60_000
"""More nodes than the first, whose distances could all be kept, are worth it; of more than the second, the rows of all
are looked at again and again."""
FEW_HOPS = 2
"""Passed on more often, features are no longer sparse before the last time."""
MODERATE = 1e6
"""The size of values whose squares need no unit, and one over it."""


class Propagation:
    """Everything that features passed on through a graph give, each part computed when it is first asked for.

    The matrices are kept as long as the graph is, shared by all that ask, and refuse to be written to. Ask
    `Propagation.of` for the one of a graph.

    Parameters
    ----------
    graph
        The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph.without_labels()
        self._rows: dict[int, Features] = {0: read_only(graph.features)}
        self._latest: dict[str, list[str]] = {}

    @classmethod
    def of(cls, graph: Graph) -> Propagation:
        """Return the propagation of a graph: the same one each time, also for the graph without its labels."""
        found: Propagation = graph.once("propagation", lambda: cls(graph))
        return found

    @property
    def adjacency(self) -> sp.csr_array:
        """S, the normalised adjacency."""
        return read_only(self.graph.once("S", lambda: read_only(normalised_adjacency(self.graph))))

    @property
    def edges(self) -> Edges:
        """Who is next to whom, as rows are passed on."""
        found: Edges = self.graph.once("edges", lambda: Edges.of(self.graph))
        return found

    def rows(self, layers: int) -> Features:
        """Return S^K X for K = `layers`; sparse features stay sparse while that takes less memory."""
        if not isinstance(layers, int | np.integer) or layers < 0:
            rule, cure = "must be a whole number at least 0", "use 2, as the paper does"
            raise ParameterError("layers", rule, repr(layers), cure)
        return _handed_out(self.graph.once(("rows", layers), lambda: self._propagated(layers)))

    def _propagated(self, layers: int) -> Features:
        """Return S^K X to the last bit whatever was asked for before.

        Sparse features go on from the last power that is known, which is rounded as it would be on the way; dense ones
        are rounded on the way otherwise than where they end (`featprop.propagation.passing`), and start anew.
        """
        if not sp.issparse(self.graph.features):
            rows: Features = passed_on(self.edges, np.asarray(self.graph.features), layers) if layers else self._rows[0]
        else:
            start = max(known for known in self._rows if known <= layers)
            rows = self._rows[start]
            for _ in tracked(range(layers - start), "propagating features", layers - start):
                rows = _dense_if_filled(self.adjacency @ rows)
        self._rows[layers] = read_only(rows)
        return self._rows[layers]

    def rows_at(self, layers: int, nodes: NDArray[np.intp]) -> Features:
        """Return those rows of S^K X, bit for bit as `rows` has them.

        Sparse ones are made at the cost of their neighbourhoods if the others are not known yet.
        """
        if layers not in self._rows and layers > 0 and sp.issparse(self.graph.features):
            mixing = self.adjacency[nodes]
            around = np.unique(mixing.indices)
            if len(around) < self.graph.n_nodes:
                return mixing[:, around] @ self.rows_at(layers - 1, around)
        return self.rows(layers)[nodes]

    @property
    def reduction(self) -> Reduction:
        """How the features of this graph are centred and, if there are many, reduced to few columns."""
        found: Reduction = self.graph.once("reduction", lambda: Reduction.of(self.graph.features))
        return found

    @property
    def structural_space(self) -> FeatureSpace:
        """The `space`, and how rows are made of the edges alone."""

        def make() -> FeatureSpace:
            rows, centres = make_feature_sets(self.graph, self.edges, self.reduction, (STRUCTURE,))
            space = FeatureSpace(self.reduction, {**self.space.centres, **centres})
            self.graph.once(("features", STRUCTURE, space.fingerprint(STRUCTURE)), lambda: rows[STRUCTURE])
            return space

        found: FeatureSpace = self.graph.once("structural space", make)
        return found

    @property
    def space(self) -> FeatureSpace:
        """How the features of this graph become feature sets."""
        found: FeatureSpace = self.graph.once("space", self._make_space)
        return found

    def _make_space(self) -> FeatureSpace:
        rows, centres = make_feature_sets(self.graph, self.edges, self.reduction, FEATURE_SETS)
        space = FeatureSpace(self.reduction, centres)
        for name, made in rows.items():
            self.graph.once(("features", name, space.fingerprint(name)), partial(np.asarray, made))
        return space

    def features(self, name: str, space: FeatureSpace | None = None) -> NDArray[np.float32]:
        """Return the rows of one of the `FEATURE_SETS` or of ``"structure"``, centred and of unit length.

        Parameters
        ----------
        name
            Name of the set.
        space
            That of the graph a model was trained on, if that may be another graph. Rows of the last two are kept, so a
            graph that outlives many models does not keep the rows of all.
        """
        if name not in (*FEATURE_SETS, STRUCTURE):
            raise unknown_choice("feature set", name, (*FEATURE_SETS, STRUCTURE))
        chosen = space or (self.structural_space if name == STRUCTURE else self.space)
        fingerprint, before = chosen.fingerprint(name), self._latest.get(name, [])
        self._latest[name] = [*(each for each in before if each != fingerprint), fingerprint][-KEPT_SPACES:]
        gone = {("features", name, each) for each in before if each not in self._latest[name]}
        if gone:
            self.graph.forget(gone.__contains__)

        def make() -> NDArray[np.float32]:
            return make_feature_sets(self.graph, self.edges, chosen.reduction, (name,), chosen.centres)[0][name]

        return np.asarray(self.graph.once(("features", name, fingerprint), make))

    @property
    def compared_shares(self) -> dict[str, float]:
        """How much each feature set counts when nodes are compared.

        Where neighbours are alike in their features, smoothed features tell nodes apart best. Where they are not, a
        node's own features count too.
        """

        def make() -> dict[str, float]:
            alike = min(1.0, max(0.0, feature_homophily(self.graph, self.features("own"))))
            own = OWN_SHARE * (1 - alike)
            return {name: own if name == "own" else (1 - own) / 2 for name in FEATURE_SETS if name != "own" or own > 0}

        found: dict[str, float] = self.graph.once("compared shares", make)
        return found

    @property
    def compared(self) -> Points:
        """The points by which the default strategy and all estimates compare nodes.

        A distance is one minus the cosine of the feature sets side by side, weighted by `compared_shares`. Of many
        columns the main directions are kept.
        """

        def make() -> Points:
            shares, n = self.compared_shares, self.graph.n_nodes
            parts = [(self.features(name), np.float32(np.sqrt(share))) for name, share in shares.items()]
            sample = _join(parts, slice(None, None, -(-n // SAMPLE)))
            width = COMPARED_COLUMNS if effective_dimension(sample) <= FLAT_DIMENSION else FLAT_COLUMNS
            directions = main_directions(sample, width) if sample.shape[1] > width else None
            rows = place().rows(n, sample.shape[1] if directions is None else directions.shape[1])
            place().run(_compare, n, parts, directions, rows)
            return Points.prepared(rows, "cosine") if n <= IN_BLOCKS else BlockPoints([rows], metric="cosine")

        found: Points = self.graph.once("compared", make)
        return found

    def points(self, layers: int, unit: bool = False) -> Points:
        """Return the rows of S^K X to measure between, scaled to length 1 if `unit`; a row of zeros stays one."""

        def made() -> Points:
            if self._as_operator(layers):
                whole = partial(self.rows, layers)
                return PropagatedPoints(self.adjacency, self._rows[0], layers, unit, whole)
            rows = self.rows(layers)
            if self.graph.n_nodes > IN_BLOCKS and not unit and not sp.issparse(rows):
                return BlockPoints.of(np.asarray(rows))
            return Points(unit_rows(rows) if unit else rows)

        found: Points = self.graph.once(("points", layers, unit), made)
        return found

    def _as_operator(self, layers: int) -> bool:
        """Return whether distances are better measured without S^K X."""
        features = self._rows[0]
        if not sp.issparse(features) or not 1 <= layers <= FEW_HOPS:
            return False
        n, width = features.shape
        largest = float(np.abs(features.data).max(initial=0.0))
        return MANY < n <= TOO_MANY and width >= WIDE and 1 / MODERATE <= largest <= MODERATE


def _join(parts: list[tuple[NDArray[np.float32], np.float32]], nodes: slice) -> NDArray[np.float32]:
    """Return weighted feature sets side by side for some nodes."""
    joined = np.hstack([rows[nodes] * factor for rows, factor in parts])
    for rows, _ in parts:
        let_go(rows, nodes if nodes.step is None else slice(None))
    return joined


def _compare(
    block: slice,
    parts: list[tuple[NDArray[np.float32], np.float32]],
    directions: NDArray[np.float32] | None,
    out: NDArray[np.float32],
) -> None:
    """Write weighted feature sets side by side, along the main directions if there are some, with unit length."""
    joined = _join(parts, block)
    out[block] = joined if directions is None else joined @ directions
    unit_length(out[block], ROUNDING)
    let_go(out, block)


def _handed_out(matrix: Features) -> Features:
    """Return a matrix whose parts cannot be put in the place of those that others see."""
    shell: Features = read_only(matrix) if sp.issparse(matrix) else matrix
    return shell


def propagate(graph: GraphLike, layers: int = 2) -> Features:
    """Return S^K X for K = `layers`, the matrix that everything else on this graph uses: copy it to change it.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path.
    layers
        K, the number of times the features are passed on to the neighbours; 0 returns the features themselves.
    """
    return Propagation.of(as_graph(graph)).rows(layers)


def normalised_adjacency(graph: Graph) -> sp.csr_array:
    """Return S, the adjacency with self loops normalised by the degrees on both sides, in float32."""
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
