"""K-Center: the smallest radius within which every row, or all but a few, have a centre.

**Greedy** (Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985): choose rows one by one, each
the farthest from all chosen before. If every row may be chosen, the largest distance of a row to the nearest centre is
at most twice the optimum.

**Robust** (Sener and Savarese, "Active Learning for Convolutional Neural Networks: A Core-Set Approach", 2018): start
from greedy K-Center, then bisect the radius δ over the occurring distances. Each step asks whether there are
y, z ∈ {0, 1} with

    Σ_{j : d_ij ≤ δ} y_j + z_i ≥ 1 for every row i,    Σ y ≤ b,    Σ z ≤ Ξ

where y_j = 1 if candidate j is a centre and z_i = 1 if row i is an outlier. HiGHS solves it within a time limit. Rows
within δ of a fixed centre need no constraint, and the matrix has an entry only where a distance is within δ.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from featprop.compute.points import Points
from featprop.matrix import Floats, Positions
from featprop.progress import tracked

INFEASIBLE = 2
"""Status of `scipy.optimize.milp` when it proves that there is no solution."""


def k_center(
    points: Points, count: int, fixed: Positions, candidates: Positions, generator: np.random.Generator
) -> tuple[Positions, Floats]:
    """Choose `count` of the `candidates`, each the farthest from the `fixed` rows and those chosen before.

    Return them in the order of choice, and the distance of each row to the nearest of them or of the fixed rows.
    Without fixed rows, the first is the candidate nearest to the mean of all rows. Ties are broken at random. The
    caller guarantees that 1 ≤ `count` ≤ number of candidates, and that no candidate is fixed.
    """
    order = generator.permutation(candidates)
    if fixed.size:
        closest = points.nearest(points.take(fixed))[1].copy()
        closest[fixed] = 0.0
    else:
        mean = np.asarray(points.rows.mean(axis=0), dtype=np.float32)
        closest = -points.relative_sq_distances(mean)
    available = np.ones(len(order), dtype=bool)
    centres = np.empty(count, dtype=np.intp)
    for pick in tracked(range(count), "choosing centres", count):
        position = int(np.where(available, closest[order], -np.inf).argmax())
        available[position] = False
        centres[pick] = order[position]
        distances = points.distances(centres[pick : pick + 1])[0]
        closest = distances if pick == 0 and not fixed.size else np.minimum(closest, distances)
    return centres, closest


@dataclass(frozen=True)
class RobustKCenterResult:
    """Centres and their radius."""

    centres: Positions  # positions of the chosen rows, in the order of greedy K-Center
    radius: float  # largest distance of a row to its centre, without the outliers
    lower_bound: float  # proven lower bound of the radius of any choice, for all rows and candidates
    greedy_radius: float  # radius of greedy K-Center
    n_problems: int  # number of integer programs solved

    @property
    def gap(self) -> float:
        """Largest possible improvement of the radius, relative to it."""
        return (self.radius - self.lower_bound) / self.radius if self.radius else 0.0


def robust_k_center(
    points: Points,
    count: int,
    fixed: Positions,
    candidates: Positions,
    generator: np.random.Generator,
    *,
    outliers: int,
    time_limit: float,
    max_size: int,
) -> RobustKCenterResult:
    """Choose `count` of the `candidates` as centres, in addition to the `fixed` ones.

    Parameters
    ----------
    outliers
        Ξ, the number of rows that may lie outside the radius.
    time_limit
        Time for all integer programs together, in seconds; then the best result so far is returned.
    max_size
        Largest number of rows, and of candidates, in a program. Of more, that many are selected by greedy K-Center;
        radius and bound still hold for all.
    """
    best, distances = k_center(points, count, fixed, candidates, generator)
    program = _Program(points, count, fixed, candidates, generator, outliers, max_size)
    radius = greedy_radius = _robust_radius(distances, outliers)
    is_plain = not outliers and len(candidates) + len(fixed) == len(points)
    bound = radius / 2 if is_plain else 0.0
    radii = np.unique(program.distances)
    radii = radii[(radii >= bound) & (radii < radius)]
    ends_at = time.monotonic() + time_limit
    low, high, n_problems = 0, len(radii), 0
    while low < high and (left := ends_at - time.monotonic()) > 0:
        middle = (low + high) // 2
        n_problems += 1
        status, chosen = program.solve(float(radii[middle]), max(1.0, left / 4))
        if chosen is None:
            low = middle + 1
            if status == INFEASIBLE:
                bound = max(bound, float(radii[middle]) - program.slack)
            continue
        high = middle
        filled = _fill_up(points, chosen, count, fixed, candidates, generator)
        reached = _robust_radius(_distances(points, filled, fixed), outliers)
        if reached < radius:
            best, radius = filled, reached
    ordered, _ = k_center(points, count, fixed, best, generator)
    return RobustKCenterResult(ordered, radius, min(bound, radius), greedy_radius, n_problems)


class _Program:
    """The integer program for any radius.

    Rows and columns are sorted by their distances, so that the solution does not depend on the order of the nodes.
    """

    def __init__(
        self,
        points: Points,
        count: int,
        fixed: Positions,
        candidates: Positions,
        generator: np.random.Generator,
        outliers: int,
        max_size: int,
    ) -> None:
        nothing = np.empty(0, dtype=np.intp)
        self.count, self.outliers, self.slack = count, outliers, 0.0
        rows, self.columns = np.arange(len(points)), candidates
        if len(rows) > max_size:
            rows, _ = k_center(points, max_size, nothing, rows, generator)
        if len(candidates) > max_size:
            self.columns, away = k_center(points, max_size, nothing, candidates, generator)
            self.slack = float(away[candidates].max())
        distances = points.distances_to_subset(rows, self.columns)
        central = np.argsort(distances.sum(axis=0, dtype=np.float64), kind="stable")
        outlying = np.argsort(-distances.sum(axis=1, dtype=np.float64), kind="stable")
        rows, self.columns, self.distances = rows[outlying], self.columns[central], distances[outlying][:, central]
        self.covered = np.full(len(rows), np.inf, dtype=np.float32)
        if fixed.size:
            self.covered = points.take(rows).nearest(points.take(fixed))[1]

    def solve(self, radius: float, time_limit: float) -> tuple[int, Positions | None]:
        """Return the status of the solver, and centres within the radius of all but the outliers if it found any."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        uncovered = self.distances[self.covered > radius]
        n_rows, n_columns = uncovered.shape
        within = sp.csr_array(uncovered <= radius, dtype=np.float64)
        cover = sp.hstack([within, sp.eye_array(n_rows)], format="csr")
        totals = sp.csr_array(
            np.stack([np.arange(n_columns + n_rows) < n_columns, np.arange(n_columns + n_rows) >= n_columns]),
            dtype=np.float64,
        )
        answer = milp(
            np.zeros(n_columns + n_rows),
            integrality=np.ones(n_columns + n_rows),
            bounds=Bounds(0, np.repeat([1.0, float(self.outliers > 0)], [n_columns, n_rows])),
            constraints=[
                LinearConstraint(cover, lb=1.0),
                LinearConstraint(totals, ub=[float(self.count), float(self.outliers)]),
            ],
            options={"time_limit": time_limit},
        )
        chosen = None if answer.x is None else self.columns[np.flatnonzero(answer.x[:n_columns] > 0.5)]
        return int(answer.status), chosen


def _fill_up(
    points: Points,
    chosen: Positions,
    count: int,
    fixed: Positions,
    candidates: Positions,
    generator: np.random.Generator,
) -> Positions:
    """Add the farthest candidates if the program needed fewer centres than `count`."""
    if len(chosen) == count:
        return chosen
    held, rest = np.concatenate([fixed, chosen]), np.setdiff1d(candidates, chosen)
    return np.concatenate([chosen, k_center(points, count - len(chosen), held, rest, generator)[0]])


def _distances(points: Points, centres: Positions, fixed: Positions) -> Floats:
    every = np.concatenate([centres, fixed])
    distances = points.nearest(points.take(every))[1]
    distances[every] = 0.0
    return distances


def _robust_radius(distances: Floats, outliers: int) -> float:
    """Return the largest distance without the `outliers` largest."""
    place = max(0, len(distances) - 1 - outliers)
    return float(np.partition(distances, place)[place])
