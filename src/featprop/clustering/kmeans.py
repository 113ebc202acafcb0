"""K-Means in which some centres may be fixed, and the distinct rows nearest its centres.

The paper's approximation of K-Medoids: Lloyd's iterations to convergence, then the node nearest each centre. A
nearest node that another centre has taken already is passed over for the next one, so b centres give b nodes.
scikit-learn's `KMeans` has no fixed centres, which is why this one exists.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.clustering.distances import distances_between, nearest_rows
from featprop.matrix import Features, dense
from featprop.progress import tracked

__all__ = ["k_means", "rows_nearest"]

MAX_ITERATIONS = 300


def k_means(rows: Features, n_centres: int, fixed: Features, generator: np.random.Generator) -> NDArray[np.float32]:
    """Return `n_centres` centres that, together with the `fixed` ones, are each the mean of the rows near them."""
    centres = dense(_seeds(rows, n_centres, fixed, generator))
    fixed = dense(fixed)
    before = np.full(rows.shape[0], -1, dtype=np.intp)
    for _ in tracked(range(MAX_ITERATIONS), "clustering (K-Means)", MAX_ITERATIONS):
        nearest = nearest_rows(rows, np.concatenate([centres, fixed])).index
        if np.array_equal(nearest, before):
            break
        before = nearest
        members = sp.csr_array(
            (np.ones(len(nearest), np.float32), (nearest, np.arange(len(nearest)))),
            shape=(n_centres + fixed.shape[0], rows.shape[0]),
        )[:n_centres]
        sizes = np.asarray(members.sum(axis=1))
        filled = sizes > 0
        centres[filled] = dense(members @ rows)[filled] / sizes[filled, None]
    return centres


def rows_nearest(rows: Features, centres: NDArray[np.float32], candidates: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each centre a candidate row near it, all distinct: the closest pairs are matched first."""
    distances = distances_between(centres, rows[candidates])
    taken = np.zeros(len(candidates), dtype=bool)
    chosen = np.empty(len(centres), dtype=np.intp)
    for centre in np.argsort(distances.min(axis=1), kind="stable"):
        free = np.where(taken, np.inf, distances[centre])
        chosen[centre] = free.argmin()
        taken[chosen[centre]] = True
    return candidates[chosen]


def _seeds(rows: Features, n_centres: int, fixed: Features, generator: np.random.Generator) -> Features:
    """Draw rows one by one with probability proportional to the squared distance to those drawn (k-means++)."""
    n = rows.shape[0]
    closest = nearest_rows(rows, fixed).distance.astype(np.float64) ** 2 if fixed.shape[0] else np.ones(n)
    drawn = np.empty(n_centres, dtype=np.intp)
    for position in range(n_centres):
        total = closest.sum()
        drawn[position] = generator.choice(n, p=closest / total) if total > 0 else generator.integers(n)
        squared = distances_between(rows[drawn[position : position + 1]], rows)[0].astype(np.float64) ** 2
        closest = squared if position == 0 and not fixed.shape[0] else np.minimum(closest, squared)
    return rows[drawn]
