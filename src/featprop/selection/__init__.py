"""Choosing nodes: one way a strategy is asked, how well the answer covers the graph, and rounds of asking."""

from featprop.selection.choose import Choice, choose, select, situate
from featprop.selection.coverage import Coverage, coverage
from featprop.selection.learner import ActiveLearner
from featprop.selection.picks import Selection
from featprop.selection.predictions import write_predictions

__all__ = [
    "ActiveLearner",
    "Choice",
    "Coverage",
    "Selection",
    "choose",
    "coverage",
    "select",
    "situate",
    "write_predictions",
]
