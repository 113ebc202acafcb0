"""The swap search of FasterPAM, on distances that come in blocks of candidates.

Schubert and Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 101 (2021): for each reference the
nearest and the second nearest medoid are known, so one look at a candidate's distances gives the change of the loss
for its exchange with every medoid at once, and the best exchange is made as soon as it is found.

Here the candidates of a block are looked at in parallel, and those that would gain are tried again one by one, the
best first, on what the exchanges before them left. The answer does not depend on the number of threads. Kernels see
every block as read-only, as those that `Points` keeps are: Numba would compile them once more for those that are not.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from featprop.compute.threads import by_rows
from featprop.matrix import read_only

__all__ = ["Search", "greedy_order", "total_distances"]

RELATIVE_GAIN = 1e-7
"""An exchange must lower the loss by more than this share of it; gains closer than that are ties."""
ROUNDING = 1e-12
"""What rounding may make of sums of distances, as a share of them."""


class Search:
    """The medoids of a search and what every reference has near it.

    Parameters
    ----------
    medoids
        The candidates to start from.
    distances
        Of each medoid to every reference, shape (medoids, references); taken over by the search.
    covered
        The distance of each reference to the nearest medoid that is fixed, infinite if there is none. All fixed
        medoids together act as one more medoid, number k, that is never exchanged.
    weights
        How much each reference counts.
    """

    def __init__(
        self,
        medoids: NDArray[np.intp],
        distances: NDArray[np.float32],
        covered: NDArray[np.float32],
        weights: NDArray[np.float32],
    ) -> None:
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
        by_rows(_all_two_nearest, n, distances.size, distances, covered, *nearest)

    @property
    def loss(self) -> float:
        """The weighted sum of the distances to the nearest medoid."""
        return float(self.near_distance @ self.weights.astype(np.float64))

    @property
    def can_swap(self) -> bool:
        """Whether there is a second nearest medoid to fall back on."""
        return len(self.medoids) > 1 or bool(np.isfinite(self.covered[0]))

    def removal_losses(self) -> NDArray[np.float64]:
        """Return by how much the loss rises when each medoid goes."""
        nearest = self.near, self.near_distance, self.second_distance
        return np.asarray(_removal_losses(len(self.medoids), *nearest, self.weights))

    def _least_gain(self) -> float:
        """Return what an exchange must gain to be one: a share of the loss, and more than rounding can feign."""
        finite = np.where(np.isfinite(self.second_distance), self.second_distance, self.near_distance)
        return RELATIVE_GAIN * self.loss + ROUNDING * float(finite @ self.weights.astype(np.float64)) + 1e-300

    def gains(
        self,
        block: NDArray[np.float32],
        references: NDArray[np.intp] | slice = slice(None),
        removal: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Return by how much the best exchange for each candidate of a block lowers the loss.

        With `references`, the block holds the distances to those only, and the gains are at least what is returned.
        """
        gains = np.empty(len(block))
        by_rows(
            _gains,
            len(block),
            block.size,
            read_only(block),
            self.near[references],
            self.near_distance[references],
            self.second_distance[references],
            self.weights[references],
            self.removal_losses() if removal is None else removal,
            gains,
        )
        return gains

    def improve(
        self,
        candidates: NDArray[np.intp],
        block: NDArray[np.float32],
        gains: NDArray[np.float64],
        rank: NDArray[np.intp] | None = None,
    ) -> int:
        """Exchange medoids for `candidates` whose distances are in `block`; return how many exchanges were made.

        Those that gain most are tried first; of equal gains the one of lower `rank`, or the earlier one.
        """
        unit = self._least_gain()
        worth = np.flatnonzero((gains > unit) & ~np.isin(candidates, self.medoids))
        if not worth.size:
            return 0
        ties = worth if rank is None else rank[worth]
        made = _exchange(
            read_only(block),
            worth[np.lexsort((ties, -np.round(gains[worth] / unit)))],
            unit,
            candidates,
            self.medoids,
            self.distances,
            self.covered,
            self.near,
            self.second,
            self.near_distance,
            self.second_distance,
            self.weights,
        )
        self.n_swaps += made
        return int(made)


def total_distances(distances: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return for each candidate the weighted sum of its distances to all references."""
    totals = np.empty(len(distances))
    by_rows(_totals, len(distances), distances.size, read_only(distances), weights.astype(np.float64), totals)
    return totals


def greedy_order(
    distances: NDArray[np.float32],
    covered: NDArray[np.float32],
    weights: NDArray[np.float32],
    count: int,
    order: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Choose `count` distinct candidates one by one, each lowering the loss the most (PAM's BUILD).

    `distances` has shape (candidates, references). The gain of a candidate only shrinks as others are chosen, so an
    old gain is an upper bound and most candidates are never looked at again. Of equal gains the first in `order`, a
    permutation of the candidates, is taken.
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
    by_rows(_first_gains, len(distances), distances.size, distances, visited, near, counted, unit, bounds)
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
    """Add to `change` what exchanging each medoid for the candidate does, beyond the returned share of all."""
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
def _exchange(  # type: ignore[no-untyped-def]
    block,
    order,
    least_gain,
    candidates,
    medoids,
    distances,
    covered,
    near,
    second,
    near_distance,
    second_distance,
    weights,
):
    k = len(medoids)
    removal = _removal_losses(k, near, near_distance, second_distance, weights)
    made = 0
    for c in order:
        row = block[c]
        change = removal.copy()
        shared = _changes(row, near, near_distance, second_distance, weights, change)
        out = np.argmin(change[:-1])
        if -(shared + change[out]) <= least_gain:
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
    """Fill `medoids` from place `found` on; `bounds` are the gains of all candidates beyond what is `near`."""
    for place in range(found, len(medoids)):
        best = np.argmax(bounds)
        gain = _gain(distances[order[best]], near, weights, unit)
        while gain < bounds[best]:
            bounds[best] = gain
            best = np.argmax(bounds)
            gain = _gain(distances[order[best]], near, weights, unit)
        medoids[place] = best
        bounds[best] = -np.inf
        near = np.minimum(near, distances[order[best]])


@njit(cache=True)
def _gain(row, near, weights, unit):  # type: ignore[no-untyped-def]
    """Return by how much a candidate lowers the loss, in whole `unit`s so that rounding breaks no tie."""
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
