"""The swap search of FasterPAM on blocks of distances.

Schubert and Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 101 (2021): with the nearest and the
second nearest medoid of each reference, one pass over a candidate's distances gives the change of the loss for swapping
it with every medoid, and the best swap is made immediately.

Here the candidates of a block are evaluated in parallel, and the promising ones are evaluated again one by one, the
best first, after the swaps before them. The result does not depend on the number of threads. Kernels get all blocks as
read-only, as `Points` keeps them, because Numba would compile a second version for writable arrays.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from featprop.compute.kernels import run_by_rows
from featprop.matrix import Floats, Positions, read_only

RELATIVE_GAIN = 1e-7
"""A swap must lower the loss by more than this share; gains that differ by less are ties."""
ROUNDING = 1e-12
"""Relative rounding error of sums of distances."""


class Search:
    """Medoids, and the two nearest medoids of every reference.

    Parameters
    ----------
    medoids
        Initial medoids.
    distances
        Distances of the medoids to the references, shape (medoids, references); overwritten by the search.
    covered
        Distance of each reference to the nearest fixed medoid, infinite without fixed medoids. All fixed medoids
        together act as medoid number k, which is never swapped.
    weights
        Weight of each reference.
    """

    def __init__(self, medoids: Positions, distances: Floats, covered: Floats, weights: Floats) -> None:
        n = distances.shape[1]
        self.medoids = np.array(medoids, dtype=np.intp)
        self.distances = distances
        self.covered = covered
        self.weights = weights
        self.near = np.empty(n, dtype=np.int32)
        self.second = np.empty(n, dtype=np.int32)
        self.near_distance = np.empty(n, dtype=np.float32)
        self.second_distance = np.empty(n, dtype=np.float32)
        self.n_swaps = 0
        nearest = self.near, self.second, self.near_distance, self.second_distance
        run_by_rows(_all_two_nearest, n, distances.size, distances, covered, *nearest)

    @property
    def loss(self) -> float:
        """Weighted sum of the distances to the nearest medoid."""
        return float(self.near_distance @ self.weights.astype(np.float64))

    @property
    def can_swap(self) -> bool:
        """Whether references have a second nearest medoid."""
        return len(self.medoids) > 1 or bool(np.isfinite(self.covered[0]))

    def removal_losses(self) -> NDArray[np.float64]:
        """Return the increase of the loss if each medoid is removed."""
        nearest = self.near, self.near_distance, self.second_distance
        return np.asarray(_removal_losses(len(self.medoids), *nearest, self.weights))

    def _min_gain(self) -> float:
        """Return the smallest gain of a swap: a share of the loss, and more than the rounding error."""
        finite = np.where(np.isfinite(self.second_distance), self.second_distance, self.near_distance)
        return RELATIVE_GAIN * self.loss + ROUNDING * float(finite @ self.weights.astype(np.float64)) + 1e-300

    def gains(
        self, block: Floats, references: Positions | slice = slice(None), removal: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return by how much the best swap of each candidate of a block lowers the loss.

        With `references`, the block has the distances to those only, and the result is a lower bound.
        """
        gains = np.empty(len(block))
        state = self.near, self.near_distance, self.second_distance, self.weights
        parts = [array[references] for array in state]
        removal = self.removal_losses() if removal is None else removal
        run_by_rows(_gains, len(block), block.size, read_only(block), *parts, removal, gains)
        return gains

    def improve(
        self, candidates: Positions, block: Floats, gains: NDArray[np.float64], rank: Positions | None = None
    ) -> int:
        """Swap medoids for `candidates` with distances `block`; return the number of swaps.

        Candidates with the largest gains come first; of equal gains, the one with lower `rank`, or the earlier one.
        """
        unit = self._min_gain()
        worth = np.flatnonzero((gains > unit) & ~np.isin(candidates, self.medoids))
        if not worth.size:
            return 0
        ties = worth if rank is None else rank[worth]
        order = worth[np.lexsort((ties, -np.round(gains[worth] / unit)))]
        nearest = self.near, self.second, self.near_distance, self.second_distance
        arrays = candidates, self.medoids, self.distances, self.covered, *nearest, self.weights
        made = _swap(read_only(block), order, unit, *arrays)
        self.n_swaps += made
        return int(made)


def total_distances(distances: Floats, weights: Floats) -> NDArray[np.float64]:
    """Return the weighted sum of the distances of each candidate to all references."""
    totals = np.empty(len(distances))
    run_by_rows(_totals, len(distances), distances.size, read_only(distances), weights.astype(np.float64), totals)
    return totals


def greedy_order(
    distances: Floats, covered: Floats, weights: Floats, count: int, order: Positions | None = None
) -> Positions:
    """Choose `count` distinct candidates one by one, each lowering the loss most (PAM's BUILD).

    `distances` has shape (candidates, references). The gain of a candidate only shrinks as others are chosen, so an
    old gain is an upper bound, and most candidates are never evaluated again. Of equal gains, the first in `order`, a
    permutation of the candidates, is chosen.
    """
    distances = read_only(distances)
    visited = np.arange(len(distances)) if order is None else order
    counted = weights.astype(np.float64)
    near, medoids, found = covered.copy(), np.empty(count, dtype=np.intp), 0
    if np.isinf(near[0]):
        medoids[0], found = total_distances(distances, weights)[visited].argmin(), 1
        near = distances[visited[medoids[0]]].copy()
    unit = max(RELATIVE_GAIN * _weighted_sum(read_only(near), counted), 1e-300)
    bounds = np.empty(len(distances))
    run_by_rows(_first_gains, len(distances), distances.size, distances, visited, near, counted, unit, bounds)
    bounds[medoids[:found]] = -np.inf
    _greedy(distances, visited, near, counted, unit, bounds, medoids, found)
    return np.asarray(visited[medoids])


