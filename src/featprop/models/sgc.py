"""SGC: a linear model on the propagated features.

    logits = S^K X Θ + b

Wu et al., "Simplifying Graph Convolutional Networks" (2019). A node's logits need its own row of S^K X only.
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


@register_model("sgc")
@dataclass(eq=False, repr=False)
class SGC(NeuralClassifier):
    """Simplified graph convolution: a linear model on S^K X.

    Parameters
    ----------
    layers
        K, the number of propagation steps.
    """

    layers: Annotated[int, Between(0, 1000)] = 2

    network_kind = "Linear"
    typical_inverse_temperature = 1.7

    def matrices(self, propagation: Propagation, nodes: NDArray[np.intp] | None = None) -> tuple[Features, ...]:
        """Return the rows of S^K X of `nodes`."""
        return (propagation.rows(self.layers) if nodes is None else propagation.rows_at(self.layers, nodes),)

    def representation_of(self, propagation: Propagation) -> Features:
        """Return S^K X, the input of the only layer."""
        return propagation.rows(self.layers)
