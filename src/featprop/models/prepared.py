"""A graph with what models compute from it, for training many models on one graph."""

from __future__ import annotations

from functools import cached_property

import scipy.sparse as sp

from featprop.graph import Graph
from featprop.matrix import Features
from featprop.propagation import normalised_adjacency

__all__ = ["PreparedGraph"]


class PreparedGraph:
    """S and S^K X of a graph, each computed when it is first asked for and kept.

    Parameters
    ----------
    graph
        The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._propagated: list[Features] = [graph.features]

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """S, the normalised adjacency."""
        return normalised_adjacency(self.graph)

    def propagated(self, layers: int) -> Features:
        """Return S^K X for K = `layers`, the same numbers as `featprop.propagate` gives."""
        while len(self._propagated) <= layers:
            Z = self.adjacency @ self._propagated[-1]
            if sp.issparse(Z) and 2 * Z.nnz >= Z.shape[0] * Z.shape[1]:
                Z = Z.toarray()
            if sp.issparse(Z):
                Z.sum_duplicates()
            self._propagated.append(Z)
        return self._propagated[layers]
