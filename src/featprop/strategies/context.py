"""The information a query strategy may use."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points
from featprop.graph import Graph
from featprop.matrix import Features, read_only
from featprop.propagation import Propagation

OUTPUTS = {
    "probabilities": "the probability of each class, shape (nodes, classes)",
    "hidden": "the last hidden representation, shape (nodes, hidden units)",
    "logits": "the final layer before the softmax, shape (nodes, classes)",
}
"""Outputs of the current model that a strategy can request."""


@dataclass(frozen=True)
class QueryContext:
    """Everything a strategy may know when it selects: only labels that people gave, in read-only arrays.

    Attributes
    ----------
    graph
        The graph, without labels.
    labelled
        Positions of the labelled nodes.
    candidates
        Positions of the nodes that may be selected, ascending; none of them is labelled.
    labels
        Class of each labelled node, as an index into `classes`; empty if the labels are unknown.
    classes
        Names of the classes among the labels.
    outputs
        Outputs of the current model for every node, by the names in `OUTPUTS`; only those the strategy needs or uses.
    """

    graph: Graph
    labelled: NDArray[np.intp]
    candidates: NDArray[np.intp]
    labels: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    classes: tuple[Hashable, ...] = ()
    outputs: Mapping[str, Features] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("labelled", "candidates", "labels"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        outputs = {name: read_only(output) for name, output in self.outputs.items()}
        object.__setattr__(self, "outputs", MappingProxyType(outputs))

    def points(self, layers: int, unit: bool = False) -> Points:
        """Return the rows of S^K X as points, scaled to length 1 if `unit`."""
        return Propagation.of(self.graph).points(layers, unit)
