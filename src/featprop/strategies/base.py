"""What a strategy is, what it sees, and the registry of their names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from featprop.errors import unknown_choice
from featprop.graph import Graph
from featprop.matrix import Features
from featprop.propagation import propagate

__all__ = ["Situation", "Strategy", "available", "get_strategy", "register"]


@dataclass(frozen=True)
class Situation:
    """All that a strategy may know when it chooses. Labels nobody has given yet are not in it.

    Attributes
    ----------
    graph
        The graph, without labels.
    labelled
        Positions of the nodes whose label is known.
    candidates
        Positions of the nodes that may be chosen, ascending; none of them is labelled.
    """

    graph: Graph
    labelled: NDArray[np.intp]
    candidates: NDArray[np.intp]
    _propagated: dict[int, Features] = field(default_factory=dict, repr=False, compare=False)

    def propagated(self, layers: int) -> Features:
        """Return S^K X for K = `layers`, computed the first time it is asked for."""
        if layers not in self._propagated:
            self._propagated[layers] = propagate(self.graph, layers)
        return self._propagated[layers]


class Strategy(ABC):
    """A way to choose nodes. Options are stored by the constructor; randomness comes in as an argument."""

    @abstractmethod
    def select(self, situation: Situation, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return exactly `budget` distinct candidates in the order they are picked.

        Relies on the caller for 1 ≤ `budget` ≤ number of candidates.
        """


_registry: dict[str, type[Strategy]] = {}
StrategyClass = TypeVar("StrategyClass", bound=type[Strategy])


def register(name: str) -> Callable[[StrategyClass], StrategyClass]:
    """Make a strategy available under `name`, on the command line too."""

    def decorate(strategy: StrategyClass) -> StrategyClass:
        if name in _registry:
            raise ValueError(f"strategy {name!r} is registered already, by {_registry[name].__qualname__}")
        _registry[name] = strategy
        return strategy

    return decorate


def available() -> list[str]:
    """Return the names of all strategies, sorted."""
    return sorted(_registry)


def get_strategy(name: str) -> Strategy:
    """Return the strategy of that name with its default options."""
    if name not in _registry:
        raise unknown_choice("strategy", name, _registry)
    return _registry[name]()
