"""Moving medoids within their own cells: the cheap half of a K-Medoids search, linear in the number of rows.

Each medoid is replaced by the row of its cell with the smallest sum of distances to the others, judged among the rows
nearest the mean of the cell; then all rows are assigned anew, as long as the loss falls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.distances.points import Points
from featprop.progress import tracked

__all__ = ["moved_within_cells", "one_medoid"]

MAX_MOVES = 6
WORTH_MOVING = 1e-4
"""Stop when a round of moves lowers the loss by less than this share."""
LOOKED_AT = 64
MEDIAN_STEPS = 20
NEAR_MEDIAN = 512


def moved_within_cells(
    points: Points,
    medoids: NDArray[np.intp],
    candidates: NDArray[np.intp],
    covered: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> tuple[NDArray[np.intp], int]:
    """Return the medoids after the moves, and how many were made."""
    allowed = np.zeros(len(points), dtype=bool)
    allowed[candidates] = True
    labels, loss = _assigned(points, medoids, covered, weights)
    moves = 0
    for _ in tracked(range(MAX_MOVES), "moving medoids", MAX_MOVES):
        moved = _best_of_cells(points, medoids, labels, allowed, weights)
        labels, new_loss = _assigned(points, moved, covered, weights)
        if new_loss >= loss:
            break
        moves += int(np.count_nonzero(moved != medoids))
        worth = new_loss < (1 - WORTH_MOVING) * loss
        medoids, loss = moved, new_loss
        if not worth:
            break
    return medoids, moves


def one_medoid(points: Points, candidates: NDArray[np.intp], weights: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the best single medoid among the candidates nearest the geometric median (found by Weiszfeld's steps)."""
    pull = weights.astype(np.float64)
    for _ in range(MEDIAN_STEPS):
        centre = _mean(points, pull.astype(np.float32))
        squared = points.squared_to(centre) + centre @ centre
        pull = weights / np.sqrt(np.maximum(squared, 1e-12 * squared.max() + 1e-30))
    hopeful = candidates[_nearest_to(points.take(candidates), centre, NEAR_MEDIAN)]
    losses = np.empty(len(hopeful))
    for block in points.blocks(len(hopeful)):
        losses[block] = points.distances(hopeful[block]) @ weights
    return hopeful[[losses.argmin()]]


def _assigned(
    points: Points, medoids: NDArray[np.intp], covered: NDArray[np.float32], weights: NDArray[np.float32]
) -> tuple[NDArray[np.intp], float]:
    """Return the nearest medoid of each row, -1 where a fixed one is nearer, and the loss."""
    labels, distances = points.nearest(points.take(medoids))
    labels[medoids] = np.arange(len(medoids))
    labels[covered < distances] = -1
    return labels, float(np.minimum(distances, covered) @ weights.astype(np.float64))


def _best_of_cells(
    points: Points,
    medoids: NDArray[np.intp],
    labels: NDArray[np.intp],
    allowed: NDArray[np.bool_],
    weights: NDArray[np.float32],
) -> NDArray[np.intp]:
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(len(medoids) + 1))
    moved = medoids.copy()
    for number in range(len(medoids)):
        members = order[bounds[number] : bounds[number + 1]]
        inside = members[allowed[members]]
        if len(inside) < 2:
            continue
        cell = points.take(members)
        centre = _mean(cell, weights[members])
        hopeful = np.append(inside[_nearest_to(points.take(inside), centre)], medoids[number])
        losses = np.empty(len(hopeful))
        for block in points.blocks(len(hopeful), len(members)):
            losses[block] = points.distances(hopeful[block], to=cell) @ weights[members]
        moved[number] = hopeful[losses.argmin()] if losses.min() < losses[-1] else medoids[number]
    return moved


def _mean(cell: Points, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(weights), 1 / len(weights), dtype=np.float32)
    return np.asarray(cell.rows.T @ shares, dtype=np.float32)


def _nearest_to(cell: Points, centre: NDArray[np.float32], count: int = LOOKED_AT) -> NDArray[np.intp]:
    squared = cell.squared_to(centre)
    count = min(count, len(squared))
    return np.argpartition(squared, count - 1)[:count]
