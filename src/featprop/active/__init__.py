"""Choosing nodes: one way a strategy is asked, and rounds of asking."""

from featprop.active.choose import Choice, build_context, choose, select
from featprop.active.learner import ActiveLearner
from featprop.active.picks import Selection
from featprop.active.plan import Plan, plan
from featprop.active.predictions import write_predictions

__all__ = [
    "ActiveLearner",
    "Choice",
    "Plan",
    "Selection",
    "build_context",
    "choose",
    "plan",
    "select",
    "write_predictions",
]
