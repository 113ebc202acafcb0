"""Rows that stand for all where every row against every row is too much: all of them if they fit, else a sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points, blocks_of
from featprop.progress import tracked

__all__ = ["REFERENCES", "distance_quantile", "distances_to", "references"]

REFERENCES = 4096
"""Up to so many rows all are their own references, and nothing is sampled."""
PAIRS = 200_000


def references(n: int, generator: np.random.Generator, most: int = REFERENCES) -> NDArray[np.intp]:
    """Return all positions 0..n-1, or `most` of them drawn at random if there are more."""
    return np.arange(n) if n <= most else np.sort(generator.choice(n, size=most, replace=False))


def distances_to(points: Points, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the distance of each point of `rows` to each of `columns`, measured a block at a time."""
    others = points.take(columns)
    matrix = np.empty((len(rows), len(columns)), dtype=np.float32)
    blocks = list(blocks_of(len(rows), 4 * max(len(columns), points.width)))
    for block in tracked(blocks, "measuring distances", len(blocks)):
        matrix[block] = points.distances(rows[block], to=others)
    return matrix


def distance_quantile(points: Points, share: float, generator: np.random.Generator) -> float:
    """Return the distance that `share` of all pairs of different rows are within; of a sample if there are many."""
    n = len(points)
    if n * (n - 1) // 2 <= PAIRS:
        rows = np.arange(n)
        between = distances_to(points, rows, rows)[np.triu_indices(n, 1)]
    else:
        rows = np.sort(generator.choice(n, size=min(n, 633), replace=False))
        between = distances_to(points, rows, rows)[np.triu_indices(len(rows), 1)]
    return float(np.quantile(between, share)) if between.size else 0.0
