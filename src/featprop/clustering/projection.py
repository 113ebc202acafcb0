"""A few dimensions that keep most of the geometry: what a search can look at before it looks closely.

Halko, Martinsson and Tropp, "Finding structure with randomness" (2011): the range of the rows, found from a random
test matrix with one power step.
"""

from __future__ import annotations

import numpy as np

from featprop.compute.points import Points

__all__ = ["projected", "with_lengths_of"]

OVERSAMPLING = 8


def projected(points: Points, width: int, generator: np.random.Generator, most: int | None = None) -> Points:
    """Return the points in a little over `width` dimensions; as they are if they have no more.

    With `most`, the dimensions are found on about so many of the points, where all would be more work.
    """
    if points.width <= width + OVERSAMPLING:
        return points
    test = generator.standard_normal((points.width, width + OVERSAMPLING), dtype=np.float32)
    some = points if most is None else points.sample(most)
    basis, _ = np.linalg.qr(some.transposed_times(some.times(test)))
    return Points.prepared(points.times(np.ascontiguousarray(basis)), points.metric, points.unit)


def with_lengths_of(points: Points, narrow: Points) -> Points:
    """Return projected points with the lengths they had: |a|² + |b|² - 2 a·b with only the product projected.

    What a projection leaves out of a row is mostly its own, and so is in its distance to every other row: those whose
    neighbours are many have little of it, and are better medoids.
    """
    return Points.prepared(narrow.rows, narrow.metric, narrow.unit, points.squared_norms)
