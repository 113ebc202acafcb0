"""The names of the strategies: those of featprop, and those other packages bring (`featprop.registry`)."""

from __future__ import annotations

from featprop.registry import Registry
from featprop.strategies.base import Strategy

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "available_strategies",
    "get_strategy",
    "register_strategy",
    "strategy_class",
]

STRATEGIES: Registry[Strategy] = Registry("strategy", Strategy, "featprop.strategies")

DEFAULT_STRATEGY = "featprop-diffused"
"""What chooses unless another is named."""

register_strategy = STRATEGIES.register
available_strategies = STRATEGIES.names
strategy_class = STRATEGIES.find
get_strategy = STRATEGIES.make
