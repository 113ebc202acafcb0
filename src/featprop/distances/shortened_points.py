"""Points in fewer columns whose distances still count what the columns left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.distances.points import Points

__all__ = ["ShortenedPoints"]


class ShortenedPoints(Points):
    """Rows projected onto fewer columns, with the lengths they had before.

    What a projection leaves out of a row is mostly noise of that row alone, nearly orthogonal to every other row's. So
    it counts in full in the distance between two rows: |a|² + |b|² - 2 a·b, with only the product projected. Distances
    between projected rows alone would favour rows that the projection happens to shorten.

    Parameters
    ----------
    rows
        The projected rows.
    squared_norms
        The squared length of each row before it was projected.
    metric
        ``"euclidean"``, or ``"cosine"`` for half the squared distance.
    """

    def __init__(self, rows: NDArray[np.float32], squared_norms: NDArray[np.float32], metric: str) -> None:
        self._set(rows, metric, 1.0, squared_norms)

    def take(self, indices: NDArray[Any] | slice) -> ShortenedPoints:
        """Return the points at `indices`."""
        return ShortenedPoints(self._rows[indices], self._squared_norms[indices], self.metric)

    def exact_distances(self, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distance of each point to the centre that `index` names; 0 between equal rows."""
        squared = self._squared_gaps(centres, index)
        left_out = _left_out(self) + _left_out(centres)[index]
        return self._roots(np.where(squared > 0, squared + left_out, squared))


def _left_out(points: Points) -> NDArray[np.float32]:
    """Return the squared length of what the columns leave out of each row."""
    rows = np.asarray(points.rows)
    return np.asarray(np.maximum(points.squared_norms - np.einsum("ij,ij->i", rows, rows), 0))
