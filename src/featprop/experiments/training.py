"""Train the models of one budget: one for each seed, as one network where the model allows it.

The networks of several seeds are small and alike, and most of the time of an epoch goes into starting operations. Side
by side they share each start: their weights are joined along the first dimension, and what each needs of the graph
is on the diagonal of one block matrix (`featprop.models.networks`). A network that knows fewer classes than the
widest is padded with classes whose logit is minus infinity: their weights are zero and stay zero. Any other model is
trained one seed after the other.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.experiments.settings import Spec
from featprop.graph import Graph
from featprop.models import GCN, SGC, NodeClassifier, get_model
from featprop.models.neural import NeuralClassifier
from featprop.options import options_of
from featprop.propagation import Propagation

BATCHED_MODELS = (GCN, SGC)


@dataclass(eq=False)
class TrainedModel:
    """The model of one seed and its training time."""

    model: NodeClassifier
    graph: Graph
    seconds: float

    @cached_property
    def logits(self) -> NDArray[np.float32]:
        """Scores of every node."""
        return self.model.decision_function(self.graph)

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """Probability of the predicted class of every node."""
        return np.asarray(self.model.probabilities(self.logits).max(axis=1))

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """Predicted class of every node, as an index into the classes of the graph."""
        place = {name: code for code, name in enumerate(self.graph.classes)}
        codes = np.array([place[name] for name in self.model.class_names_], dtype=np.int64)
        return np.asarray(codes[self.logits.argmax(axis=1)])


def train_seeds(spec: Spec, graph: Graph, pools: Mapping[int, NDArray[np.intp]]) -> dict[int, TrainedModel]:
    """Train a new model for each seed on its pool, the positions of equally many labelled nodes for each."""
    models = {seed: get_model(spec.name, **spec.options) for seed in pools}
    for seed, model in models.items():
        if "random_state" in options_of(type(model)):
            model.set_params(random_state=seed)
    started = time.perf_counter()
    _fit_models(models, graph, pools)
    seconds = (time.perf_counter() - started) / len(pools)
    return {seed: TrainedModel(models[seed], graph, seconds) for seed in pools}


def _fit_models(models: Mapping[int, NodeClassifier], graph: Graph, pools: Mapping[int, NDArray[np.intp]]) -> None:
    assert graph.labels is not None
    names = np.array(graph.class_names(), dtype=object)
    batch = []
    for seed, pool in pools.items():
        if type(models[seed]) in BATCHED_MODELS and len(np.unique(graph.labels[pool])) > 1:
            batch.append((models[seed], pool))
        else:
            models[seed].fit(graph, graph.ids[pool].tolist(), names[pool].tolist(), cold_start=True)
    if batch:
        _fit_batch(graph, graph.labels, batch)


def _fit_batch(graph: Graph, labels: NDArray[np.int64], batch: list[tuple[Any, NDArray[np.intp]]]) -> None:
    import torch

    from featprop.models.networks import Constant, Inputs, train

    first: NeuralClassifier = batch[0][0]
    propagation, cpu = Propagation.of(graph), torch.device("cpu")
    networks, generators, targets, matrices = [], [], [], []
    for model, pool in batch:
        known, codes = np.unique(labels[pool], return_inverse=True)
        model.set_metadata(graph, tuple(graph.classes[code] for code in known))
        generators.append(torch.Generator().manual_seed(model.random_state))
        networks.append(model.build(graph.n_features, len(known), generators[-1]))
        targets.append(torch.from_numpy(codes.astype(np.int64)))
        matrices.append(model.matrices(propagation, pool))
    diagonals = [sp.csr_array(sp.block_diag(blocks, format="csr")) for blocks in zip(*matrices, strict=True)]
    inputs = Inputs(tuple(Constant(matrix, cpu) for matrix in diagonals), tuple(each[0].shape[0] for each in matrices))
    sizes = [len(model.class_names_) for model, _ in batch]
    is_known = torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]
    padding = torch.where(is_known, 0.0, -torch.inf)[:, None, :]
    joined = _join_networks(networks, max(sizes))
    train(joined, inputs, torch.cat(targets), first, generators, padding)
    for place, (model, _) in enumerate(batch):
        with torch.no_grad():
            for name, weight in networks[place].named_parameters():
                weight.copy_(getattr(joined, name).chunk(len(batch))[place][..., : weight.shape[-1]])
        model.network_ = networks[place].eval()


def _join_networks(networks: Sequence[Any], classes: int) -> Any:
    """Return one network with the weights of all, those of missing classes zero."""
    import torch

    joined = copy.deepcopy(networks[0])
    for name, _ in networks[0].named_parameters():
        weights = [getattr(network, name).detach() for network in networks]
        if name in joined.per_class:
            weights = [torch.nn.functional.pad(weight, (0, classes - weight.shape[-1])) for weight in weights]
        setattr(joined, name, torch.nn.Parameter(torch.cat(weights)))
    return joined
