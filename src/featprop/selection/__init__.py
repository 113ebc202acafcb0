"""Choosing nodes: one way a strategy is asked, how well the answer covers the graph, and rounds of asking."""

from featprop.selection.choose import Choice, Selection, choose, select, situate
from featprop.selection.coverage import Coverage, coverage
from featprop.selection.learner import ActiveLearner

__all__ = ["ActiveLearner", "Choice", "Coverage", "Selection", "choose", "coverage", "select", "situate"]
