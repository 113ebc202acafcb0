"""One training: from the labels to the predictions of all nodes and the nodes to ask for next."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.evaluate import Advice
from featprop.evaluate.diagnostics import contradiction, neighbour_shares, uncertainty
from featprop.graph import Graph

SEED = 0
"""Seed of all random choices."""


class Snapshot(NamedTuple):
    """Input of a training."""

    labels: Mapping[Hashable, Hashable]  # class of each labelled node, by id
    excluded: tuple[Hashable, ...]  # ids of nodes not to ask for
    wanted: int  # number of nodes to rank


class Prediction(NamedTuple):
    """Prediction of a node."""

    label: Hashable
    confidence: float
    probabilities: dict[Hashable, float]


def _no_nodes() -> NDArray[np.intp]:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Ranking:
    """Result of one training. Nodes are positions in the graph."""

    n_labels: int  # number of labels
    mean_distance: float  # mean distance of a node to the nearest labelled one; NaN without labels
    nodes: NDArray[np.intp] = field(default_factory=_no_nodes)  # nodes to ask for, most useful first
    represents: NDArray[np.int64] = field(default_factory=_no_nodes)  # number of nodes that each of them represents
    nearest: NDArray[np.intp] = field(default_factory=_no_nodes)  # for each node, the index of the nearest of them
    spares: NDArray[np.intp] = field(default_factory=_no_nodes)  # all other nodes to ask for, if the ranking runs out
    classes: tuple[Hashable, ...] = ()  # classes of the model; empty before there are labels of two classes
    probabilities: NDArray[np.float32] | None = None  # class probabilities, one row per node; None without a model
    labelled: NDArray[np.intp] = field(default_factory=_no_nodes)  # nodes with a label
    held_out: NDArray[np.float32] | None = None  # class probabilities of those without their label, if known

    def renamed(self, old: Hashable, new: Hashable) -> Ranking:
        """Return the ranking with a class renamed; two columns with one name are a merged class."""
        return replace(self, classes=tuple(new if name == old else name for name in self.classes))

    def represented(self, node: int) -> NDArray[np.intp]:
        """Return the nodes that a ranked node represents; none for other nodes."""
        place = np.flatnonzero(self.nodes == node)
        return np.flatnonzero(self.nearest == place[0]) if place.size else _no_nodes()

    def prediction(self, node: int) -> Prediction | None:
        """Return the prediction of a node; None without a model."""
        return None if self.probabilities is None else self._prediction(self.probabilities[node])

    def suspects(self, labels: Mapping[int, Hashable]) -> dict[int, Prediction]:
        """Return the labelled nodes for which the model predicts another class without their label.

        The most suspicious one comes first: the one whose label is the least probable.
        """
        if self.held_out is None:
            return {}
        doubted = []
        for node, row in zip(self.labelled.tolist(), self.held_out, strict=True):
            prediction, label = self._prediction(row), labels.get(node)
            if label in prediction.probabilities and prediction.label != label:
                doubted.append((prediction.probabilities[label], node, prediction))
        return {node: prediction for _, node, prediction in sorted(doubted, key=lambda each: each[0])}

    def least_certain(self) -> NDArray[np.intp]:
        """Return all nodes, least certain predictions first; none without a model."""
        if self.probabilities is None:
            return _no_nodes()
        return np.argsort(-uncertainty(self.probabilities), kind="stable")

    def contradicted(self, graph: Graph) -> NDArray[np.intp]:
        """Return the nodes whose predictions the neighbours contradict, strongest contradiction first."""
        if self.probabilities is None:
            return _no_nodes()
        scores = contradiction(*neighbour_shares(graph.adjacency, self.probabilities), self.probabilities)
        order = np.argsort(-scores, kind="stable")
        return order[scores[order] > 0]

    def _prediction(self, shares: NDArray[np.float32]) -> Prediction:
        probabilities: dict[Hashable, float] = dict.fromkeys(self.classes, 0.0)
        for name, share in zip(self.classes, shares.tolist(), strict=True):
            probabilities[name] += share
        label = max(probabilities, key=lambda name: probabilities[name])
        return Prediction(label, probabilities[label], probabilities)


def compute_ranking(graph: Graph, snapshot: Snapshot) -> Ranking:
    """Fit the model to the labels, if there are two classes, and rank the next nodes."""
    from featprop.active import select
    from featprop.models import seeded_model
    from featprop.propagation import coverage
    from featprop.strategies import DEFAULT_STRATEGY, strategy_class

    nodes, labels = list(snapshot.labels), list(snapshot.labels.values())
    labelled = graph.positions(nodes)
    ranking = Ranking(len(nodes), coverage(graph, labelled).mean_distance if nodes else float("nan"))
    fitted = None
    if len(set(labels)) > 1:
        fitted = seeded_model(SEED).fit(graph, nodes, labels)
        ranking = replace(
            ranking,
            classes=fitted.class_names_,
            probabilities=fitted.predict_proba(graph),
            labelled=labelled,
            held_out=fitted.held_out_proba_,
        )
    is_open = np.ones(graph.n_nodes, dtype=bool)
    is_open[labelled] = is_open[graph.positions(snapshot.excluded)] = False
    wanted = min(snapshot.wanted, int(is_open.sum()))
    if wanted == 0:
        return ranking
    looks = fitted is not None and strategy_class(DEFAULT_STRATEGY).looks_at_model()
    picks = select(
        graph,
        wanted,
        labelled=nodes,
        labels=labels if looks else None,
        exclude=snapshot.excluded,
        model=fitted if looks else None,
        random_state=SEED,
    )
    is_open[picks.positions] = False
    order = ranking.least_certain()
    spares = order[is_open[order]] if fitted else _similar(graph, picks.nearest, np.flatnonzero(is_open))
    return replace(ranking, nodes=picks.positions, represents=picks.represents, nearest=picks.nearest, spares=spares)


def compute_advice(graph: Graph, labels: Mapping[Hashable, Hashable]) -> Advice | None:
    """Return advice on a model of these labels; None if every node is labelled."""
    from featprop.evaluate import advise
    from featprop.models import seeded_model

    if len(labels) == graph.n_nodes:
        return None
    return advise(graph, seeded_model(SEED).fit(graph, list(labels), list(labels.values())))


def _similar(graph: Graph, nearest: NDArray[np.intp], nodes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return nodes in turns: of each selected node the similar one with the most neighbours, then the second ones …."""
    degree = np.diff(graph.adjacency.indptr)
    ordered = nodes[np.lexsort((-degree[nodes], nearest[nodes]))]
    _, starts = np.unique(nearest[ordered], return_index=True)
    turn = np.arange(len(ordered)) - np.repeat(starts, np.diff([*starts, len(ordered)]))
    return ordered[np.argsort(turn, kind="stable")]
