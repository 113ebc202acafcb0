"""`Strategy`, which selects nodes, and `ScoreStrategy`, which only scores them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.options import describe_class
from featprop.strategies.context import QueryContext

TIE_TOLERANCE = 1e-9
"""Scores that differ by less than this share of the largest are ties, so that rounding does not decide."""


class Strategy(ABC):
    """A query strategy: a way to select the nodes to label.

    The constructor stores each option under its own name, with a default; `select` gets its random generator as an
    argument. ``featprop strategies`` shows the first line of the docstring.

    Attributes
    ----------
    name
        Registered name.
    needs
        Outputs of the current model that it requires, names of `featprop.strategies.context.OUTPUTS`.
    uses
        Outputs that it uses as soon as there are labels of two classes, and does without until then.
    reference
        Publication of the method.
    cost
        Cost of a selection of b nodes, in a graph with n nodes, m edges and d features.
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
        """Return the number of labels after each round from `labelled` to `budget`; one round by default."""
        return [budget]

    def state_dict(self) -> dict[str, Any]:
        """Return the state to keep until the next round, ready for JSON; empty for most strategies."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Load what `state_dict` returned in an earlier round."""


class ScoreStrategy(Strategy):
    """A strategy that selects the candidates with the highest scores; the seed decides between ties."""

    @abstractmethod
    def scores(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        """Return a finite score for every node of the graph; higher is better."""

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the candidates with the highest scores, highest first; raise an error if a score is not finite."""
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
    """Return the order of descending scores; the generator decides between ties."""
    unit = TIE_TOLERANCE * float(np.abs(scores).max(initial=0.0)) or 1.0
    shuffled = generator.permutation(len(scores))
    return shuffled[np.argsort(-np.round(scores[shuffled] / unit), kind="stable")]
