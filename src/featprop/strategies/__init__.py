"""Query strategies: ways to choose the nodes to label. One file per method and its variants, imported on first use."""

from typing import TYPE_CHECKING, Any

from featprop.options import AtLeast, Between
from featprop.strategies.base import (
    BUILT_IN,
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

if TYPE_CHECKING:
    from featprop.strategies.age import AGE as AGE
    from featprop.strategies.anrmab import ANRMAB as ANRMAB
    from featprop.strategies.coreset import CoresetGreedy as CoresetGreedy
    from featprop.strategies.coreset import CoresetMIP as CoresetMIP
    from featprop.strategies.degree import Degree as Degree
    from featprop.strategies.featprop import FeatProp as FeatProp
    from featprop.strategies.featprop import FeatPropCosine as FeatPropCosine
    from featprop.strategies.featprop import FeatPropHidden as FeatPropHidden
    from featprop.strategies.featprop import FeatPropKCenter as FeatPropKCenter
    from featprop.strategies.featprop_diffused import FeatPropDiffused as FeatPropDiffused
    from featprop.strategies.grain import GrainBall as GrainBall
    from featprop.strategies.grain import GrainNN as GrainNN
    from featprop.strategies.graphpart import GraphPart as GraphPart
    from featprop.strategies.graphpart import GraphPartFar as GraphPartFar
    from featprop.strategies.herding import Herding as Herding
    from featprop.strategies.pagerank import PageRank as PageRank
    from featprop.strategies.random import Random as Random
    from featprop.strategies.uncertainty import Uncertainty as Uncertainty

_NAME_OF = {address.partition(":")[2]: name for name, address in BUILT_IN.items()}

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
