"""What a strategy is: one method that chooses nodes, or only one that scores them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.options import describe_class
from featprop.strategies.context import QueryContext

__all__ = ["ScoreStrategy", "Strategy", "best_first"]

TIE = 1e-9
"""Scores closer than this share of the largest are ties: rounding must not decide."""


class Strategy(ABC):
    """A way to choose nodes.

    The constructor stores each option under its own name, with a default; randomness comes in as an argument. The
    first line of the docstring is what ``featprop strategies`` shows.

    Attributes
    ----------
    name
        What it is registered as.
    needs
        What it asks of the current model, names of `featprop.strategies.context.OUTPUTS`; nothing by default.
    uses
        What it also looks at as soon as the labels are of two classes, and does without until then.
    reference
        Where the method is from.
    cost
        What a choice costs: n nodes, m edges, d features, b nodes to choose.
    """

    kind: ClassVar[str] = "strategy"
    name: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()
    uses: ClassVar[frozenset[str]] = frozenset()
    reference: ClassVar[str] = "not stated"
    cost: ClassVar[str] = "not stated"

    @classmethod
    def looks_at_model(cls) -> bool:
        """Say whether what it chooses depends on a model, and so on the labels given before."""
        return bool(cls.needs | cls.uses)

    @abstractmethod
    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return exactly `budget` distinct candidates in the order they are picked.

        Relies on the caller for 1 ≤ `budget` ≤ number of candidates.
        """

    def steps(self, labelled: int, budget: int) -> list[int]:  # noqa: ARG002
        """Return over which numbers of labels it goes on from `labelled` to `budget` if it may ask in between."""
        return [budget]

    def state_dict(self) -> dict[str, Any]:
        """Return what must live on to the next round, ready for JSON; most strategies keep nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Take up what `state` returned in an earlier round; does nothing where nothing is kept."""


class ScoreStrategy(Strategy):
    """A strategy that picks the candidates with the highest scores; equal scores in an order the seed decides."""

    @abstractmethod
    def scores(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        """Return a finite score for every node of the graph, the higher the better."""

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the candidates with the highest scores, the highest first; scores that are none are an error."""
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
    """Return the order of falling scores, in which equal scores come as the generator decides."""
    unit = TIE * float(np.abs(scores).max(initial=0.0)) or 1.0
    shuffled = generator.permutation(len(scores))
    return shuffled[np.argsort(-np.round(scores[shuffled] / unit), kind="stable")]
