"""K-Means with fixed centres and weighted rows, used to start the K-Medoids search.

Initialised by k-means|| (Bahmani et al., "Scalable k-means++", 2012): a few rounds that each draw many rows with
probability proportional to the squared distance to the rows drawn before, then k-means++ among the drawn rows.
scikit-learn's `KMeans` does not support fixed centres.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.kernels import run_by_rows
from featprop.compute.points import Points, first_minimum, split_by_bytes
from featprop.matrix import Floats, Positions, dense, read_only
from featprop.progress import tracked

SEEDING_ROUNDS = 4
LISTED_CANDIDATES = 8
MAX_ITERATIONS = 20
MIN_IMPROVEMENT = 1e-4
"""Stop when an iteration lowers the mean distance by less than this share."""


def k_means(
    points: Points,
    n_centres: int,
    fixed: Positions,
    weights: Floats,
    generator: np.random.Generator,
    converge_within: int | None = None,
) -> Floats:
    """Return `n_centres` centres, each the mean of the rows nearest to it; the `fixed` rows are further centres.

    With `converge_within`, iterate until no row changes its centre, at most that many times; else until an iteration is
    no longer worth its time.
    """
    max_iterations = converge_within or MAX_ITERATIONS
    last: Positions | None = None
    centres = dense(points.rows[_draw_seeds(points, n_centres, fixed, weights, generator)])
    held = points.nearest(points.take(fixed)) if fixed.size else None
    before = np.inf
    for _ in tracked(range(max_iterations), "clustering (K-Means)", max_iterations):
        nearest, distance = _assign(points, centres, held)
        loss = float(distance @ weights.astype(np.float64))
        same = last is not None and np.array_equal(nearest, last)
        if same or (converge_within is None and loss >= (1 - MIN_IMPROVEMENT) * before):
            break
        before, last = loss, nearest
        members = sp.csr_array(
            (weights, (nearest, np.arange(len(points)))), shape=(n_centres + len(fixed), len(points))
        )
        sizes = np.asarray(members.sum(axis=1))[:n_centres]
        filled = sizes > 0
        sums = dense(members[:n_centres] @ points.rows)
        centres[filled] = sums[filled] / sizes[filled, None]
        _refill_empty(centres, np.flatnonzero(~filled), points, distance * weights)
    return centres


def nearest_distinct(points: Points, centres: Floats, candidates: Positions) -> Positions:
    """Return a nearby candidate for each centre, all distinct: a candidate goes to the centre closest to it."""
    wrapped, pool = as_points(points, centres), points.take(candidates)
    lists, distances = nearest_lists(wrapped, pool, LISTED_CANDIDATES)
    taken, everyone = np.zeros(len(candidates), dtype=bool), np.arange(len(candidates))
    chosen = np.empty(len(centres), dtype=np.intp)
    for centre in np.argsort(distances[:, 0], kind="stable"):
        listed, row = lists[centre], distances[centre]
        if taken[listed].all():
            listed, row = everyone, wrapped.distances(np.array([centre]), to=pool)[0]
        free = np.argsort(listed[~taken[listed]])
        nearest = first_minimum(row[~taken[listed]][free], float(row.max()))
        chosen[centre] = listed[~taken[listed]][free[nearest]]
        taken[chosen[centre]] = True
    return candidates[chosen]


def nearest_lists(centres: Points, pool: Points, count: int) -> tuple[Positions, Floats]:
    """Return the `count` nearest points of the pool for each centre, the nearest first, and their distances."""
    everyone, count = np.arange(len(centres)), min(count, len(pool))
    index = np.zeros((len(centres), count), dtype=np.intp)
    distance = np.full((len(centres), count), np.inf, dtype=np.float32)
    for block in split_by_bytes(len(pool), 4 * len(centres)):
        found = centres.distances(everyone, to=pool.take(block))
        run_by_rows(_keep_smallest, len(found), found.size, read_only(found), block.start, index, distance)
    return index, distance


def as_points(points: Points, centres: Floats) -> Points:
    """Return centres, shifted and scaled as `points` are, as points."""
    return Points.wrap(centres, points.metric, points.scale)


def _assign(points: Points, centres: Floats, held: tuple[Positions, Floats] | None) -> tuple[Positions, Floats]:
    """Return the nearest centre of each row and its distance; `held` is the same for the fixed centres."""
    nearest, distance = points.nearest(as_points(points, centres))
    if held is None:
        return nearest, distance
    other, other_distance = held
    closer = other_distance < distance
    return np.where(closer, len(centres) + other, nearest), np.where(closer, other_distance, distance)


def _draw_seeds(
    points: Points, count: int, fixed: Positions, weights: Floats, generator: np.random.Generator
) -> Positions:
    """Draw `count` rows, far from each other and from the fixed ones."""
    n = len(points)
    drawn = fixed if fixed.size else generator.choice(n, size=1, p=_probabilities(weights.astype(np.float64)))
    closest = points.nearest(points.take(drawn))[1]
    pool = drawn[:0] if fixed.size else drawn
    for _ in range(SEEDING_ROUNDS):
        odds = weights * closest.astype(np.float64) ** 2
        more = np.flatnonzero(generator.random(n) < count * _probabilities(odds))
        if more.size:
            closest = np.minimum(closest, points.nearest(points.take(more))[1])
            pool = np.union1d(pool, more)
    if len(pool) < count:
        rest = np.setdiff1d(np.arange(n), pool)
        pool = np.concatenate([pool, generator.choice(rest, size=count - len(pool), replace=False)])
    owners = points.nearest(points.take(pool))[0]
    crowd = np.bincount(owners, weights=weights, minlength=len(pool))
    return pool[_draw_by_kmeans_plus_plus(points.take(pool), crowd, count, generator)]


def _draw_by_kmeans_plus_plus(
    points: Points, weights: NDArray[Any], count: int, generator: np.random.Generator
) -> Positions:
    """Draw points with odds proportional to their weight times their squared distance to those drawn before."""
    left = np.ones(len(points), dtype=bool)
    odds = weights.copy()
    closest = np.full(len(points), np.inf)
    drawn = np.empty(count, dtype=np.intp)
    for position in range(count):
        drawn[position] = generator.choice(len(points), p=_probabilities(np.where(left, odds, 0.0), left))
        left[drawn[position]] = False
        closest = np.minimum(closest, points.distances(drawn[position : position + 1])[0])
        odds = weights * closest**2
    return drawn


def _probabilities(odds: NDArray[Any], allowed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Normalise odds to probabilities; uniform over the allowed rows if all odds are zero."""
    total = odds.sum()
    if total > 0:
        return np.asarray(odds / total)
    flat = np.ones(len(odds)) if allowed is None else allowed.astype(np.float64)
    return np.asarray(flat / flat.sum())


def _refill_empty(centres: Floats, empty: Positions, points: Points, contributions: Floats) -> None:
    """Move centres without rows to the rows with the largest contributions to the loss."""
    if empty.size:
        costly = np.argsort(-contributions, kind="stable")[: len(empty)]
        centres[empty] = dense(points.rows[costly])


@njit(nogil=True, cache=True)
def _keep_smallest(start, stop, distances, offset, index, least):  # type: ignore[no-untyped-def]
    """Insert distances into the sorted lists of the smallest; of equal ones the earlier stays first."""
    last = index.shape[1] - 1
    for row in range(start, stop):
        for j in range(distances.shape[1]):
            value = distances[row, j]
            if value < least[row, last]:
                place = last
                while place > 0 and value < least[row, place - 1]:
                    least[row, place], index[row, place] = least[row, place - 1], index[row, place - 1]
                    place -= 1
                least[row, place], index[row, place] = value, offset + j
