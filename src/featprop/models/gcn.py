"""GCN: two graph convolutions.

    logits = S · dropout(relu(S X W1 + b1)) · W2 + b2

Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks" (2017), with the settings of
the FeatProp paper. There is no dropout on the input, so S X never changes and is computed once. The logits of a
set L of nodes need only the hidden rows of L and its neighbours N, so training costs what L costs, not what the
graph costs:

    logits[L] = S[L, N] · dropout(relu((S X)[N] W1 + b1)) · W2 + b2
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.models.classifier import NodeClassifier, register_model
from featprop.models.matrices import SparseMatrix, as_matrix
from featprop.propagation import normalised_adjacency

__all__ = ["GCN"]


class ReceptiveField(NamedTuple):
    """What the logits of a set L of nodes depend on; N is L and its neighbours."""

    propagated: SparseMatrix | Tensor
    """(S X)[N]."""
    mixing: SparseMatrix | Tensor
    """S[L, N]."""


@register_model("gcn")
class GCN(NodeClassifier):
    """The paper's model: two layers, 16 hidden units, dropout 0.5 on the hidden layer.

    Parameters
    ----------
    hidden
        Number of hidden units.
    dropout
        Share of hidden units left out at each epoch.
    **optimisation
        `learning_rate`, `weight_decay`, `epochs`, `seed` and `device`, as in `NodeClassifier`.
    """

    def __init__(self, hidden: int = 16, dropout: float = 0.5, **optimisation: Any) -> None:
        super().__init__(**optimisation)
        self.hidden = hidden
        self.dropout = dropout

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that build this model again, but for the device."""
        return {"hidden": self.hidden, "dropout": self.dropout, **super().settings}

    def build(self, n_features: int, n_classes: int, generator: torch.Generator) -> nn.Module:
        """Return the two layers with fresh weights."""
        if self.hidden < 1:
            raise ParameterError("hidden", "must be at least 1", self.hidden, "the paper uses 16")
        if not 0 <= self.dropout < 1:
            raise ParameterError("dropout", "must be at least 0 and below 1", self.dropout, "the paper uses 0.5")
        return TwoLayers(n_features, self.hidden, n_classes, self.dropout, generator)

    def inputs(self, graph: Graph, nodes: NDArray[np.intp], device: torch.device) -> ReceptiveField:
        """Return the receptive field of `nodes`."""
        S = normalised_adjacency(graph)
        mixing = S[nodes]
        neighbours = np.unique(mixing.indices)
        propagated = S[neighbours] @ graph.features
        return ReceptiveField(as_matrix(propagated, device), as_matrix(mixing[:, neighbours], device))

    def hidden_rows(self, network: nn.Module, graph: Graph, device: torch.device) -> Tensor:
        """Return relu(S X W1 + b1), the activations of the hidden layer before the second one mixes them."""
        assert isinstance(network, TwoLayers)
        return network.hidden(as_matrix(normalised_adjacency(graph) @ graph.features, device))


class TwoLayers(nn.Module):
    """The weights of the two layers, laid out and initialised as PyG's `GCNConv` does."""

    def __init__(
        self, n_features: int, hidden: int, n_classes: int, dropout: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.weight1 = nn.Parameter(glorot(hidden, n_features, generator))
        self.bias1 = nn.Parameter(torch.zeros(hidden))
        self.weight2 = nn.Parameter(glorot(n_classes, hidden, generator))
        self.bias2 = nn.Parameter(torch.zeros(n_classes))
        self.dropout = dropout

    def forward(self, field: ReceptiveField, generator: torch.Generator | None = None) -> Tensor:
        """Return the logits of the nodes whose receptive field is given; dropout only while training."""
        hidden = self.hidden(field.propagated)
        if self.training and self.dropout > 0:
            kept = torch.rand(hidden.shape, generator=generator) >= self.dropout
            hidden = hidden * kept.to(hidden.device) / (1.0 - self.dropout)
        return field.mixing @ (hidden @ self.weight2.T) + self.bias2

    def hidden(self, propagated: SparseMatrix | Tensor) -> Tensor:
        """Return the activations of the hidden layer, without dropout."""
        return torch.relu(propagated @ self.weight1.T + self.bias1)


def glorot(n_out: int, n_in: int, generator: torch.Generator) -> Tensor:
    """Return a weight matrix drawn uniformly as Glorot and Bengio propose."""
    return nn.init.xavier_uniform_(torch.empty(n_out, n_in), generator=generator)