@njit(nogil=True, cache=True)
def _gains(start, stop, block, near, near_distance, second_distance, weights, removal, gains):  # type: ignore[no-untyped-def]
    for c in range(start, stop):
        change = removal.copy()
        shared = _changes(block[c], near, near_distance, second_distance, weights, change)
        gains[c] = -(shared + change[:-1].min())


@njit(cache=True)
def _changes(row, near, near_distance, second_distance, weights, change):  # type: ignore[no-untyped-def]
    """Add the change of the loss for swapping each medoid to `change`; return the part that all share."""
    shared = 0.0
    for o in range(row.shape[0]):
        d = row[o]
        if d < second_distance[o]:
            if d < near_distance[o]:
                shared += weights[o] * (np.float64(d) - near_distance[o])
                change[near[o]] += weights[o] * (np.float64(near_distance[o]) - second_distance[o])
            else:
                change[near[o]] += weights[o] * (np.float64(d) - second_distance[o])
    return shared


@njit(cache=True)
def _swap(  # type: ignore[no-untyped-def]
    block, order, limit, candidates, medoids, distances, covered, near, second, near_distance, second_distance, weights
):
    k = len(medoids)
    removal = _removal_losses(k, near, near_distance, second_distance, weights)
    made = 0
    for c in order:
        row = block[c]
        change = removal.copy()
        shared = _changes(row, near, near_distance, second_distance, weights, change)
        out = np.argmin(change[:-1])
        if -(shared + change[out]) <= limit:
            continue
        medoids[out] = candidates[c]
        distances[out] = row
        for o in range(row.shape[0]):
            d = row[o]
            if near[o] == out or second[o] == out:
                _two_nearest(o, distances, covered, near, second, near_distance, second_distance)
            elif d < near_distance[o]:
                second[o], second_distance[o] = near[o], near_distance[o]
                near[o], near_distance[o] = out, d
            elif d < second_distance[o]:
                second[o], second_distance[o] = out, d
        removal = _removal_losses(k, near, near_distance, second_distance, weights)
        made += 1
    return made


@njit(cache=True)
def _two_nearest(o, distances, covered, near, second, near_distance, second_distance):  # type: ignore[no-untyped-def]
    k = distances.shape[0]
    first, first_distance = k, covered[o]
    other, other_distance = k, np.float32(np.inf)
    for m in range(k):
        d = distances[m, o]
        if d < first_distance:
            other, other_distance = first, first_distance
            first, first_distance = m, d
        elif d < other_distance:
            other, other_distance = m, d
    near[o], second[o] = first, other
    near_distance[o], second_distance[o] = first_distance, other_distance


@njit(nogil=True, cache=True)
def _all_two_nearest(start, stop, distances, covered, near, second, near_distance, second_distance):  # type: ignore[no-untyped-def]
    for o in range(start, stop):
        _two_nearest(o, distances, covered, near, second, near_distance, second_distance)


@njit(cache=True)
def _removal_losses(k, near, near_distance, second_distance, weights):  # type: ignore[no-untyped-def]
    losses = np.zeros(k + 1, dtype=np.float64)
    for o in range(len(near)):
        losses[near[o]] += weights[o] * (np.float64(second_distance[o]) - near_distance[o])
    return losses


@njit(nogil=True, cache=True)
def _totals(start, stop, distances, weights, totals):  # type: ignore[no-untyped-def]
    for c in range(start, stop):
        totals[c] = _weighted_sum(distances[c], weights)


@njit(nogil=True, cache=True)
def _first_gains(start, stop, distances, order, near, weights, unit, gains):  # type: ignore[no-untyped-def]
    for c in range(start, stop):
        gains[c] = _gain(distances[order[c]], near, weights, unit)


@njit(cache=True)
def _greedy(distances, order, near, weights, unit, bounds, medoids, found):  # type: ignore[no-untyped-def]
    """Fill `medoids` from position `found` on; `bounds` are the gains of all candidates over `near`."""
    for position in range(found, len(medoids)):
        best = np.argmax(bounds)
        gain = _gain(distances[order[best]], near, weights, unit)
        while gain < bounds[best]:
            bounds[best] = gain
            best = np.argmax(bounds)
            gain = _gain(distances[order[best]], near, weights, unit)
        medoids[position] = best
        bounds[best] = -np.inf
        near = np.minimum(near, distances[order[best]])


@njit(cache=True)
def _gain(row, near, weights, unit):  # type: ignore[no-untyped-def]
    """Return by how much a candidate lowers the loss, in multiples of `unit` so that rounding breaks no tie."""
    total = 0.0
    for o in range(len(row)):
        if row[o] < near[o]:
            total += weights[o] * (np.float64(near[o]) - row[o])
    return np.floor(total / unit + 0.5) * unit


@njit(cache=True)
def _weighted_sum(row, weights):  # type: ignore[no-untyped-def]
    total = 0.0
    for o in range(len(row)):
        total += weights[o] * row[o]
    return total
