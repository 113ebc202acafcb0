"""Query strategies: ways to choose the nodes to label. One file per method and its variants, imported on first use."""

from featprop.options import AtLeast, Between
from featprop.strategies.base import (
    DEFAULT_STRATEGY,
    OUTPUTS,
    STRATEGIES,
    QueryContext,
    ScoreStrategy,
    Strategy,
    available_strategies,
    get_strategy,
    register_strategy,
    strategy_class,
)

__all__ = [
    "DEFAULT_STRATEGY",
    "OUTPUTS",
    "STRATEGIES",
    "AtLeast",
    "Between",
    "QueryContext",
    "ScoreStrategy",
    "Strategy",
    "available_strategies",
    "get_strategy",
    "register_strategy",
    "strategy_class",
]
