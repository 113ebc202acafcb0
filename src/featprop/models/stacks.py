"""Several networks of one kind as one, so that they train in the time of few.

The weights get a leading dimension, one slice a network; the inputs stand on the diagonal of one block matrix, so
no network sees another's. A network that knows fewer classes than the widest is padded with classes whose logit is
minus infinity: their weights are zero and stay zero.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from featprop.matrix import Features
from featprop.models.classifier import NodeClassifier
from featprop.models.gcn import GCN
from featprop.models.matrices import SparseMatrix
from featprop.models.prepared import PreparedGraph
from featprop.models.sgc import SGC

__all__ = ["Stack", "StackedGCN", "StackedSGC", "stack_of"]

CPU = torch.device("cpu")


class Stack(nn.Module):
    """Networks side by side. The constructor takes their weights; `hand_back` returns them trained.

    Parameters
    ----------
    networks
        Fresh ones, as `NodeClassifier.build` returns them.
    prepared
        The graph.
    pools
        The labelled nodes of each network; all of one size.
    settings
        A model with the settings they share.
    """

    def __init__(
        self, networks: Sequence[Any], prepared: PreparedGraph, pools: Sequence[NDArray[np.intp]], settings: Any
    ) -> None:
        super().__init__()
        sizes = [list(network.parameters())[-1].shape[0] for network in networks]
        open_classes = torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]
        self.closed = torch.where(open_classes, 0.0, -torch.inf)[:, None, :]
        self.counts = sizes
        self.stack(networks, prepared, pools, settings)

    @abstractmethod
    def stack(self, networks: Any, prepared: PreparedGraph, pools: Sequence[NDArray[np.intp]], settings: Any) -> None:
        """Lay out the weights and the inputs."""

    @abstractmethod
    def forward(self, generators: Sequence[torch.Generator]) -> Tensor:
        """Return the logits of the pools, shape (networks, pool, classes)."""

    @abstractmethod
    def hand_back(self, networks: Any) -> None:
        """Copy the weights into the networks they came from."""

    @staticmethod
    @abstractmethod
    def hidden(network: Any, prepared: PreparedGraph, settings: Any) -> Features:
        """Return what the last layer of one trained network takes in, for every node of the graph."""

    @staticmethod
    @abstractmethod
    def logits(network: Any, prepared: PreparedGraph, settings: Any) -> NDArray[np.float32]:
        """Return the logits of one trained network for every node of the graph."""


class StackedGCN(Stack):
    """Stacked `GCN` networks: relu of one block matrix times all first layers, then a batched second layer."""

    def stack(self, networks: Any, prepared: PreparedGraph, pools: Sequence[NDArray[np.intp]], settings: GCN) -> None:
        """Lay out the receptive fields of the pools on the diagonal."""
        S, SX = prepared.adjacency, sp.csr_array(prepared.propagated(1))
        mixing = [S[pool] for pool in pools]
        neighbours = [np.unique(rows.indices) for rows in mixing]
        self.fields = [len(nodes) for nodes in neighbours]
        self.propagated = _on_diagonal([SX[nodes] for nodes in neighbours])
        self.mixing = _on_diagonal([rows[:, nodes] for rows, nodes in zip(mixing, neighbours, strict=True)])
        self.dropout = settings.dropout
        self.pool = len(pools[0])
        self.weight1 = nn.Parameter(torch.cat([network.weight1.detach().T for network in networks]).contiguous())
        self.bias1 = nn.Parameter(torch.stack([network.bias1.detach() for network in networks]))
        classes = self.closed.shape[2]
        seconds = [_padded(network.weight2.detach(), classes).T for network in networks]
        biases = [_padded(network.bias2.detach(), classes) for network in networks]
        self.weight2 = nn.Parameter(torch.stack(seconds))
        self.bias2 = nn.Parameter(torch.stack(biases)[:, None])
        self.row_network = torch.repeat_interleave(torch.arange(len(networks)), torch.tensor(self.fields))

    def forward(self, generators: Sequence[torch.Generator]) -> Tensor:
        """Return the logits of the pools; each network draws its dropout from its own generator."""
        hidden = torch.relu(self.propagated @ self.weight1 + self.bias1[self.row_network])
        if self.training and self.dropout > 0:
            width = hidden.shape[1]
            drawn = [torch.rand((rows, width), generator=g) for rows, g in zip(self.fields, generators, strict=True)]
            hidden = hidden * (torch.cat(drawn) >= self.dropout) / (1.0 - self.dropout)
        mixed = (self.mixing @ hidden).view(len(self.fields), self.pool, -1)
        return torch.baddbmm(self.bias2, mixed, self.weight2) + self.closed

    def hand_back(self, networks: Any) -> None:
        """Copy the weights into the networks they came from."""
        firsts = self.weight1.detach().chunk(len(networks))
        for place, (network, classes) in enumerate(zip(networks, self.counts, strict=True)):
            with torch.no_grad():
                network.weight1.copy_(firsts[place].T)
                network.bias1.copy_(self.bias1[place])
                network.weight2.copy_(self.weight2[place, :, :classes].T)
                network.bias2.copy_(self.bias2[place, 0, :classes])

    @staticmethod
    def hidden(network: Any, prepared: PreparedGraph, settings: GCN) -> Features:  # noqa: ARG004
        """Return relu(S X W1 + b1)."""
        inner = prepared.propagated(1) @ _plain(network.weight1).T + _plain(network.bias1)
        return np.maximum(inner, 0.0, out=inner)

    @staticmethod
    def logits(network: Any, prepared: PreparedGraph, settings: GCN) -> NDArray[np.float32]:
        """Return S relu(S X W1 + b1) W2 + b2."""
        inner = StackedGCN.hidden(network, prepared, settings) @ _plain(network.weight2).T
        return np.asarray(prepared.adjacency @ inner + _plain(network.bias2))


class StackedSGC(Stack):
    """Stacked `SGC` networks: one block matrix times all weights."""

    def stack(self, networks: Any, prepared: PreparedGraph, pools: Sequence[NDArray[np.intp]], settings: SGC) -> None:
        """Lay out the rows of S^K X of the pools on the diagonal."""
        Z = prepared.propagated(settings.layers)
        self.propagated = _on_diagonal([Z[pool] for pool in pools])
        self.pool = len(pools[0])
        classes = self.closed.shape[2]
        weights = [_padded(network.weight.detach(), classes).T for network in networks]
        self.weight = nn.Parameter(torch.cat(weights).contiguous())
        self.bias = nn.Parameter(
            torch.stack([_padded(network.bias.detach(), classes) for network in networks])[:, None]
        )

    def forward(self, generators: Sequence[torch.Generator]) -> Tensor:
        """Return the logits of the pools."""
        return (self.propagated @ self.weight).view(len(generators), self.pool, -1) + self.bias + self.closed

    def hand_back(self, networks: Any) -> None:
        """Copy the weights into the networks they came from."""
        weights = self.weight.detach().chunk(len(networks))
        for place, (network, classes) in enumerate(zip(networks, self.counts, strict=True)):
            with torch.no_grad():
                network.weight.copy_(weights[place][:, :classes].T)
                network.bias.copy_(self.bias[place, 0, :classes])

    @staticmethod
    def hidden(network: Any, prepared: PreparedGraph, settings: SGC) -> Features:  # noqa: ARG004
        """Return S^K X, which is all that the only layer takes in."""
        return prepared.propagated(settings.layers)

    @staticmethod
    def logits(network: Any, prepared: PreparedGraph, settings: SGC) -> NDArray[np.float32]:
        """Return S^K X Θ + b."""
        return np.asarray(prepared.propagated(settings.layers) @ _plain(network.weight).T + _plain(network.bias))


def _on_diagonal(blocks: Sequence[Features]) -> SparseMatrix:
    return SparseMatrix(sp.csr_array(sp.block_diag(blocks, format="csr")), CPU)


def _padded(weights: Tensor, classes: int) -> Tensor:
    """Return the weights with rows of zeros for the classes that are not there."""
    missing = classes - weights.shape[0]
    return torch.cat([weights, weights.new_zeros((missing, *weights.shape[1:]))])


def _plain(weights: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = weights.detach().numpy()
    return array


def stack_of(model: NodeClassifier) -> type[Stack]:
    """Return the stack for networks of a model of this kind."""
    return StackedGCN if isinstance(model, GCN) else StackedSGC
