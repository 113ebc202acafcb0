"""A place in the plane for each of some rows, near for rows that are near (t-SNE): where nodes lie on a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import Features, dense
from featprop.progress import tracked

__all__ = ["layout"]

COLUMNS = 50
"""Main directions that are kept of wider rows."""
ITERATIONS, ANGLE, PERPLEXITY = 500, 0.8, 30.0
SPREAD = 1e-4
"""How far apart rows start, of which t-SNE makes a map; from the first two main directions."""
FEWEST = 5


def layout(rows: Features) -> NDArray[np.float32]:
    """Return a place for each row: the same rows get the same places on every run.

    Takes about 3 seconds a thousand rows, on one core.

    Parameters
    ----------
    rows
        What to lay out, a few thousand at most.
    """
    wide = np.asarray(dense(rows), dtype=np.float32)
    if len(wide) < FEWEST:
        return np.column_stack([np.arange(len(wide)), np.zeros(len(wide))]).astype(np.float32)
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        main, start = _main_directions(wide)
        places: Any = start
        embedding = TSNE(
            init=start,
            perplexity=min(PERPLEXITY, (len(main) - 1) / 3),
            max_iter=ITERATIONS,
            angle=ANGLE,
            random_state=0,
        )
        for each in tracked([embedding], "laying out the map", 1):
            places = each.fit_transform(main)
    return np.asarray(places, dtype=np.float32)


def _main_directions(rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return few columns in place of many, and where each row starts: rows that are all alike start anywhere."""
    from sklearn.decomposition import PCA

    start = np.random.default_rng(0).normal(scale=SPREAD, size=(len(rows), 2)).astype(np.float32)
    if not np.ptp(rows, axis=0).any():
        return rows, start
    found = PCA(min(COLUMNS, *rows.shape), svd_solver="full" if rows.shape[1] <= COLUMNS else "auto", random_state=0)
    main = np.asarray(found.fit_transform(rows), dtype=np.float32)
    spread = float(main[:, 0].std())
    if spread > 0:
        first = main[:, :2] / spread * SPREAD
        start[:, : first.shape[1]] = first
    return main, start
