"""K-Medoids as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from featprop.clustering.kmedoids import DEFAULT_MEMORY, k_medoids
from featprop.compute.points import Points


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """K-Medoids clustering of dense or sparse rows, without the matrix of all distances.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of medoids.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance whose sum is minimised.
    n_init : int or None, default=None
        Number of starts; see `k_medoids`.
    max_memory : int, default=2**30
        Memory limit of the search in bytes, in addition to the rows.
    random_state : int, RandomState or None, default=None
        Pass an int for reproducible results.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        Positions of the medoids, the most useful first.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The medoids; sparse if the input was sparse.
    labels_ : ndarray of shape (n_samples,)
        Nearest medoid of each row.
    inertia_ : float
        Weighted sum of the distances to the nearest medoids.
    n_iter_ : int
        Number of swaps, at least 1.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from featprop.clustering import KMedoids
    >>> rows = np.array([[0.0], [1.0], [2.0], [20.0], [21.0], [22.0]])
    >>> KMedoids(n_clusters=2, random_state=0).fit(rows).cluster_centers_.ravel().tolist()
    [1.0, 21.0]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "euclidean",
        n_init: int | None = None,
        max_memory: int = DEFAULT_MEMORY,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.n_init = n_init
        self.max_memory = max_memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> KMedoids:  # noqa: ARG002
        """Find the medoids of the rows of `X`; `y` is ignored."""
        rows = self._validate(X, reset=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        result = k_medoids(
            rows,
            self.n_clusters,
            sample_weight=sample_weight,
            metric=self.metric,
            n_init=self.n_init,
            max_memory=self.max_memory,
            random_state=seed,
        )
        self.medoid_indices_ = result.medoids
        self.cluster_centers_ = rows[result.medoids]
        self.labels_ = result.labels
        counts = np.ones(rows.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.inertia_ = float(result.distances.astype(np.float64) @ counts)
        self.n_iter_ = max(1, result.n_swaps)
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the nearest medoid of each row of `X`."""
        points, centres = self._points(X)
        return points.nearest(centres)[0]

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the distance of each row of `X` to each medoid."""
        points, centres = self._points(X)
        return points.distances(np.arange(len(points)), to=centres)

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    def _points(self, X: Any) -> tuple[Points, Points]:
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        parts = [rows, self.cluster_centers_]
        together = sp.vstack(parts, format="csr") if any(map(sp.issparse, parts)) else np.concatenate(parts)
        points, split = Points(together, self.metric), rows.shape[0]
        return points.take(slice(None, split)), points.take(slice(split, None))

    def _validate(self, X: Any, reset: bool) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float32, np.float64], reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
