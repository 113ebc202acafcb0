"""scikit-learn's digits as a graph: 1,797 images of 8 × 8 pixels, each joined to the 10 most similar ones."""

from __future__ import annotations

from featprop.graph import Graph

__all__ = ["digits"]

NEIGHBOURS = 10


def digits() -> Graph:
    """Return the graph, with the ten digits as labels and the pixels scaled to 0..1 as features."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    images = load_digits()
    pixels = images.data / 16.0
    return Graph.from_scipy(kneighbors_graph(pixels, NEIGHBOURS), pixels, labels=images.target)
