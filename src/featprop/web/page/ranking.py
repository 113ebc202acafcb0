"""What was learnt: which nodes to ask for, which others they stand for, and what the model thinks of every node."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from featprop.evaluate.unsure import contradiction, neighbours_say, unsureness_of
from featprop.graph import Graph
from featprop.web.page.reports import Prediction

__all__ = ["Ranking"]


@dataclass(frozen=True)
class Ranking:
    """What was learnt. Nodes are positions in the graph.

    Attributes
    ----------
    nodes
        The nodes to ask for, the most useful first.
    represents
        How many nodes each of them stands for.
    nearest
        For each node of the graph, which of them it is nearest to, -1 for a labelled one.
    n_labels
        How many labels it was learnt from.
    mean_distance
        The mean distance of a node to the nearest labelled one; NaN without labels.
    classes
        The classes that the model tells apart; none before there are labels of two classes.
    probabilities
        Of each class, a row a node; None without a model.
    """

    nodes: NDArray[np.intp]
    represents: NDArray[np.int64]
    nearest: NDArray[np.intp]
    n_labels: int
    mean_distance: float
    classes: tuple[Hashable, ...] = ()
    probabilities: NDArray[np.float32] | None = None

    @cached_property
    def best(self) -> NDArray[np.intp] | None:
        """For each node the place of its likeliest class in `classes`; None without a model."""
        return None if self.probabilities is None else self.probabilities.argmax(axis=1)

    def place(self, node: int) -> int | None:
        """Return the place of a node among those to ask for, from 0; None if it is not one of them."""
        found = np.flatnonzero(self.nodes == node)
        return int(found[0]) if found.size else None

    def represented(self, node: int) -> NDArray[np.intp]:
        """Return the nodes that one to ask for stands for; none for any other."""
        place = self.place(node)
        return np.empty(0, dtype=np.intp) if place is None else np.flatnonzero(self.nearest == place)

    def prediction(self, node: int) -> Prediction | None:
        """Return what the model thinks of a node; None as long as it knows nothing."""
        if self.probabilities is None:
            return None
        row = self.probabilities[node].tolist()
        best = int(np.argmax(row))
        return Prediction(self.classes[best], row[best], dict(zip(self.classes, row, strict=True)))

    def doubtful(self) -> NDArray[np.intp]:
        """Return all nodes, those that the model is least sure of first; none without a model."""
        if self.probabilities is None:
            return np.empty(0, dtype=np.intp)
        return np.argsort(-unsureness_of(self.probabilities), kind="stable")

    def contradicted(self, graph: Graph) -> NDArray[np.intp]:
        """Return the nodes whose neighbours say that they are something else, those first of which most do."""
        if self.probabilities is None:
            return np.empty(0, dtype=np.intp)
        scores = contradiction(neighbours_say(graph.adjacency, self.probabilities), self.probabilities)
        order = np.argsort(-scores, kind="stable")
        return order[scores[order] > 0]
