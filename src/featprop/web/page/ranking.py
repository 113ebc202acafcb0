"""Result of one training: the nodes to ask for next and the predictions of all nodes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from featprop.evaluate.diagnostics import contradiction, neighbour_shares, uncertainty
from featprop.graph import Graph
from featprop.web.page.types import Prediction, Why


@dataclass(frozen=True)
class Ranking:
    """Result of one training. Nodes are positions in the graph."""

    nodes: NDArray[np.intp]  # nodes to ask for, most useful first
    represents: NDArray[np.int64]  # number of nodes that each of them represents
    nearest: NDArray[np.intp]  # for each node of the graph, the index of the nearest of them; -1 for labelled nodes
    spares: NDArray[np.intp]  # all other nodes to ask for, used if the ranking runs out before the next one
    n_labels: int  # number of labels
    mean_distance: float  # mean distance of a node to the nearest labelled one; NaN without labels
    classes: tuple[Hashable, ...] = ()  # classes of the model; empty before there are labels of two classes
    probabilities: NDArray[np.float32] | None = None  # class probabilities, one row per node; None without a model
    labelled: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))  # nodes with a label
    held_out: NDArray[np.float32] | None = None  # class probabilities of those without their label, if known

    @property
    def n_ranked(self) -> int:
        """Number of ranked nodes."""
        return len(self.nodes)

    @cached_property
    def best(self) -> NDArray[np.intp] | None:
        """Index of the most probable class of each node; None without a model."""
        return None if self.probabilities is None else self.probabilities.argmax(axis=1)

    def rows(self, start: int, stop: int) -> list[tuple[int, int, Why, int | None, bool]]:
        """Return place, node, reason, number of nodes represented, and whether a model chose it, of some nodes."""
        has_model = self.probabilities is not None
        ranked = zip(self.nodes.tolist(), self.represents.tolist(), strict=True)
        rows = [(place, node, Why.RANKED, count, has_model) for place, (node, count) in enumerate(ranked)][start:stop]
        first, why = max(start, self.n_ranked), Why.UNCERTAIN if has_model else Why.SIMILAR
        spares = self.spares[first - self.n_ranked : max(0, stop - self.n_ranked)].tolist()
        return rows + [(first + place, node, why, None, has_model) for place, node in enumerate(spares)]

    def renamed(self, old: Hashable, new: Hashable) -> Ranking:
        """Return the ranking with a class renamed, or merged into another one."""
        if old not in self.classes or self.probabilities is None:
            return self
        if new not in self.classes:
            return replace(self, classes=tuple(new if name == old else name for name in self.classes))
        kept = [place for place, name in enumerate(self.classes) if name != old]
        one, other = self.classes.index(old), self.classes.index(new)

        def merged(shares: NDArray[np.float32]) -> NDArray[np.float32]:
            shares = shares.copy()
            shares[:, other] += shares[:, one]
            return shares[:, kept]

        return replace(
            self,
            classes=tuple(self.classes[place] for place in kept),
            probabilities=merged(self.probabilities),
            held_out=None if self.held_out is None else merged(self.held_out),
        )

    def represented(self, node: int) -> NDArray[np.intp]:
        """Return the nodes that a ranked node represents; none for other nodes."""
        place = np.flatnonzero(self.nodes == node)
        return np.flatnonzero(self.nearest == place[0]) if place.size else np.empty(0, dtype=np.intp)

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
