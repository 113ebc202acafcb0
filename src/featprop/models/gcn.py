"""GCN: two graph convolutions.

    logits = S · dropout(relu(S X W1 + b1)) · W2 + b2

Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks" (2017), with the settings of
the FeatProp paper. There is no dropout on the input, so S X never changes and is computed once. The logits of a
set L of nodes need only the hidden rows of L and its neighbours N, so training costs what L costs, not what the
graph costs:

    logits[L] = S[L, N] · dropout(relu((S X)[N] W1 + b1)) · W2 + b2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import Features
from featprop.models.base import register_model
from featprop.models.neural import NeuralClassifier
from featprop.options import Between
from featprop.propagation import Propagation


@register_model("gcn")
@dataclass(eq=False, repr=False)
class GCN(NeuralClassifier):
    """The paper's model: two graph convolutions, 16 hidden units, dropout 0.5 on the hidden layer.

    Parameters
    ----------
    hidden
        Number of hidden units.
    dropout
        Share of hidden units dropped at each epoch.
    """

    hidden: Annotated[int, Between(1, 65536)] = 16
    dropout: Annotated[float, Between(0, 0.999)] = 0.5

    network_kind = "TwoLayers"

    def matrices(self, propagation: Propagation, nodes: NDArray[np.intp] | None = None) -> tuple[Features, ...]:
        """Return (S X)[N] and S[L, N], the receptive field of L = `nodes`."""
        if nodes is None:
            return propagation.rows(1), propagation.adjacency
        mixing = propagation.adjacency[nodes]
        neighbours = np.unique(mixing.indices)
        return propagation.rows_at(1, neighbours), mixing[:, neighbours]

    def representation_of(self, propagation: Propagation) -> Features:
        """Return relu(S X W1 + b1), the activations of the hidden layer before propagation."""
        return self.evaluate(propagation, lambda network, inputs: network.hidden(inputs))
