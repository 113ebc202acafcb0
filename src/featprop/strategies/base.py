"""Base classes of query strategies: implement one method that selects nodes, or one that scores them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.options import describe_class
from featprop.registry import Registry
from featprop.strategies.context import QueryContext

TIE_TOLERANCE = 1e-9
"""Scores that differ by less than this share of the largest are ties, so that rounding does not decide."""


class Strategy(ABC):
    """Base class of all query strategies.

    The constructor stores each option under its own name, with a default; randomness is an argument of `select`.
    ``featprop strategies`` shows the first line of the docstring.

    Attributes
    ----------
    name
        Name the strategy is registered under.
    needs
        Required outputs of the current model, from `featprop.strategies.context.OUTPUTS`; none by default.
    uses
        Model outputs the strategy uses once two classes have labels, and does without until then.
    reference
        Publication of the method.
    cost
        Cost of a selection: n nodes, m edges, d features, b nodes to select.
    """

    kind: ClassVar[str] = "strategy"
    name: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    uses: ClassVar[frozenset[str]] = frozenset()
    reference: ClassVar[str] = "not stated"
    cost: ClassVar[str] = "not stated"

    @classmethod
    def looks_at_model(cls) -> bool:
        """Return whether the selection depends on a model, and so on earlier labels."""
        return bool(cls.needs | cls.uses)

    @abstractmethod
    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return exactly `budget` distinct candidates in the order of selection.

        The caller ensures that 1 ≤ `budget` ≤ number of candidates.
        """

    def steps(self, labelled: int, budget: int) -> list[int]:  # noqa: ARG002
        """Return the numbers of labels at which to select on the way from `labelled` to `budget`."""
        return [budget]

    def state_dict(self) -> dict[str, Any]:
        """Return the state to keep for the next round, as JSON; most strategies have none."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Restore what `state_dict` returned in an earlier round; does nothing by default."""


class ScoreStrategy(Strategy):
    """A strategy that selects the candidates with the highest scores and breaks ties by the seed."""

    @abstractmethod
    def scores(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        """Return a finite score for every node of the graph; higher is better."""

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the candidates with the highest scores, the highest first; scores that are not finite are an error."""
        scores = self.scores(context, generator)[context.candidates]
        odd = np.flatnonzero(~np.isfinite(scores))
        if odd.size:
            raise ParameterError(
                f"The {describe_class(type(self))} returned scores that are not finite for {odd.size:,} candidates, "
                f"such as {scores[odd[0]]}.",
                parameter="strategy",
                value=self.name or type(self).__name__,
            )
        return context.candidates[best_first(scores, generator)[:budget]]


def best_first(scores: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.intp]:
    """Return the order of decreasing scores, with ties in random order."""
    unit = TIE_TOLERANCE * float(np.abs(scores).max(initial=0.0)) or 1.0
    shuffled = generator.permutation(len(scores))
    return shuffled[np.argsort(-np.round(scores[shuffled] / unit), kind="stable")]


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
