"""A few dimensions that keep most of the geometry: what a search can look at before it looks closely.

Halko, Martinsson and Tropp, "Finding structure with randomness" (2011): the range of the rows, found from a random
test matrix with one power step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.distances.points import Points, blocks_of
from featprop.matrix import Features, as_dense

__all__ = ["projected"]

OVERSAMPLING = 8


def projected(points: Points, width: int, generator: np.random.Generator) -> Points:
    """Return the points in a little over `width` dimensions; as they are if they have no more."""
    if points.width <= width + OVERSAMPLING:
        return points
    test = generator.standard_normal((points.width, width + OVERSAMPLING), dtype=np.float32)
    basis, _ = np.linalg.qr(_transposed_times(points.rows, _times(points.rows, test)))
    return Points.prepared(_times(points.rows, np.ascontiguousarray(basis)), points.metric, points.unit)


def _times(rows: Features, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    product = np.empty((rows.shape[0], matrix.shape[1]), dtype=np.float32)
    for block in blocks_of(rows.shape[0], 4 * rows.shape[1]):
        product[block] = as_dense(rows[block]) @ matrix
    return product


def _transposed_times(rows: Features, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    product = np.zeros((rows.shape[1], matrix.shape[1]), dtype=np.float32)
    for block in blocks_of(rows.shape[0], 4 * rows.shape[1]):
        product += as_dense(rows[block]).T @ matrix[block]
    return product
