"""The models of one budget: the seeds trained together, and what a strategy may see of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax

from featprop.experiments.measuring import Stopwatch
from featprop.matrix import Features
from featprop.models import NodeClassifier, get_model
from featprop.models.prepared import PreparedGraph
from featprop.models.stacks import stack_of
from featprop.models.together import fit_together

__all__ = ["Trained", "train_seeds", "warm_up"]


@dataclass(eq=False)
class Trained:
    """A model of one seed, trained on its pool.

    Attributes
    ----------
    model
        The model.
    prepared
        The graph it is of.
    pool
        The positions of the nodes it learnt from.
    seconds
        What its training took.
    state
        What the strategy that chose the pool carries on.
    """

    model: NodeClassifier
    prepared: PreparedGraph
    pool: NDArray[np.intp]
    seconds: float
    state: dict[str, Any] = field(default_factory=dict)
    _logits: NDArray[np.float32] | None = None

    def logits(self) -> NDArray[np.float32]:
        """Return the logits of every node."""
        if self._logits is None:
            self._logits = stack_of(self.model).logits(self.model.network, self.prepared, self.model)
        return self._logits

    def predicted(self) -> NDArray[np.int64]:
        """Return the likeliest class of every node as an index into the classes of the graph."""
        place = {name: code for code, name in enumerate(self.prepared.graph.classes)}
        codes = np.array([place[name] for name in self.model.classes], dtype=np.int64)
        return np.asarray(codes[self.logits().argmax(axis=1)])

    def outputs(self, wanted: Collection[str]) -> dict[str, Features]:
        """Return what a strategy needs, by name."""
        found: dict[str, Features] = {}
        if "logits" in wanted:
            found["logits"] = self.logits()
        if "probabilities" in wanted:
            found["probabilities"] = softmax(self.logits(), axis=1)
        if "hidden" in wanted:
            found["hidden"] = stack_of(self.model).hidden(self.model.network, self.prepared, self.model)
        return found


def train_seeds(
    name: str, prepared: PreparedGraph, pools: Mapping[int, NDArray[np.intp]], epochs: int
) -> dict[int, Trained]:
    """Train a fresh model for each seed on its pool; one with a single class in its pool learns nothing.

    Parameters
    ----------
    name
        Of the model.
    prepared
        The graph with its labels.
    pools
        The labelled nodes of each seed, all of one size.
    epochs
        Of the training.
    """
    kind, labels = get_model(name), np.asarray(prepared.graph.labels)
    models = {seed: kind(seed=seed, epochs=epochs) for seed in pools}
    several = [seed for seed, pool in pools.items() if len(np.unique(labels[pool])) > 1]
    watch = Stopwatch()
    if several:
        fit_together([models[seed] for seed in several], prepared, [pools[seed] for seed in several])
    for seed in set(pools) - set(several):
        models[seed].initialise(prepared.graph, [prepared.graph.classes[labels[pools[seed][0]]]])
    share = watch.lap() / len(pools)
    return {seed: Trained(models[seed], prepared, pools[seed], share) for seed in pools}


def warm_up() -> None:
    """Take one step of Adam: PyTorch imports much at the first, which is no part of the time of a training."""
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.sum().backward()  # type: ignore[no-untyped-call]
    torch.optim.Adam([weight], fused=True).step()
