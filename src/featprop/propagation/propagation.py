"""Feature propagation, the first half of FeatProp: one object a graph.

    S = (I + D)^-1/2 (A + I) (I + D)^-1/2        Z = S^K X

(the paper's section 3.1 and equation 6; the same S as PyG's `gcn_norm` and the same Z as its `SGConv`). Diffusion sums
all powers, with less of the farther ones (personalised PageRank, as in Gasteiger et al., "Predict then propagate"):

    Z = Σ_{t ≤ T} α (1 - α)^t S^t X̂,    X̂ the features with rows of unit length
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.distances.points import Points
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.matrix import Features, read_only, unit_rows
from featprop.progress import tracked

__all__ = ["Propagation", "normalised_adjacency", "propagate"]

DIFFUSION = (0.1, 20)
"""α and the number of steps T of diffusion, unless others are asked for."""


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

    @classmethod
    def of(cls, graph: Graph) -> Propagation:
        """Return the propagation of a graph: the same one each time, also for the graph without its labels."""
        found: Propagation = graph.once("propagation", lambda: cls(graph))
        return found

    @property
    def adjacency(self) -> sp.csr_array:
        """S, the normalised adjacency."""
        return read_only(self.graph.once("S", lambda: read_only(normalised_adjacency(self.graph))))

    def rows(self, layers: int) -> Features:
        """Return S^K X for K = `layers`; sparse features stay sparse while that takes less memory."""
        if layers < 0:
            raise ParameterError("layers", "must be at least 0", layers, "use 2, as the paper does")
        return _handed_out(self.graph.once(("rows", layers), lambda: self._propagated(layers)))

    def _propagated(self, layers: int) -> Features:
        start = max(known for known in self._rows if known <= layers)
        rows = self._rows[start]
        for _ in tracked(range(start, layers), "propagating features", layers - start):
            rows = _dense_if_filled(self.adjacency @ rows)
        self._rows[layers] = read_only(rows)
        return self._rows[layers]

    def rows_at(self, layers: int, nodes: NDArray[np.intp]) -> Features:
        """Return those rows of S^K X, at the cost of their neighbourhoods if the others are not known yet."""
        if layers not in self._rows and layers > 0:
            mixing = self.adjacency[nodes]
            around = np.unique(mixing.indices)
            if len(around) < self.graph.n_nodes:
                return mixing[:, around] @ self.rows_at(layers - 1, around)
        return self.rows(layers)[nodes]

    def diffused(self, alpha: float = DIFFUSION[0], steps: int = DIFFUSION[1]) -> Features:
        """Return the diffused features, rows of unit length: Σ_t α (1 - α)^t S^t X̂."""
        if not 0 < alpha <= 1:
            raise ParameterError("alpha", "must be above 0 and at most 1", alpha, "use 0.1")
        return _handed_out(self.graph.once(("diffused", alpha, steps), lambda: self._diffusion(alpha, steps)))

    def _diffusion(self, alpha: float, steps: int) -> Features:
        passed_on = unit_rows(self.graph.features)
        total = passed_on * np.float32(alpha)
        for step in tracked(range(1, steps + 1), "diffusing features", steps):
            passed_on = _dense_if_filled(self.adjacency @ passed_on)
            total = _dense_if_filled(total + passed_on * np.float32(alpha * (1 - alpha) ** step))
        rows: Features = read_only(unit_rows(total))
        return rows

    def points(self, layers: int, unit: bool = False) -> Points:
        """Return the rows of S^K X to measure between, scaled to length 1 if `unit`; a row of zeros stays one."""
        rows = self.rows(layers)
        found: Points = self.graph.once(("points", layers, unit), lambda: Points(unit_rows(rows) if unit else rows))
        return found


def _handed_out(matrix: Features) -> Features:
    """Return a matrix whose parts cannot be put in the place of those that others see."""
    shell: Features = read_only(matrix) if sp.issparse(matrix) else matrix
    return shell


def propagate(graph: Graph, layers: int = 2) -> Features:
    """Return S^K X for K = `layers`, the matrix that everything else on this graph uses: copy it to change it.

    Parameters
    ----------
    graph
        The graph.
    layers
        K, the number of times the features are passed on to the neighbours; 0 returns the features themselves.
    """
    return Propagation.of(graph).rows(layers)


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
