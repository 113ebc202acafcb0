"""Statistics of a graph without labels."""

from __future__ import annotations

import numpy as np

from featprop.graph import Graph


def describe_graph(graph: Graph) -> dict[str, str]:
    """Return statistics of nodes, edges and features as text, by name."""
    from scipy.sparse.csgraph import connected_components

    degrees = np.diff(graph.adjacency.indptr)
    count, parts = connected_components(graph.adjacency, directed=False)
    largest = int(np.bincount(parts).max())
    isolated = int(np.count_nonzero(degrees == 0))
    weights = graph.adjacency.data
    return {
        "nodes": f"{graph.n_nodes:,}",
        "edges": f"{graph.n_edges:,}"
        + (f", weights {weights.min():.4g} to {weights.max():.4g}" if weights.size and (weights != 1).any() else ""),
        "components": f"{count:,}" + (f", the largest with {largest:,} nodes" if count > 1 else ""),
        "isolated nodes": f"{isolated:,}",
        "degrees": f"mean {degrees.mean():.3g}, median {np.median(degrees):.3g}, maximum {degrees.max():,}",
        "features": f"{graph.n_features:,}",
        "repairs": "; ".join(graph.repairs) or "none",
    }
