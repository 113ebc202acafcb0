"""Strategies: ways to choose the nodes to label. One file each, all behind `Strategy`; every file here is imported."""

from importlib import import_module
from pkgutil import iter_modules

from featprop.options import AtLeast, Between
from featprop.strategies.base import ScoreStrategy, Strategy
from featprop.strategies.registry import (
    DEFAULT_STRATEGY,
    STRATEGIES,
    available_strategies,
    get_strategy,
    register_strategy,
    strategy_class,
)
from featprop.strategies.situation import OUTPUTS, Situation

__all__ = [
    "DEFAULT_STRATEGY",
    "OUTPUTS",
    "STRATEGIES",
    "AtLeast",
    "Between",
    "ScoreStrategy",
    "Situation",
    "Strategy",
    "available_strategies",
    "get_strategy",
    "register_strategy",
    "strategy_class",
]

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
