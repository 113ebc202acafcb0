"""Strategies by name, including those of other packages (`featprop.registry`)."""

from __future__ import annotations

from featprop.registry import Registry
from featprop.strategies.base import Strategy

BUILT_IN = {
    "age": "AGE",
    "anrmab": "ANRMAB",
    "coreset-greedy": "CoresetGreedy",
    "coreset-mip": "CoresetMIP",
    "degree": "Degree",
    "featprop": "FeatProp",
    "featprop-cosine": "FeatPropCosine",
    "featprop-diffused": "FeatPropDiffused",
    "featprop-hidden": "FeatPropHidden",
    "featprop-kcenter": "FeatPropKCenter",
    "grain-ball": "GrainBall",
    "grain-nn": "GrainNN",
    "graphpart": "GraphPart",
    "graphpart-far": "GraphPartFar",
    "herding": "Herding",
    "pagerank": "PageRank",
    "random": "Random",
    "uncertainty": "Uncertainty",
}
"""Class of each of featprop's strategies; its module is the name with underscores."""

STRATEGIES: Registry[Strategy] = Registry(
    "strategy",
    Strategy,
    "featprop.strategies",
    {name: f"featprop.strategies.{name.replace('-', '_')}:{kind}" for name, kind in BUILT_IN.items()},
)

DEFAULT_STRATEGY = "featprop-diffused"
"""Strategy used unless another is named."""

register_strategy = STRATEGIES.register
available_strategies = STRATEGIES.names
strategy_class = STRATEGIES.find
get_strategy = STRATEGIES.make
