"""Clustering around real rows: K-Medoids, and the K-Means that approximates it."""

from featprop.clustering.kmedoids import KMedoidsResult, k_medoids

__all__ = ["KMedoidsResult", "k_medoids"]
