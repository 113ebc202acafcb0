"""Strategies: ways to choose the nodes to label. One file each, all behind `Strategy`; every file here is imported."""

from importlib import import_module
from pkgutil import iter_modules

from featprop.options import AtLeast, Between
from featprop.strategies.base import ScoreStrategy, Strategy
from featprop.strategies.context import OUTPUTS, QueryContext
from featprop.strategies.registry import (
    DEFAULT_STRATEGY,
    STRATEGIES,
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

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
