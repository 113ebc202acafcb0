"""Lay rows out in the plane with t-SNE, for a map of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import Features, dense
from featprop.progress import report

MAX_COMPONENTS = 50
"""Principal components kept of wider rows."""
ITERATIONS, ANGLE, PERPLEXITY = 500, 0.8, 30.0
MIN_ROWS = 5


def tsne_layout(rows: Features) -> NDArray[np.float32]:
    """Return two coordinates for each row. The result is deterministic.

    It takes about 3 seconds per thousand rows on one core.
    """
    wide = np.asarray(dense(rows), dtype=np.float32)
    if len(wide) < MIN_ROWS:
        return np.column_stack([np.arange(len(wide)), np.zeros(len(wide))]).astype(np.float32)
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        if min(wide.shape) > MAX_COMPONENTS:
            wide = np.asarray(PCA(MAX_COMPONENTS, random_state=0).fit_transform(wide), dtype=np.float32)
        can_start_from_pca = wide.shape[1] > 1 and np.ptp(wide, axis=0).any()
        embedding = TSNE(
            init="pca" if can_start_from_pca else "random",
            perplexity=min(PERPLEXITY, (len(wide) - 1) / 3),
            max_iter=ITERATIONS,
            angle=ANGLE,
            random_state=0,
        )
        report("laying out the map", 0, 1)
        return np.asarray(embedding.fit_transform(wide), dtype=np.float32)
