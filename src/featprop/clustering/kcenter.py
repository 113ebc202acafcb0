"""Greedy K-Center: choose rows one by one, each the farthest from all chosen before.

Gonzalez, "Clustering to minimize the maximum intercluster distance" (1985): if every row may be chosen, the largest
distance of a row to the nearest centre is at most twice the optimum.
"""

from __future__ import annotations

import numpy as np

from featprop.compute.points import Points
from featprop.matrix import Floats, Positions
from featprop.progress import tracked


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
