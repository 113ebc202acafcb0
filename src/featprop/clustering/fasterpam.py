"""FasterPAM: K-Medoids by eager swaps over a matrix of distances.

Schubert and Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 101 (2021). The start is PAM's
own BUILD (greedy), evaluated lazily: the gain of a candidate can only shrink as medoids are added, so an old gain
is an upper bound.

The kernels take `distances` of shape (candidates, references): who may be a medoid, and who is to be near one.
`covered` is the distance of each reference to the nearest medoid that is already fixed, infinite if there is none.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["greedy_build", "swap"]

RELATIVE_GAIN = 1e-9
"""A swap must lower the loss by this share of it: less is rounding."""


@njit(cache=True)
def greedy_build(distances: NDArray[np.float32], covered: NDArray[np.float32], n_medoids: int) -> NDArray[np.int64]:
    """Choose `n_medoids` distinct candidates one by one, each lowering the loss the most."""
    n_candidates = distances.shape[0]
    near = covered.copy()
    medoids = np.empty(n_medoids, dtype=np.int64)
    chosen = 0
    if near[0] == np.inf:
        losses = np.empty(n_candidates, dtype=np.float64)
        for c in range(n_candidates):
            losses[c] = distances[c].astype(np.float64).sum()
        medoids[0] = np.argmin(losses)
        near[:] = distances[medoids[0]]
        chosen = 1
    bounds = np.empty(n_candidates, dtype=np.float64)
    for c in range(n_candidates):
        bounds[c] = _gain(distances[c], near)
    bounds[medoids[:chosen]] = -np.inf
    while chosen < n_medoids:
        best = np.argmax(bounds)
        gain = _gain(distances[best], near)
        while gain < bounds[best]:
            bounds[best] = gain
            best = np.argmax(bounds)
            gain = _gain(distances[best], near)
        medoids[chosen] = best
        bounds[best] = -np.inf
        near = np.minimum(near, distances[best])
        chosen += 1
    return medoids


@njit(cache=True)
def swap(
    distances: NDArray[np.float32],
    covered: NDArray[np.float32],
    medoids: NDArray[np.int64],
    order: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    """Exchange medoids for other candidates, visited in `order`, until no exchange lowers the loss.

    Returns the medoids and the number of swaps. The fixed medoids act as one more medoid, number k, that never moves.
    """
    n_references = distances.shape[1]
    k = len(medoids)
    medoids = medoids.copy()
    is_medoid = np.zeros(distances.shape[0], dtype=np.bool_)
    is_medoid[medoids] = True
    near = np.empty(n_references, dtype=np.int64)
    second = np.empty(n_references, dtype=np.int64)
    near_distance = np.empty(n_references, dtype=np.float32)
    second_distance = np.empty(n_references, dtype=np.float32)
    for o in range(n_references):
        _two_nearest(o, distances, covered, medoids, near, second, near_distance, second_distance)
    removal = _removal_losses(k, near, near_distance, second_distance)
    loss = near_distance.astype(np.float64).sum()

    swaps = 0
    unchanged = 0
    while unchanged < len(order):
        for c in order:
            if unchanged >= len(order):
                break
            unchanged += 1
            if is_medoid[c]:
                continue
            change = removal.copy()
            shared = 0.0
            for o in range(n_references):
                d = distances[c, o]
                if d < near_distance[o]:
                    shared += d - np.float64(near_distance[o])
                    change[near[o]] += np.float64(near_distance[o]) - second_distance[o]
                elif d < second_distance[o]:
                    change[near[o]] += d - np.float64(second_distance[o])
            out = np.argmin(change[:k])
            gain = -(change[out] + shared)
            if gain <= RELATIVE_GAIN * loss:
                continue
            is_medoid[medoids[out]] = False
            is_medoid[c] = True
            medoids[out] = c
            for o in range(n_references):
                d = distances[c, o]
                if near[o] == out or second[o] == out:
                    _two_nearest(o, distances, covered, medoids, near, second, near_distance, second_distance)
                elif d < near_distance[o]:
                    second[o], second_distance[o] = near[o], near_distance[o]
                    near[o], near_distance[o] = out, d
                elif d < second_distance[o]:
                    second[o], second_distance[o] = out, d
            removal = _removal_losses(k, near, near_distance, second_distance)
            loss = near_distance.astype(np.float64).sum()
            swaps += 1
            unchanged = 0
    return medoids, swaps


@njit(cache=True)
def _gain(row: NDArray[np.float32], near: NDArray[np.float32]) -> float:
    """Return by how much a candidate lowers the loss."""
    total = 0.0
    for o in range(len(row)):
        if row[o] < near[o]:
            total += np.float64(near[o]) - row[o]
    return total


@njit(cache=True)
def _two_nearest(o, distances, covered, medoids, near, second, near_distance, second_distance):  # type: ignore[no-untyped-def]
    k = len(medoids)
    first, first_distance = k, covered[o]
    other, other_distance = k, np.float32(np.inf)
    for m in range(k):
        d = distances[medoids[m], o]
        if d < first_distance:
            other, other_distance = first, first_distance
            first, first_distance = m, d
        elif d < other_distance:
            other, other_distance = m, d
    near[o], second[o] = first, other
    near_distance[o], second_distance[o] = first_distance, other_distance


@njit(cache=True)
def _removal_losses(k, near, near_distance, second_distance):  # type: ignore[no-untyped-def]
    losses = np.zeros(k + 1, dtype=np.float64)
    for o in range(len(near)):
        losses[near[o]] += np.float64(second_distance[o]) - near_distance[o]
    return losses
