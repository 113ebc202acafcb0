"""Greedy K-Center: rows chosen one by one, each the farthest from everything chosen before.

Gonzalez, "Clustering to minimize the maximum intercluster distance" (1985): where every row may be chosen, the largest
distance of a row to the nearest centre is at most twice the smallest possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points
from featprop.progress import tracked

__all__ = ["KCenterResult", "k_center"]


@dataclass(frozen=True)
class KCenterResult:
    """Centres and how far the rows are from them.

    Attributes
    ----------
    centres
        The chosen rows in the order they were picked.
    distances
        For each row the distance to the nearest centre, chosen or fixed.
    """

    centres: NDArray[np.intp]
    distances: NDArray[np.float32]

    @property
    def radius(self) -> float:
        """The largest of the distances."""
        return float(self.distances.max())


def k_center(
    points: Points,
    count: int,
    fixed: NDArray[np.intp],
    candidates: NDArray[np.intp],
    generator: np.random.Generator,
) -> KCenterResult:
    """Choose `count` of the `candidates`, each the farthest from the `fixed` rows and those chosen before.

    The first one, where nothing is fixed, is the candidate nearest the mean of all rows. Equal distances: in an order
    the generator decides. Relies on the caller for 1 ≤ `count` ≤ number of candidates, none of them fixed.
    """
    order = generator.permutation(candidates)
    if fixed.size:
        closest = points.nearest(points.take(fixed))[1].copy()
        closest[fixed] = 0.0
    else:
        mean = np.asarray(points.rows.mean(axis=0), dtype=np.float32)
        closest = -points.squared_to(mean)
    open_ = np.ones(len(order), dtype=bool)
    centres = np.empty(count, dtype=np.intp)
    for pick in tracked(range(count), "choosing centres", count):
        place = int(np.where(open_, closest[order], -np.inf).argmax())
        open_[place] = False
        centres[pick] = order[place]
        distances = points.distances(centres[pick : pick + 1])[0]
        closest = distances if pick == 0 and not fixed.size else np.minimum(closest, distances)
    return KCenterResult(centres, closest)
