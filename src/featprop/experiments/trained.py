"""The models of one budget: one for each seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.experiments.entrants import Entrant
from featprop.experiments.measuring import Stopwatch
from featprop.experiments.seed_batches import fit_seeds
from featprop.graph import Graph
from featprop.models import NodeClassifier, get_model
from featprop.options import options_of

__all__ = ["Trained", "train_seeds"]


@dataclass(eq=False)
class Trained:
    """A model of one seed, trained on its pool.

    Attributes
    ----------
    model
        The model.
    graph
        What it is of.
    pool
        The positions of the nodes it learnt from.
    seconds
        What its training took.
    state
        What the strategy that chose the pool carries on.
    """

    model: NodeClassifier
    graph: Graph
    pool: NDArray[np.intp]
    seconds: float
    state: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def logits(self) -> NDArray[np.float32]:
        """The scores of every node."""
        return self.model.decision_function(self.graph)

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """The probability of the likeliest class of every node."""
        return np.asarray(self.model.probabilities(self.logits).max(axis=1))

    def predicted(self) -> NDArray[np.int64]:
        """Return the likeliest class of every node as an index into the classes of the graph."""
        place = {name: code for code, name in enumerate(self.graph.classes)}
        codes = np.array([place[name] for name in self.model.class_names_], dtype=np.int64)
        return np.asarray(codes[self.logits.argmax(axis=1)])


def train_seeds(entrant: Entrant, graph: Graph, pools: Mapping[int, NDArray[np.intp]]) -> dict[int, Trained]:
    """Train a fresh model for each seed on its pool; one with a single class in its pool learns nothing.

    Parameters
    ----------
    entrant
        The model and its settings.
    graph
        The graph with its labels.
    pools
        The labelled nodes of each seed, all of one size.
    """
    models = {seed: get_model(entrant.name, **entrant.options) for seed in pools}
    for seed, model in models.items():
        if "random_state" in options_of(type(model)):
            model.set_params(random_state=seed)
    watch = Stopwatch()
    fit_seeds(list(models.values()), graph, list(pools.values()))
    share = watch.lap() / len(pools)
    return {seed: Trained(models[seed], graph, pools[seed], share) for seed in pools}
