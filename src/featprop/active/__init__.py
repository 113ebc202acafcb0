"""Active learning: select nodes, and rounds of asking and labelling."""

from featprop.active.choose import Choice, build_context, choose, select
from featprop.active.learner import ActiveLearner
from featprop.active.picks import Selection
from featprop.active.plan import Plan, plan

__all__ = ["ActiveLearner", "Choice", "Plan", "Selection", "build_context", "choose", "plan", "select"]
