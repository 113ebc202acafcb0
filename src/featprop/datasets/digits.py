"""scikit-learn's digits as a graph: 1,797 images of 8 × 8 pixels, each joined to the 10 most similar ones."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from featprop.graph import Graph

__all__ = ["digits"]

NEIGHBOURS = 10


def digits() -> Graph:
    """Return the graph, with the ten digits as labels and the pixels scaled to 0..1 as features.

    Pixels are integers and equal distances occur: of several equally near images the first counts, so the graph is
    the same on every machine.
    """
    from sklearn.datasets import load_digits

    images = load_digits()
    n = len(images.data)
    squared = cdist(images.data, images.data, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :NEIGHBOURS]
    source = np.repeat(np.arange(n), NEIGHBOURS)
    adjacency = sp.coo_array((np.ones(source.size), (source, nearest.ravel())), shape=(n, n))
    return Graph.from_scipy(adjacency, images.data / 16.0, labels=images.target)
