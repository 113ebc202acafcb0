"""Choosing nodes: one way a strategy is asked, and rounds of asking."""

from featprop.selection.choose import Choice, choose, select, situate
from featprop.selection.learner import ActiveLearner
from featprop.selection.picks import Selection
from featprop.selection.plan import Plan, plan
from featprop.selection.predictions import write_predictions

__all__ = [
    "ActiveLearner",
    "Choice",
    "Plan",
    "Selection",
    "choose",
    "plan",
    "select",
    "situate",
    "write_predictions",
]
