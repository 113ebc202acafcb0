"""Feature propagation: S, S^K X, feature sets, and the points between which distances are measured."""

from featprop.compute.reduction import Reduction
from featprop.propagation.coverage import BOUND_LAYERS, Coverage, coverage, coverage_curve, measure_coverage
from featprop.propagation.feature_sets import FEATURE_SETS, STRUCTURE, FeatureSpace
from featprop.propagation.propagation import Propagation, normalised_adjacency, propagate

__all__ = [
    "BOUND_LAYERS",
    "FEATURE_SETS",
    "STRUCTURE",
    "Coverage",
    "FeatureSpace",
    "Propagation",
    "Reduction",
    "coverage",
    "coverage_curve",
    "measure_coverage",
    "normalised_adjacency",
    "propagate",
]
