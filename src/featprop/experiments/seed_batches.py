"""The seeds of one experiment, trained as one network where the model is one that allows it.

The networks of several seeds are small and alike, and most of the time of an epoch goes into starting operations. Side
by side they share each start: their weights are joined along the first dimension, and what each needs of the graph
stands on the diagonal of one block matrix (`featprop.models.networks`). A network that knows fewer classes than the
widest is padded with classes whose logit is minus infinity: their weights are zero and stay zero. Any other model is
trained one seed after the other.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import LabelError, ParameterError
from featprop.graph import Graph
from featprop.models import GCN, SGC, NodeClassifier
from featprop.models.neural import NeuralClassifier
from featprop.propagation import Propagation

__all__ = ["fit_seeds"]

BATCHED = (GCN, SGC)
"""The models whose networks may stand side by side."""


def fit_seeds(models: Sequence[NodeClassifier], graph: Graph, pools: Sequence[NDArray[np.intp]]) -> None:
    """Fit models that differ by their seed only, each on its own pool.

    Parameters
    ----------
    models
        Models of one class and with the same settings but for the seed.
    graph
        The graph, with the labels to learn from.
    pools
        For each model the positions of its labelled nodes, as many as for the others.
    """
    if graph.labels is None:
        raise LabelError("The graph", "must have labels", "none", "load one with labels")
    kinds = {(type(model), *sorted({**model.get_params(), "random_state": 0}.items())) for model in models}
    sizes = {len(pool) for pool in pools}
    if len(kinds) != 1 or len(sizes) != 1 or len(models) != len(pools):
        found = f"{len(models)} models of {len(kinds)} settings, {len(pools)} pools of {sorted(sizes)} nodes"
        rule = "must be alike but for the seed, with pools of one size"
        raise ParameterError("models", rule, found, "fit each alone")
    names = np.array(graph.class_names(), dtype=object)
    batched = []
    for model, pool in zip(models, pools, strict=True):
        if type(model) in BATCHED and len(np.unique(graph.labels[pool])) > 1:
            batched.append((model, pool))
        else:
            model.fit(graph, graph.ids[pool].tolist(), names[pool].tolist(), cold_start=True)
    if batched:
        _fit_side_by_side(graph, graph.labels, batched)


def _fit_side_by_side(graph: Graph, labels: NDArray[np.int64], batched: list[tuple[Any, NDArray[np.intp]]]) -> None:
    import torch

    from featprop.models.networks import Constant, Inputs, train

    first: NeuralClassifier = batched[0][0]
    propagation, cpu = Propagation.of(graph), torch.device("cpu")
    networks, generators, targets, fields = [], [], [], []
    for model, pool in batched:
        known, codes = np.unique(labels[pool], return_inverse=True)
        model.set_metadata(graph, tuple(graph.classes[code] for code in known))
        generators.append(torch.Generator().manual_seed(model.random_state))
        networks.append(model.build(graph.n_features, len(known), generators[-1]))
        targets.append(torch.from_numpy(codes.astype(np.int64)))
        fields.append(model.matrices(propagation, pool))
    diagonals = [sp.csr_array(sp.block_diag(blocks, format="csr")) for blocks in zip(*fields, strict=True)]
    inputs = Inputs(tuple(Constant(matrix, cpu) for matrix in diagonals), tuple(field[0].shape[0] for field in fields))
    sizes = [len(model.class_names_) for model, _ in batched]
    is_open = torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]
    closed = torch.where(is_open, 0.0, -torch.inf)[:, None, :]
    batch = _joined(networks, max(sizes))
    train(batch, inputs, torch.cat(targets), first, generators, closed)
    for place, (model, _) in enumerate(batched):
        model.network_ = _part(batch, networks[place], place, len(batched))


def _joined(networks: Sequence[Any], classes: int) -> Any:
    """Return one network with the weights of all, those of missing classes zero."""
    import torch

    batch = copy.deepcopy(networks[0])
    for name, _ in networks[0].named_parameters():
        weights = [getattr(network, name).detach() for network in networks]
        if name in batch.per_class:
            weights = [torch.nn.functional.pad(weight, (0, classes - weight.shape[-1])) for weight in weights]
        setattr(batch, name, torch.nn.Parameter(torch.cat(weights)))
    return batch


def _part(batch: Any, network: Any, place: int, count: int) -> Any:
    """Copy the weights of one network back into it."""
    import torch

    with torch.no_grad():
        for name, weight in network.named_parameters():
            weight.copy_(getattr(batch, name).chunk(count)[place][..., : weight.shape[-1]])
    return network.eval()
