"""Moving medoids within their own cells: the cheap half of a K-Medoids search, linear in the number of rows.

Each medoid is replaced by the row of its cell with the smallest sum of distances to the others, judged among the rows
nearest the mean of the cell; then all rows are assigned anew, as long as the loss falls.

Every pass over all rows is made block by block, wherever they are (`featprop.compute`). Distances are those of
the difference of two rows, and sums are taken leaf by leaf, so the answer is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from featprop.compute import leaves, place, sum_in_order
from featprop.compute.group_sums import add_to_groups
from featprop.compute.points import Points, blocks_of
from featprop.compute.threads import by_rows
from featprop.matrix import as_dense
from featprop.progress import tracked

__all__ = ["Cells", "cell_means", "moved_within_cells", "one_medoid"]

MAX_MOVES = 6
WORTH_MOVING = 1e-4
"""Stop when a round of moves lowers the loss by less than this share."""
LOOKED_AT = 64
"""Rows of a cell that are judged, fewer if rows are so wide that they would take more than this:"""
LOOKED_AT_BYTES = 2**28
MEDIAN_STEPS = 20
NEAR_MEDIAN = 512


@dataclass(frozen=True, eq=False)
class Cells:
    """Medoids and the rows near each.

    Attributes
    ----------
    medoids
        The rows that are medoids.
    labels
        The nearest medoid of each row, -1 where a fixed one is nearer.
    loss
        The sum of the distances of all rows to the nearest medoid, chosen or fixed, as they are weighted.
    """

    medoids: NDArray[np.intp]
    labels: NDArray[np.int32]
    loss: float


def moved_within_cells(
    points: Points,
    medoids: NDArray[np.intp],
    candidates: NDArray[np.intp],
    covered: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> tuple[Cells, int]:
    """Return the cells after the moves, and how many were made."""
    allowed = np.zeros(len(points), dtype=bool)
    allowed[candidates] = True
    cells = _assigned(points, medoids, covered, weights)
    moves = 0
    for _ in tracked(range(MAX_MOVES), "moving medoids", MAX_MOVES):
        medoids, gain = _best_of_cells(points, cells, allowed, weights)
        if gain < WORTH_MOVING * cells.loss:
            break
        moved = _assigned(points, medoids, covered, weights)
        moves += int(np.count_nonzero(moved.medoids != cells.medoids))
        cells = moved
    return cells, moves


def one_medoid(points: Points, candidates: NDArray[np.intp], weights: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the best single medoid among the candidates nearest the geometric median (found by Weiszfeld's steps)."""
    labels = np.zeros(len(points), dtype=np.int32)
    pull = weights.copy()
    for _ in range(MEDIAN_STEPS):
        centre = cell_means(points, labels, pull, 1)[0]
        squared = points.squared_to(centre) + centre @ centre
        pull = weights / np.sqrt(np.maximum(squared, 1e-12 * squared.max() + 1e-30))
    squared = points.squared_to(centre)[candidates]
    hopeful = candidates[_least(squared, NEAR_MEDIAN)]
    losses = _losses(points, labels, weights, hopeful[None, :])
    return hopeful[[losses[0].argmin()]]


def _assigned(
    points: Points, medoids: NDArray[np.intp], covered: NDArray[np.float32], weights: NDArray[np.float32]
) -> Cells:
    """Return the nearest medoid of each row."""
    centres, own = points.take(medoids), np.full(len(points), -1, dtype=np.int32)
    own[medoids] = np.arange(len(medoids))
    labels, sums = np.empty(len(points), dtype=np.int32), []
    found = place().map(_assigned_of, len(points), points, centres, own, covered, weights, stage="measuring distances")
    for block, (here, losses) in zip(place().blocks(len(points)), found, strict=True):
        labels[block] = here
        sums.append(losses)
    return Cells(medoids, labels, float(sum_in_order(sums)))


