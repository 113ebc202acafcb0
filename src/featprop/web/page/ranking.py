"""Result of one training: the nodes to ask for next and the predictions of all nodes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from featprop.evaluate.diagnostics import contradiction, neighbour_shares, uncertainty
from featprop.graph import Graph
from featprop.web.page.types import Prediction


@dataclass(frozen=True)
class Ranking:
    """Result of one training. Nodes are positions in the graph."""

    nodes: NDArray[np.intp]  # nodes to ask for, most useful first
    represents: NDArray[np.int64]  # number of nodes that each of them represents
    nearest: NDArray[np.intp]  # for each node of the graph, the index of the nearest of them; -1 for labelled nodes
    n_labels: int  # number of labels
    mean_distance: float  # mean distance of a node to the nearest labelled one; NaN without labels
    classes: tuple[Hashable, ...] = ()  # classes of the model; empty before there are labels of two classes
    probabilities: NDArray[np.float32] | None = None  # class probabilities, one row per node; None without a model
    labelled: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))  # nodes with a label
    held_out: NDArray[np.float32] | None = None  # class probabilities of those without their label, if known

    @cached_property
    def best(self) -> NDArray[np.intp] | None:
        """Index of the most probable class of each node; None without a model."""
        return None if self.probabilities is None else self.probabilities.argmax(axis=1)

    def place(self, node: int) -> int | None:
        """Return the place of a node in the ranking, from 0; None if it is not ranked."""
        found = np.flatnonzero(self.nodes == node)
        return int(found[0]) if found.size else None

    def represented(self, node: int) -> NDArray[np.intp]:
        """Return the nodes that a ranked node represents; none for other nodes."""
        place = self.place(node)
        return np.empty(0, dtype=np.intp) if place is None else np.flatnonzero(self.nearest == place)

    def prediction(self, node: int) -> Prediction | None:
        """Return the prediction of a node; None without a model."""
        if self.probabilities is None:
            return None
        row = self.probabilities[node].tolist()
        best = int(np.argmax(row))
        return Prediction(self.classes[best], row[best], dict(zip(self.classes, row, strict=True)))

    def least_certain(self) -> NDArray[np.intp]:
        """Return all nodes, least certain predictions first; none without a model."""
        if self.probabilities is None:
            return np.empty(0, dtype=np.intp)
        return np.argsort(-uncertainty(self.probabilities), kind="stable")

    def contradicted(self, graph: Graph) -> NDArray[np.intp]:
        """Return the nodes whose predictions the neighbours contradict, strongest contradiction first."""
        if self.probabilities is None:
            return np.empty(0, dtype=np.intp)
        scores = contradiction(*neighbour_shares(graph.adjacency, self.probabilities), self.probabilities)
        order = np.argsort(-scores, kind="stable")
        return order[scores[order] > 0]
