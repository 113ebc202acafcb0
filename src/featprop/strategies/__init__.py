"""Strategies: ways to choose the nodes to label. One file each, all behind `Strategy`."""

from featprop.strategies import (
    age,
    anrmab,
    coreset_greedy,
    coreset_mip,
    degree,
    featprop,
    featprop_cosine,
    featprop_hidden,
    featprop_kcenter,
    grain_ball,
    grain_nn,
    graphpart,
    graphpart_far,
    herding,
    pagerank,
    random,
    uncertainty,
)
from featprop.strategies.base import ScoreStrategy, Strategy
from featprop.strategies.options import AtLeast, Between, Option, options_of, parse_options, settings_of
from featprop.strategies.registry import available, get_strategy, register, strategy_class
from featprop.strategies.situation import OUTPUTS, Situation

__all__ = [
    "OUTPUTS",
    "AtLeast",
    "Between",
    "Option",
    "ScoreStrategy",
    "Situation",
    "Strategy",
    "age",
    "anrmab",
    "available",
    "coreset_greedy",
    "coreset_mip",
    "degree",
    "featprop",
    "featprop_cosine",
    "featprop_hidden",
    "featprop_kcenter",
    "get_strategy",
    "grain_ball",
    "grain_nn",
    "graphpart",
    "graphpart_far",
    "herding",
    "options_of",
    "pagerank",
    "parse_options",
    "random",
    "register",
    "settings_of",
    "strategy_class",
    "uncertainty",
]