def _assigned_of(
    block: slice,
    points: Points,
    centres: Points,
    own: NDArray[np.int32],
    covered: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> tuple[NDArray[np.int32], list[NDArray[np.float64]]]:
    """Return the nearest medoid of each row of a block, and the loss of each leaf; a medoid is nearest to itself."""
    rows = points.block(block)
    labels, _ = rows.nearest(centres)
    labels = np.where(own[block] >= 0, own[block], labels)
    distances = rows.exact_distances(centres, labels)
    paid = np.minimum(distances, covered[block]).astype(np.float64) * weights[block]
    losses = [paid[leaf.start - block.start : leaf.stop - block.start].sum() for leaf in leaves(block)]
    return np.where(covered[block] < distances, -1, labels).astype(np.int32), losses


def _best_of_cells(
    points: Points, cells: Cells, allowed: NDArray[np.bool_], weights: NDArray[np.float32]
) -> tuple[NDArray[np.intp], float]:
    """Return for each cell the row with the smallest sum of distances, and by how much the loss falls at least."""
    count, labels = len(cells.medoids), cells.labels
    means = cell_means(points, labels, weights, count)
    squared = np.concatenate(list(place().map(_squared_of, len(points), points, labels, means)))
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels, np.arange(count + 1), sorter=order)
    each = int(np.clip(LOOKED_AT_BYTES // (4 * count * points.width), 1, LOOKED_AT))
    hopeful = np.repeat(cells.medoids[:, None], each + 1, axis=1)
    for number in range(count):
        members = order[bounds[number] : bounds[number + 1]]
        inside = members[allowed[members]]
        if len(inside) > 1:
            found = inside[_least(squared[inside], each)]
            hopeful[number, : len(found)] = found
    losses = _losses(points, labels, weights, hopeful)
    best = losses.argmin(axis=1)
    gains = losses[:, -1] - losses[np.arange(count), best]
    return np.where(gains > 0, hopeful[np.arange(count), best], cells.medoids), float(gains.sum())


def cell_means(
    points: Points, labels: NDArray[np.int32], weights: NDArray[np.float32], count: int
) -> NDArray[np.float32]:
    """Return the mean of the rows of each cell, by weight; zero for a cell whose rows weigh nothing."""
    sums = sum_in_order(place().map(_sums_of, len(points), points, labels, weights, count))
    return np.asarray(sums[:, :-1] / np.maximum(sums[:, -1:], np.finfo(np.float64).tiny), dtype=np.float32)


def _sums_of(
    block: slice, points: Points, labels: NDArray[np.int32], weights: NDArray[np.float32], count: int
) -> list[NDArray[np.float64]]:
    """Return for each leaf the sum of the rows of each cell and, in the last column, of their weights."""
    found = []
    for leaf in leaves(block):
        sums = np.zeros((count, points.width + 1))
        for part, rows in _dense_parts(points, leaf):
            add_to_groups(rows, labels[part], weights[part], sums)
        found.append(sums)
    return found


def _squared_of(
    block: slice, points: Points, labels: NDArray[np.int32], means: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return how far each row is from the mean of its cell, squared."""
    squared = np.empty(block.stop - block.start, dtype=np.float32)
    for part, rows in _dense_parts(points, block):
        inside = slice(part.start - block.start, part.stop - block.start)
        by_rows(_gaps, len(rows), rows.size, rows, means, labels[part], squared[inside])
    return squared


def _losses(
    points: Points, labels: NDArray[np.int32], weights: NDArray[np.float32], hopeful: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return for each cell, and each of its hopeful rows, the sum of the distances of the rows of the cell."""
    count, each = hopeful.shape
    rows = as_dense(points.take(hopeful.ravel()).rows).reshape(count, each, points.width)
    return sum_in_order(place().map(_losses_of, len(points), points, labels, weights, rows, stage="judging medoids"))


def _losses_of(
    block: slice,
    points: Points,
    labels: NDArray[np.int32],
    weights: NDArray[np.float32],
    hopeful: NDArray[np.float32],
) -> list[NDArray[np.float64]]:
    found = []
    for leaf in leaves(block):
        sums = np.zeros(hopeful.shape[:2])
        for part, rows in _dense_parts(points, leaf):
            order = np.argsort(labels[part], kind="stable")
            bounds = np.searchsorted(labels[part], np.arange(len(hopeful) + 1), sorter=order)
            entries = rows.size * hopeful.shape[1]
            by_rows(_judge, len(hopeful), entries, rows, order, bounds, weights[part], hopeful, sums)
        found.append(sums)
    return found


def _dense_parts(points: Points, block: slice) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield parts of a block and their rows, so few that wide ones are small when they are dense."""
    for part in blocks_of(block.stop - block.start, 4 * points.width):
        here = slice(block.start + part.start, block.start + part.stop)
        yield here, as_dense(points.block(here).rows)


def _least(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Return the places of the `count` least values."""
    count = min(count, len(values))
    return np.argpartition(values, count - 1)[:count]


@njit(nogil=True, cache=True)
def _gaps(start, stop, rows, means, labels, squared):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        if labels[i] >= 0:
            for c in range(rows.shape[1]):
                gap = np.float64(rows[i, c]) - np.float64(means[labels[i], c])
                total += gap * gap
        squared[i] = total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _judge(start, stop, rows, order, bounds, weights, hopeful, sums):  # type: ignore[no-untyped-def]
    for cell in range(start, stop):
        for member in range(bounds[cell], bounds[cell + 1]):
            i = order[member]
            for h in range(hopeful.shape[1]):
                total = np.float32(0)
                for c in range(rows.shape[1]):
                    gap = rows[i, c] - hopeful[cell, h, c]
                    total += gap * gap
                sums[cell, h] += np.float64(weights[i]) * np.sqrt(np.float64(total))
