"""Strategies: ways to choose the nodes to label. One file each, all behind `Strategy`."""

from featprop.strategies import featprop, random
from featprop.strategies.base import Situation, Strategy, available, get_strategy, register

__all__ = ["Situation", "Strategy", "available", "featprop", "get_strategy", "random", "register"]
