"""Statistics of graphs, and how those of the paper differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featprop.graph import UNKNOWN, Graph

NOTES = (
    "Edges: featprop counts each pair of connected nodes once, without self-loops. The paper prints the raw citation "
    "links for Cora (5,429), Citeseer (4,732) and PubMed (44,338), in which some papers cite each other or themselves "
    "and some links are repeated; for CoraFull it counts both directions of each edge "
    "(126,842 = 2 × 63,421).",
    "Feature size: the paper's table swaps those of Cora and Citeseer; Cora has 1,433 words and Citeseer 3,703.",
    "Citeseer: 15 of its 3,327 nodes have no edge, no feature and no label in the files.",
)
"""How the counts of featprop and the paper differ."""


@dataclass(frozen=True)
class Statistics:
    """Statistics of one graph.

    Attributes
    ----------
    nodes, edges, classes, features
        Counts; each undirected edge counts once.
    labelled
        Number of nodes with a known label.
    isolated
        Number of nodes without an edge.
    density
        Share of the feature matrix that is not zero.
    homophily
        Share of the edges between labelled nodes that connect nodes of one class; NaN if there is none.
    """

    nodes: int
    edges: int
    classes: int
    features: int
    labelled: int
    isolated: int
    density: float
    homophily: float


def statistics(graph: Graph) -> Statistics:
    """Return the statistics of a graph."""
    stored = graph.features.nnz if hasattr(graph.features, "nnz") else int(np.count_nonzero(graph.features))
    return Statistics(
        nodes=graph.n_nodes,
        edges=graph.n_edges,
        classes=len(graph.classes),
        features=graph.n_features,
        labelled=0 if graph.labels is None else int(np.count_nonzero(graph.labels != UNKNOWN)),
        isolated=int(np.count_nonzero(np.diff(graph.adjacency.indptr) == 0)),
        density=stored / (graph.n_nodes * graph.n_features),
        homophily=homophily(graph),
    )


def homophily(graph: Graph, rows: int = 1 << 18) -> float:
    """Return the share of edges that connect two nodes of one class, computed in chunks of `rows`."""
    if graph.labels is None:
        return float("nan")
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    same = known = 0
    for start in range(0, graph.n_nodes, rows):
        end = min(start + rows, graph.n_nodes)
        ours = np.repeat(graph.labels[start:end], np.diff(indptr[start : end + 1]))
        theirs = graph.labels[indices[indptr[start] : indptr[end]]]
        both = (ours != UNKNOWN) & (theirs != UNKNOWN)
        known += int(np.count_nonzero(both))
        same += int(np.count_nonzero(both & (ours == theirs)))
    return same / known if known else float("nan")
