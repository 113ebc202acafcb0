"""K-Means in which some centres may be fixed and rows may count unequally: the start of the K-Medoids search.

Seeds by k-means|| (Bahmani et al., "Scalable k-means++", 2012): a few rounds of drawing many rows at once, each with
probability proportional to its squared distance to those drawn, then k-means++ among the drawn. scikit-learn's
`KMeans` has no fixed centres, which is why this one exists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.points import Points, blocks_of, first_of_least
from featprop.compute.threads import by_rows
from featprop.matrix import dense, read_only
from featprop.progress import tracked

__all__ = ["as_points", "k_means", "nearest_distinct", "nearest_lists"]

ROUNDS = 4
LISTED = 8
FEW_ITERATIONS = 20
TOLERANCE = 1e-4
"""Stop when an iteration lowers the mean distance by less than this share."""


def k_means(
    points: Points,
    n_centres: int,
    fixed: NDArray[np.intp],
    weights: NDArray[np.float32],
    generator: np.random.Generator,
    converge_within: int | None = None,
) -> NDArray[np.float32]:
    """Return `n_centres` centres that, together with the `fixed` rows, are each the mean of the rows near them.

    With `converge_within`, iterate until no row changes its centre, at most so many times; else until an iteration is
    no longer worth its time.
    """
    max_iterations = converge_within or FEW_ITERATIONS
    last: NDArray[np.intp] | None = None
    centres = dense(points.rows[_seeds(points, n_centres, fixed, weights, generator)])
    held = points.nearest(points.take(fixed)) if fixed.size else None
    before = np.inf
    for _ in tracked(range(max_iterations), "clustering (K-Means)", max_iterations):
        nearest, distance = _nearest(points, centres, held)
        loss = float(distance @ weights.astype(np.float64))
        same = last is not None and np.array_equal(nearest, last)
        if same or (converge_within is None and loss >= (1 - TOLERANCE) * before):
            break
        before, last = loss, nearest
        members = sp.csr_array(
            (weights, (nearest, np.arange(len(points)))), shape=(n_centres + len(fixed), len(points))
        )
        sizes = np.asarray(members.sum(axis=1))[:n_centres]
        filled = sizes > 0
        sums = dense(members[:n_centres] @ points.rows)
        centres[filled] = sums[filled] / sizes[filled, None]
        _refill(centres, np.flatnonzero(~filled), points, distance * weights)
    return centres


def nearest_distinct(points: Points, centres: NDArray[np.float32], candidates: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each centre a candidate near it, all distinct.

    A candidate that another centre is closer to is passed over for the next one, so b centres give b candidates.
    """
    wrapped, pool = as_points(points, centres), points.take(candidates)
    lists, distances = nearest_lists(wrapped, pool, LISTED)
    taken, everyone = np.zeros(len(candidates), dtype=bool), np.arange(len(candidates))
    chosen = np.empty(len(centres), dtype=np.intp)
    for centre in np.argsort(distances[:, 0], kind="stable"):
        listed, row = lists[centre], distances[centre]
        if taken[listed].all():
            listed, row = everyone, wrapped.distances(np.array([centre]), to=pool)[0]
        free = np.argsort(listed[~taken[listed]])
        nearest = first_of_least(row[~taken[listed]][free], float(row.max()))
        chosen[centre] = listed[~taken[listed]][free[nearest]]
        taken[chosen[centre]] = True
    return candidates[chosen]


def nearest_lists(centres: Points, pool: Points, count: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return for each centre the `count` nearest points of the pool, the nearest first, and their distances."""
    everyone, count = np.arange(len(centres)), min(count, len(pool))
    index = np.zeros((len(centres), count), dtype=np.intp)
    distance = np.full((len(centres), count), np.inf, dtype=np.float32)
    for block in blocks_of(len(pool), 4 * len(centres)):
        found = centres.distances(everyone, to=pool.take(block))
        by_rows(_keep_least, len(found), found.size, read_only(found), block.start, index, distance)
    return index, distance


def as_points(points: Points, centres: NDArray[np.float32]) -> Points:
    """Return centres that live among `points` (shifted and scaled as they are) as points of the same kind."""
    return Points.prepared(centres, points.metric, points.unit)


def _nearest(
    points: Points, centres: NDArray[np.float32], held: tuple[NDArray[np.intp], NDArray[np.float32]] | None
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the nearest centre of each row and its distance; `held` is the same for the fixed rows."""
    nearest, distance = points.nearest(as_points(points, centres))
    if held is None:
        return nearest, distance
    other, other_distance = held
    closer = other_distance < distance
    return np.where(closer, len(centres) + other, nearest), np.where(closer, other_distance, distance)


def _seeds(
    points: Points,
    count: int,
    fixed: NDArray[np.intp],
    weights: NDArray[np.float32],
    generator: np.random.Generator,
) -> NDArray[np.intp]:
    """Draw `count` rows, far from one another and from the fixed ones."""
    n = len(points)
    drawn = fixed if fixed.size else generator.choice(n, size=1, p=_shares(weights.astype(np.float64)))
    closest = points.nearest(points.take(drawn))[1]
    pool = drawn[:0] if fixed.size else drawn
    for _ in range(ROUNDS):
        odds = weights * closest.astype(np.float64) ** 2
        more = np.flatnonzero(generator.random(n) < count * _shares(odds))
        if more.size:
            closest = np.minimum(closest, points.nearest(points.take(more))[1])
            pool = np.union1d(pool, more)
    if len(pool) < count:
        rest = np.setdiff1d(np.arange(n), pool)
        pool = np.concatenate([pool, generator.choice(rest, size=count - len(pool), replace=False)])
    owners = points.nearest(points.take(pool))[0]
    crowd = np.bincount(owners, weights=weights, minlength=len(pool))
    return pool[_spread(points.take(pool), crowd, count, generator)]


def _spread(points: Points, weights: NDArray[Any], count: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Draw `count` of the points by k-means++: each with odds its weight times its squared distance to the drawn."""
    left = np.ones(len(points), dtype=bool)
    odds = weights.copy()
    closest = np.full(len(points), np.inf)
    drawn = np.empty(count, dtype=np.intp)
    for position in range(count):
        drawn[position] = generator.choice(len(points), p=_shares(np.where(left, odds, 0.0), left))
        left[drawn[position]] = False
        closest = np.minimum(closest, points.distances(drawn[position : position + 1])[0])
        odds = weights * closest**2
    return drawn


def _shares(odds: NDArray[Any], allowed: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Scale odds to probabilities; uniform over the allowed if all are zero."""
    total = odds.sum()
    if total > 0:
        return np.asarray(odds / total)
    flat = np.ones(len(odds)) if allowed is None else allowed.astype(np.float64)
    return np.asarray(flat / flat.sum())


def _refill(
    centres: NDArray[np.float32], empty: NDArray[np.intp], points: Points, contributions: NDArray[np.float32]
) -> None:
    """Move centres that nobody is near to the rows that cost most."""
    if empty.size:
        costly = np.argsort(-contributions, kind="stable")[: len(empty)]
        centres[empty] = dense(points.rows[costly])


@njit(nogil=True, cache=True)
def _keep_least(start, stop, distances, offset, index, least):  # type: ignore[no-untyped-def]
    """Put distances below the last that is kept where they belong; of equal ones the earlier stays first."""
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
