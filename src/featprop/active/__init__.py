"""Active learning: select nodes, and rounds of asking and labelling."""

from typing import TYPE_CHECKING, Any

from featprop.active.choose import Choice, build_context, choose, select
from featprop.active.picks import Selection
from featprop.active.plan import Plan, plan

if TYPE_CHECKING:
    from featprop.active.learner import ActiveLearner as ActiveLearner

__all__ = ["ActiveLearner", "Choice", "Plan", "Selection", "build_context", "choose", "plan", "select"]


def __getattr__(name: str) -> Any:
    if name == "ActiveLearner":  # one selection needs neither labels nor estimates
        from featprop.active.learner import ActiveLearner

        return ActiveLearner
    raise AttributeError(f"module 'featprop.active' has no attribute {name!r}", name=name)
