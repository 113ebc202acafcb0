"""What a graph passes on: S, S^K X, smoothed features, and the points to measure between, each computed once."""

from featprop.propagation.coverage import BOUND_LAYERS, Coverage, coverage, coverage_curve, covered
from featprop.propagation.propagation import SMOOTHINGS, Propagation, normalised_adjacency, propagate
from featprop.propagation.reduction import Reduction

__all__ = [
    "BOUND_LAYERS",
    "SMOOTHINGS",
    "Coverage",
    "Propagation",
    "Reduction",
    "coverage",
    "coverage_curve",
    "covered",
    "normalised_adjacency",
    "propagate",
]
