"""K-Medoids with the quality of PAM and without the n × n distance matrix, and other clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from featprop.clustering.kmedoids import KMedoidsResult, k_medoids
from featprop.compute.points import Points

if TYPE_CHECKING:
    from featprop.clustering.estimator import KMedoids

__all__ = ["KMedoids", "KMedoidsResult", "Points", "k_medoids"]


def __getattr__(name: str) -> Any:
    """Import the estimator, and with it scikit-learn, on first use."""
    if name != "KMedoids":
        raise AttributeError(f"module 'featprop.clustering' has no attribute {name!r}")
    from featprop.clustering.estimator import KMedoids

    return KMedoids
