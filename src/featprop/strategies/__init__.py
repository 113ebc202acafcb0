"""Query strategies: ways to choose the nodes to label. One file per method, imported on first use."""

from typing import TYPE_CHECKING, Any

from featprop.options import AtLeast, Between
from featprop.strategies.base import (
    BUILT_IN,
    DEFAULT_STRATEGY,
    STRATEGIES,
    ScoreStrategy,
    Strategy,
    available_strategies,
    get_strategy,
    register_strategy,
    strategy_class,
)
from featprop.strategies.context import OUTPUTS, QueryContext

if TYPE_CHECKING:
    from featprop.strategies.age import AGE as AGE
    from featprop.strategies.anrmab import ANRMAB as ANRMAB
    from featprop.strategies.coreset_greedy import CoresetGreedy as CoresetGreedy
    from featprop.strategies.coreset_mip import CoresetMIP as CoresetMIP
    from featprop.strategies.degree import Degree as Degree
    from featprop.strategies.featprop import FeatProp as FeatProp
    from featprop.strategies.featprop_cosine import FeatPropCosine as FeatPropCosine
    from featprop.strategies.featprop_diffused import FeatPropDiffused as FeatPropDiffused
    from featprop.strategies.featprop_hidden import FeatPropHidden as FeatPropHidden
    from featprop.strategies.featprop_kcenter import FeatPropKCenter as FeatPropKCenter
    from featprop.strategies.grain_ball import GrainBall as GrainBall
    from featprop.strategies.grain_nn import GrainNN as GrainNN
    from featprop.strategies.graphpart import GraphPart as GraphPart
    from featprop.strategies.graphpart_far import GraphPartFar as GraphPartFar
    from featprop.strategies.herding import Herding as Herding
    from featprop.strategies.pagerank import PageRank as PageRank
    from featprop.strategies.random import Random as Random
    from featprop.strategies.uncertainty import Uncertainty as Uncertainty

_NAME_OF = {kind: name for name, kind in BUILT_IN.items()}

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
    *_NAME_OF,
]


def __getattr__(name: str) -> Any:
    if name in _NAME_OF:
        return strategy_class(_NAME_OF[name])
    raise AttributeError(f"module 'featprop.strategies' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
