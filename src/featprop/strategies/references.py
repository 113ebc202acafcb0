"""Reference nodes: a sample that represents all nodes where comparing all pairs would be too slow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points

MAX_REFERENCES = 4096
"""Number of nodes up to which all nodes are references."""
MAX_PAIRS = 200_000


def sample_references(n: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return all positions 0..n-1, or a random sample if there are more than `MAX_REFERENCES`."""
    return np.arange(n) if n <= MAX_REFERENCES else np.sort(generator.choice(n, size=MAX_REFERENCES, replace=False))


def distance_quantile(points: Points, quantile: float, generator: np.random.Generator) -> float:
    """Return a quantile of the distances between all pairs of points; between a sample of many points."""
    n = len(points)
    rows = np.arange(n)
    if n * (n - 1) // 2 > MAX_PAIRS:
        rows = np.sort(generator.choice(n, size=min(n, 633), replace=False))
    between = points.distances_to_subset(rows, rows)[np.triu_indices(len(rows), 1)]
    return float(np.quantile(between, quantile)) if between.size else 0.0
