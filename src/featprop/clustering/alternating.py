"""The alternating (Voronoi) step of K-Medoids, linear in the number of rows.

Each medoid is replaced by the row of its cell with the smallest sum of distances to the other rows of the cell, chosen
among the rows nearest to the mean of the cell. Then all rows are assigned again, while the loss falls.

Passes over all rows are computed in blocks by the backend (`featprop.compute`). Distances come from the difference of
two rows and sums are computed chunk by chunk, so the result is the same on every backend.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from featprop.compute import get_backend, split_into_chunks, sum_in_order
from featprop.compute.kernels import run_by_rows
from featprop.compute.points import Points, split_by_bytes
from featprop.matrix import Floats, Positions, as_dense
from featprop.progress import tracked

MAX_ROUNDS = 6
MIN_IMPROVEMENT = 1e-4
"""Stop when a round lowers the loss by less than this share."""
MAX_CELL_CANDIDATES = 64
"""Candidates per cell; fewer if the rows of all candidates would take more than:"""
MAX_CANDIDATE_BYTES = 2**28
MEDIAN_STEPS = 20
MAX_MEDIAN_CANDIDATES = 512


@dataclass(frozen=True, eq=False)
class Cells:
    """Medoids and their cells."""

    medoids: Positions  # positions of the medoids
    labels: NDArray[np.int32]  # nearest medoid of each row; -1 if a fixed medoid is nearer
    loss: float  # weighted sum of the distances to the nearest medoid, chosen or fixed


def alternate(
    points: Points, medoids: Positions, candidates: Positions, covered: Floats, weights: Floats
) -> tuple[Cells, int]:
    """Move medoids within their cells while the loss falls; return the cells and the number of moves."""
    allowed = np.zeros(len(points), dtype=bool)
    allowed[candidates] = True
    cells = _assign(points, medoids, covered, weights)
    moves = 0
    for _ in tracked(range(MAX_ROUNDS), "moving medoids", MAX_ROUNDS):
        medoids, gain = _best_in_cells(points, cells, allowed, weights)
        if gain < MIN_IMPROVEMENT * cells.loss:
            break
        moved = _assign(points, medoids, covered, weights)
        moves += int(np.count_nonzero(moved.medoids != cells.medoids))
        cells = moved
    return cells, moves


def find_one_medoid(points: Points, candidates: Positions, weights: Floats) -> Positions:
    """Return the best single medoid among the candidates nearest to the geometric median (Weiszfeld's algorithm)."""
    labels = np.zeros(len(points), dtype=np.int32)
    pull = weights.copy()
    for _ in range(MEDIAN_STEPS):
        centre = cell_means(points, labels, pull, 1)[0]
        squared = points.relative_sq_distances(centre) + centre @ centre
        pull = weights / np.sqrt(np.maximum(squared, 1e-12 * squared.max() + 1e-30))
    squared = points.relative_sq_distances(centre)[candidates]
    shortlist = candidates[_smallest(squared, MAX_MEDIAN_CANDIDATES)]
    losses = _candidate_losses(points, labels, weights, shortlist[None, :])
    return shortlist[[losses[0].argmin()]]


def _assign(points: Points, medoids: Positions, covered: Floats, weights: Floats) -> Cells:
    """Assign each row to its nearest medoid."""
    centres, own = points.take(medoids), np.full(len(points), -1, dtype=np.int32)
    own[medoids] = np.arange(len(medoids))
    labels, sums = np.empty(len(points), dtype=np.int32), []
    found = get_backend().map(
        _assign_block, len(points), points, centres, own, covered, weights, stage="measuring distances"
    )
    for block, (here, losses) in zip(get_backend().split_rows(len(points)), found, strict=True):
        labels[block] = here
        sums.append(losses)
    return Cells(medoids, labels, float(sum_in_order(sums)))


def _assign_block(
    block: slice, points: Points, centres: Points, own: NDArray[np.int32], covered: Floats, weights: Floats
) -> tuple[NDArray[np.int32], list[NDArray[np.float64]]]:
    """Return the nearest medoid of each row, a medoid being nearest to itself, and the loss of each chunk."""
    rows = points.block(block)
    labels, _ = rows.nearest(centres)
    labels = np.where(own[block] >= 0, own[block], labels)
    distances = rows.exact_distances(centres, labels)
    paid = np.minimum(distances, covered[block]).astype(np.float64) * weights[block]
    losses = [paid[chunk.start - block.start : chunk.stop - block.start].sum() for chunk in split_into_chunks(block)]
    return np.where(covered[block] < distances, -1, labels).astype(np.int32), losses


def _best_in_cells(
    points: Points, cells: Cells, allowed: NDArray[np.bool_], weights: Floats
) -> tuple[Positions, float]:
    """Return the row of each cell with the smallest sum of distances, and a lower bound of the improvement."""
    count, labels = len(cells.medoids), cells.labels
    means = cell_means(points, labels, weights, count)
    squared = np.concatenate(list(get_backend().map(_sq_distances_to_means, len(points), points, labels, means)))
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels, np.arange(count + 1), sorter=order)
    each = int(np.clip(MAX_CANDIDATE_BYTES // (4 * count * points.width), 1, MAX_CELL_CANDIDATES))
    shortlist = np.repeat(cells.medoids[:, None], each + 1, axis=1)
    for number in range(count):
        members = order[bounds[number] : bounds[number + 1]]
        inside = members[allowed[members]]
        if len(inside) > 1:
            found = inside[_smallest(squared[inside], each)]
            shortlist[number, : len(found)] = found
    losses = _candidate_losses(points, labels, weights, shortlist)
    best = losses.argmin(axis=1)
    gains = losses[:, -1] - losses[np.arange(count), best]
    return np.where(gains > 0, shortlist[np.arange(count), best], cells.medoids), float(gains.sum())


def cell_means(points: Points, labels: NDArray[np.int32], weights: Floats, count: int) -> Floats:
    """Return the weighted mean of each cell; zero if the weights of a cell are zero."""
    sums = sum_in_order(get_backend().map(_sum_cells, len(points), points, labels, weights, count))
    return np.asarray(sums[:, :-1] / np.maximum(sums[:, -1:], np.finfo(np.float64).tiny), dtype=np.float32)


def _sum_cells(
    block: slice, points: Points, labels: NDArray[np.int32], weights: Floats, count: int
) -> list[NDArray[np.float64]]:
    """Return for each chunk the weighted sum of the rows of each cell, with the sum of weights as last column."""
    found = []
    for chunk in split_into_chunks(block):
        sums = np.zeros((count, points.width + 1))
        for part, rows in _dense_parts(points, chunk):
            run_by_rows(_add_columns, rows.shape[1], rows.size, rows, labels[part], weights[part], sums)
        found.append(sums)
    return found


def _sq_distances_to_means(block: slice, points: Points, labels: NDArray[np.int32], means: Floats) -> Floats:
    """Return the squared distance of each row to the mean of its cell."""
    squared = np.empty(block.stop - block.start, dtype=np.float32)
    for part, rows in _dense_parts(points, block):
        inside = slice(part.start - block.start, part.stop - block.start)
        run_by_rows(_sq_diff_to_means, len(rows), rows.size, rows, means, labels[part], squared[inside])
    return squared


def _candidate_losses(
    points: Points, labels: NDArray[np.int32], weights: Floats, shortlist: Positions
) -> NDArray[np.float64]:
    """Return the weighted sum of distances from the rows of each cell to each of its shortlisted rows."""
    count, each = shortlist.shape
    rows = as_dense(points.take(shortlist.ravel()).rows).reshape(count, each, points.width)
    return sum_in_order(
        get_backend().map(
            _candidate_losses_of_block, len(points), points, labels, weights, rows, stage="evaluating medoids"
        )
    )


def _candidate_losses_of_block(
    block: slice, points: Points, labels: NDArray[np.int32], weights: Floats, shortlist: Floats
) -> list[NDArray[np.float64]]:
    found = []
    for chunk in split_into_chunks(block):
        sums = np.zeros(shortlist.shape[:2])
        for part, rows in _dense_parts(points, chunk):
            order = np.argsort(labels[part], kind="stable")
            bounds = np.searchsorted(labels[part], np.arange(len(shortlist) + 1), sorter=order)
            entries = rows.size * shortlist.shape[1]
            run_by_rows(_add_losses, len(shortlist), entries, rows, order, bounds, weights[part], shortlist, sums)
        found.append(sums)
    return found


def _dense_parts(points: Points, block: slice) -> Iterator[tuple[slice, Floats]]:
    """Yield parts of a block that take little memory as dense rows, and these rows."""
    for part in split_by_bytes(block.stop - block.start, 4 * points.width):
        here = slice(block.start + part.start, block.start + part.stop)
        yield here, as_dense(points.block(here).rows)


def _smallest(values: Floats, count: int) -> Positions:
    """Return the positions of the `count` smallest values."""
    count = min(count, len(values))
    return np.argpartition(values, count - 1)[:count]


@njit(nogil=True, cache=True)
def _add_columns(start, stop, rows, groups, weights, sums):  # type: ignore[no-untyped-def]
    """Add weighted rows to their cells, columns `start` to `stop`, so that threads add rows in their order."""
    for i in range(len(groups)):
        group = groups[i]
        if group >= 0:
            weight = np.float64(weights[i])
            for c in range(start, stop):
                sums[group, c] += weight * rows[i, c]
            if start == 0:
                sums[group, -1] += weight


@njit(nogil=True, cache=True)
def _sq_diff_to_means(start, stop, rows, means, labels, squared):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        if labels[i] >= 0:
            for c in range(rows.shape[1]):
                diff = np.float64(rows[i, c]) - np.float64(means[labels[i], c])
                total += diff * diff
        squared[i] = total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _add_losses(start, stop, rows, order, bounds, weights, shortlist, sums):  # type: ignore[no-untyped-def]
    for cell in range(start, stop):
        for member in range(bounds[cell], bounds[cell + 1]):
            i = order[member]
            for h in range(shortlist.shape[1]):
                total = np.float32(0)
                for c in range(rows.shape[1]):
                    diff = rows[i, c] - shortlist[cell, h, c]
                    total += diff * diff
                sums[cell, h] += np.float64(weights[i]) * np.sqrt(np.float64(total))
