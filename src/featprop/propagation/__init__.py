"""What a graph passes on: S, S^K X, diffused rows, and the points to measure between, each computed once."""

from featprop.propagation.propagation import Propagation, normalised_adjacency, propagate

__all__ = ["Propagation", "normalised_adjacency", "propagate"]
