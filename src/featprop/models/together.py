"""`fit_together`: the seeds of one experiment trained as one model.

The networks of several seeds are small and alike, and most of the time of an epoch goes into starting operations.
Stacked, they share each start. The loss is the sum of theirs, so no gradient reaches another network, and Adam works
on each weight alone: each network ends where `NodeClassifier.fit` would have led it, to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from featprop.errors import LabelError, ParameterError
from featprop.models.classifier import NodeClassifier
from featprop.models.prepared import PreparedGraph
from featprop.models.stacks import stack_of
from featprop.models.training import Optimisation

__all__ = ["fit_together"]


def fit_together(
    models: Sequence[NodeClassifier],
    prepared: PreparedGraph,
    pools: Sequence[NDArray[np.intp]],
) -> None:
    """Fit models that differ by their seed only, each on its own pool, on the CPU.

    Parameters
    ----------
    models
        Models of one class and with the same settings but for the seed.
    prepared
        The graph, with the labels to learn from.
    pools
        For each model the positions of its labelled nodes, as many as for the others; at least two classes in each.
    """
    graph = prepared.graph
    kinds = {(model.name, *sorted({**model.settings, "seed": 0}.items())) for model in models}
    sizes = {len(pool) for pool in pools}
    if len(kinds) != 1 or len(sizes) != 1 or len(models) != len(pools):
        found = f"{len(models)} models of {len(kinds)} settings, {len(pools)} pools of {sorted(sizes)} nodes"
        rule = "must be alike but for the seed, with pools of one size"
        raise ParameterError("models", rule, found, "fit each alone")
    if graph.labels is None:
        raise LabelError("The graph", "must have labels", "none", "load one with labels")
    codes = [np.unique(graph.labels[pool], return_inverse=True) for pool in pools]
    if any(len(known) < 2 for known, _ in codes):
        raise LabelError("pools", "must hold at least two classes", "one with a single class", "leave that one out")
    generators = [torch.Generator().manual_seed(model.seed) for model in models]
    networks = [
        model.build(graph.n_features, len(known), generator)
        for model, (known, _), generator in zip(models, codes, generators, strict=True)
    ]
    stack = stack_of(models[0])(networks, prepared, pools, models[0])
    targets = torch.from_numpy(np.concatenate([inverse for _, inverse in codes]).astype(np.int64))
    first = models[0]
    _train(stack, targets, Optimisation(first.learning_rate, first.weight_decay, first.epochs), generators)
    stack.hand_back(networks)
    for model, network, (known, _) in zip(models, networks, codes, strict=True):
        model.network = network.eval()
        model.classes = tuple(graph.classes[code] for code in known)
        model.n_features, model.feature_names = graph.n_features, graph.feature_names


def _train(stack: nn.Module, targets: Tensor, optimisation: Optimisation, generators: list[torch.Generator]) -> None:
    optimiser = torch.optim.Adam(
        stack.parameters(), lr=optimisation.learning_rate, weight_decay=optimisation.weight_decay, fused=True
    )
    stack.train()
    each = len(targets) // len(generators)
    for _ in range(optimisation.epochs):
        optimiser.zero_grad()
        logits = stack(generators)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets, reduction="sum") / each
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
