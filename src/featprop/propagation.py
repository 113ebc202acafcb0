"""Feature propagation, the first half of FeatProp.

    S = (I + D)^-1/2 (A + I) (I + D)^-1/2        Z = S^K X

(the paper's section 3.1 and equation 6; the same S as PyG's `gcn_norm` and the same Z as its `SGConv`).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.matrix import Features
from featprop.progress import tracked

__all__ = ["normalised_adjacency", "propagate"]


def normalised_adjacency(graph: Graph) -> sp.csr_array:
    """Return S, the adjacency with self loops normalised by the degrees on both sides, in float32."""
    degrees = graph.adjacency.sum(axis=1, dtype=np.float64)
    scale = sp.dia_array((1.0 / np.sqrt(1.0 + degrees)[None, :], [0]), shape=graph.adjacency.shape)
    looped = graph.adjacency.astype(np.float64) + sp.eye_array(graph.n_nodes, format="csr")
    normalised = sp.csr_array(scale @ looped @ scale, dtype=np.float32)
    normalised.sort_indices()
    return normalised


def propagate(graph: Graph, layers: int = 2) -> Features:
    """Return S^K X for K = `layers`; sparse features stay sparse while that takes less memory.

    Parameters
    ----------
    graph
        The graph.
    layers
        K, the number of times the features are passed on to the neighbours; 0 returns the features themselves.
    """
    if layers < 0:
        raise ParameterError("layers", "must be at least 0", layers, "use 2, as the paper does")
    S = normalised_adjacency(graph)
    Z = graph.features
    for _ in tracked(range(layers), "propagating features", layers):
        Z = S @ Z
        if sp.issparse(Z) and 2 * Z.nnz >= Z.shape[0] * Z.shape[1]:
            Z = Z.toarray()
    return Z
