"""SGC: a linear model on the propagated features.

    logits = S^K X Θ + b

Wu et al., "Simplifying Graph Convolutional Networks" (2019). A node's logits need its own row of S^K X only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from featprop.graph import Graph
from featprop.matrix import Features
from featprop.models.classifier import NodeClassifier, register_model
from featprop.models.gcn import glorot
from featprop.models.matrices import SparseMatrix, as_matrix
from featprop.propagation import propagate

__all__ = ["SGC"]


@register_model("sgc")
class SGC(NodeClassifier):
    """Simplified graph convolution.

    Parameters
    ----------
    layers
        K, how many times the features are propagated.
    **optimisation
        `learning_rate`, `weight_decay`, `epochs`, `seed` and `device`, as in `NodeClassifier`.
    """

    def __init__(self, layers: int = 2, **optimisation: Any) -> None:
        super().__init__(**optimisation)
        self.layers = layers

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that build this model again, but for the device."""
        return {"layers": self.layers, **super().settings}

    def build(self, n_features: int, n_classes: int, generator: torch.Generator) -> nn.Module:
        """Return the layer with fresh weights."""
        return Linear(n_features, n_classes, generator)

    def inputs(self, graph: Graph, nodes: NDArray[np.intp], device: torch.device) -> SparseMatrix | Tensor:
        """Return the rows of S^K X of `nodes`."""
        return as_matrix(propagate(graph, self.layers)[nodes], device)

    def hidden_rows(self, network: nn.Module, graph: Graph, device: torch.device) -> Features:  # noqa: ARG002
        """Return S^K X: there is no hidden layer, and that is what the only one takes in."""
        return propagate(graph, self.layers)


class Linear(nn.Module):
    """Θ and b."""

    def __init__(self, n_features: int, n_classes: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(glorot(n_classes, n_features, generator))
        self.bias = nn.Parameter(torch.zeros(n_classes))

    def forward(self, propagated: SparseMatrix | Tensor, generator: torch.Generator | None = None) -> Tensor:  # noqa: ARG002
        """Return the logits."""
        return propagated @ self.weight.T + self.bias
