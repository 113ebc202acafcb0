"""Clustering around real rows: K-Medoids at PAM quality without the n × n matrix. Usable on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from featprop.clustering.kmedoids import KMedoidsResult, k_medoids
from featprop.compute.points import Points

if TYPE_CHECKING:
    from featprop.clustering.estimator import KMedoids

__all__ = ["KMedoids", "KMedoidsResult", "Points", "k_medoids"]


def __getattr__(name: str) -> Any:
    """Import the estimator, and scikit-learn with it, when it is asked for."""
    if name != "KMedoids":
        raise AttributeError(f"module 'featprop.clustering' has no attribute {name!r}")
    from featprop.clustering.estimator import KMedoids

    return KMedoids
