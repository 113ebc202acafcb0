"""Base classes of query strategies: implement one method that selects nodes, or one that scores them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.matrix import Features, read_only
from featprop.options import Between, Registry, describe_class
from featprop.propagation import Propagation

Layers = Annotated[int, Between(0, 1000)]
"""K, the number of propagation steps."""
Share = Annotated[float, Between(0, 1)]

TIE_TOLERANCE = 1e-9
"""Scores that differ by less than this share of the largest are ties, so that rounding does not decide."""


OUTPUTS = {
    "probabilities": "the probability of each class, shape (nodes, classes)",
    "hidden": "the last hidden representation, shape (nodes, hidden units)",
    "logits": "the final layer before the softmax, shape (nodes, classes)",
}
"""Outputs of the current model that a strategy can request."""


@dataclass(frozen=True)
class QueryContext:
    """Everything a strategy may know when it selects: only labels that people gave, in read-only arrays.

    Attributes
    ----------
    graph
        The graph, without labels.
    labelled
        Positions of the labelled nodes.
    candidates
        Positions of the nodes that may be selected, ascending; none of them is labelled.
    labels
        Class of each labelled node, as an index into `classes`; empty if the labels are unknown.
    classes
        Names of the classes among the labels.
    outputs
        Outputs of the current model for every node, by the names in `OUTPUTS`; only those the strategy needs or uses.
    """

    graph: Graph
    labelled: NDArray[np.intp]
    candidates: NDArray[np.intp]
    labels: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    classes: tuple[Hashable, ...] = ()
    outputs: Mapping[str, Features] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("labelled", "candidates", "labels"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        outputs = {name: read_only(output) for name, output in self.outputs.items()}
        object.__setattr__(self, "outputs", MappingProxyType(outputs))

    def points(self, layers: int, unit: bool = False) -> Points:
        """Return the rows of S^K X as points, scaled to length 1 if `unit`."""
        return Propagation.of(self.graph).points(layers, unit)


class Strategy(ABC):
    """Base class of all query strategies.

    The constructor stores each option under its own name, with a default; randomness is an argument of `select`.
    ``featprop strategies`` shows the first line of the docstring.

    Attributes
    ----------
    name
        Name the strategy is registered under.
    needs
        Required outputs of the current model, from `featprop.strategies.OUTPUTS`; none by default.
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

    def steps(self, labelled: int, budget: int) -> list[int]:
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
    "age": "age:AGE",
    "anrmab": "anrmab:ANRMAB",
    "coreset-greedy": "coreset:CoresetGreedy",
    "coreset-mip": "coreset:CoresetMIP",
    "degree": "degree:Degree",
    "featprop": "featprop:FeatProp",
    "featprop-cosine": "featprop:FeatPropCosine",
    "featprop-diffused": "featprop_diffused:FeatPropDiffused",
    "featprop-hidden": "featprop:FeatPropHidden",
    "featprop-kcenter": "featprop:FeatPropKCenter",
    "grain-ball": "grain:GrainBall",
    "grain-nn": "grain:GrainNN",
    "graphpart": "graphpart:GraphPart",
    "graphpart-far": "graphpart:GraphPartFar",
    "herding": "herding:Herding",
    "pagerank": "pagerank:PageRank",
    "random": "random:Random",
    "uncertainty": "uncertainty:Uncertainty",
}
"""Module and class of each of featprop's strategies."""

STRATEGIES: Registry[Strategy] = Registry(
    "strategy",
    Strategy,
    "featprop.strategies",
    {name: f"featprop.strategies.{address}" for name, address in BUILT_IN.items()},
)

DEFAULT_STRATEGY = "featprop-diffused"
"""Strategy used unless another is named."""

register_strategy = STRATEGIES.register
available_strategies = STRATEGIES.names
strategy_class = STRATEGIES.find
get_strategy = STRATEGIES.make
