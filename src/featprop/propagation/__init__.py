"""What a graph passes on: S, S^K X, smoothed features, and the points to measure between, each computed once."""

from featprop.propagation.propagation import SMOOTHINGS, Propagation, normalised_adjacency, propagate
from featprop.propagation.reduction import Reduction

__all__ = ["SMOOTHINGS", "Propagation", "Reduction", "normalised_adjacency", "propagate"]
