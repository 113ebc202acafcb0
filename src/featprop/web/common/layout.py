"""Lay rows out in the plane with t-SNE, for a map of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import Features, dense
from featprop.progress import tracked

MAX_COMPONENTS = 50
"""Principal components kept of wider rows."""
ITERATIONS, ANGLE, PERPLEXITY = 500, 0.8, 30.0
INITIAL_SPREAD = 1e-4
"""Standard deviation of the initial coordinates."""
MIN_ROWS = 5


def tsne_layout(rows: Features) -> NDArray[np.float32]:
    """Return two coordinates for each row. The result is deterministic.

    It takes about 3 seconds per thousand rows on one core.
    """
    wide = np.asarray(dense(rows), dtype=np.float32)
    if len(wide) < MIN_ROWS:
        return np.column_stack([np.arange(len(wide)), np.zeros(len(wide))]).astype(np.float32)
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        components, start = _initialize(wide)
        coordinates: Any = start
        embedding = TSNE(
            init=start,
            perplexity=min(PERPLEXITY, (len(components) - 1) / 3),
            max_iter=ITERATIONS,
            angle=ANGLE,
            random_state=0,
        )
        for each in tracked([embedding], "laying out the map", 1):
            coordinates = each.fit_transform(components)
    return np.asarray(coordinates, dtype=np.float32)


def _initialize(rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the principal components of the rows and their initial coordinates; equal rows start at random."""
    from sklearn.decomposition import PCA

    start = np.random.default_rng(0).normal(scale=INITIAL_SPREAD, size=(len(rows), 2)).astype(np.float32)
    if not np.ptp(rows, axis=0).any():
        return rows, start
    solver = "full" if rows.shape[1] <= MAX_COMPONENTS else "auto"
    pca = PCA(min(MAX_COMPONENTS, *rows.shape), svd_solver=solver, random_state=0)
    components = np.asarray(pca.fit_transform(rows), dtype=np.float32)
    spread = float(components[:, 0].std())
    if spread > 0:
        first = components[:, :2] / spread * INITIAL_SPREAD
        start[:, : first.shape[1]] = first
    return components, start
