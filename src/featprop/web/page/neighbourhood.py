"""Which neighbours of a node are shown, and what all of them are.

A node may have a million neighbours, and a person can look at some forty. Those with a label come first, then those the
node stands for, then others by the class that is predicted for them: each class in proportion, none left out while
there is room. Who of a class is shown depends on the seed, the node and the neighbour alone, so the same ones are there
at the next visit, and most of them after the model has learnt more. Counts are over all neighbours.

Cost: the row of the node once, and at most `LOOKED` neighbours of each one shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.graph import UNKNOWN, Graph

__all__ = ["Count", "Neighbour", "Neighbourhood", "neighbourhood_of"]

LIMIT, SECOND = 40, 3
LOOKED = 1000
"""Neighbours of a neighbour that are looked at; of more, about as many drawn by the seed."""


class Count(NamedTuple):
    """How many neighbours are of a class: by their label, and by prediction of those without one."""

    labelled: int
    predicted: int


@dataclass(frozen=True)
class Neighbour:
    """A node that is shown.

    Attributes
    ----------
    position
        The node.
    weight
        Of the edge to the centre, or to its parent.
    label, prediction
        The class, None where there is none; no prediction is told of a node with a label.
    stands_for
        Whether the centre was picked to stand for it.
    parent
        For the second ring, the neighbour it belongs to.
    """

    position: int
    weight: float
    label: int | None = None
    prediction: int | None = None
    stands_for: bool = False
    parent: int | None = None

    @property
    def code(self) -> int | None:
        """The class by label or prediction, whichever there is."""
        return self.prediction if self.label is None else self.label

    @property
    def how(self) -> str:
        """Where the class is from: ``"labelled"``, ``"predicted"``, or empty."""
        return "labelled" if self.label is not None else "predicted" if self.prediction is not None else ""


@dataclass(frozen=True)
class Neighbourhood:
    """A node and the nodes around it.

    Attributes
    ----------
    centre
        The node, and `label`, its class, None where there is none.
    first
        Neighbours that are shown, by class, labelled ones first.
    second
        Neighbours of these, by parent.
    links
        Edges between those in the first ring, as pairs of positions.
    total
        How many neighbours there are.
    counts
        How many of all neighbours are of each class, None for those without label and prediction; most frequent first.
    """

    centre: int
    label: int | None
    first: tuple[Neighbour, ...]
    second: tuple[Neighbour, ...]
    links: tuple[tuple[int, int], ...]
    total: int
    counts: dict[int | None, Count]

    @property
    def shown(self) -> str:
        """How many neighbours are shown: ``"40 of 103,221"``, or ``"7"`` if that is all."""
        return f"{self.total:,}" if len(self.first) == self.total else f"{len(self.first):,} of {self.total:,}"


def neighbourhood_of(
    graph: Graph,
    position: int,
    *,
    labels: NDArray[Any],
    predictions: NDArray[Any] | None = None,
    stands_for: Collection[int] = (),
    limit: int = LIMIT,
    second: int = SECOND,
    seed: int = 0,
) -> Neighbourhood:
    """Return the neighbourhood of a node.

    Parameters
    ----------
    graph
        The graph.
    position
        The node.
    labels
        The class of each node of the graph, -1 for none.
    predictions
        The class that is predicted for each node of the graph, -1 for none; None if there are no predictions.
    stands_for
        The nodes that the node was picked to stand for, by position.
    limit
        Neighbours that are shown at most.
    second
        Neighbours of each that are shown at most.
    seed
        Another seed shows another sample.
    """
    if not 0 <= position < graph.n_nodes:
        raise ParameterError("position", f"must be 0 to {graph.n_nodes - 1:,}", position, "name a node of the graph")
    for name, value in {"limit": limit, "second": second, "seed": seed}.items():
        if value < 0:
            raise ParameterError(name, "must be at least 0", value, "pass a larger number")
    known = _Known(graph, labels, predictions)
    key = np.random.SeedSequence([seed, position]).generate_state(1, np.uint64).astype(np.uint64)
    nodes, weights = _row(graph, position)
    labelled, predicted = known.labels_of(nodes), known.predictions_of(nodes)
    represented = np.isin(nodes, np.fromiter(stands_for, np.int64, len(stands_for)))
    chosen = _chosen(labelled, predicted, represented, limit, _draws(nodes, key))
    first = [
        known.neighbour(nodes[place], weights[place], stands_for=bool(represented[place])) for place in chosen.tolist()
    ]
    first.sort(key=_in_the_ring)
    return Neighbourhood(
        centre=position,
        label=None if labels[position] == UNKNOWN else int(labels[position]),
        first=tuple(first),
        second=tuple(_second_ring(known, position, first, second, key)),
        links=tuple(_links(graph, first)),
        total=len(nodes),
        counts=_counts(labelled, predicted),
    )


class _Known:
    """What is known of the nodes, looked up for many at once."""

    def __init__(self, graph: Graph, labels: NDArray[Any], predictions: NDArray[Any] | None) -> None:
        self.graph, self.labels, self.predictions = graph, labels, predictions

    def labels_of(self, nodes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the label of each node, -1 where it has none."""
        return np.asarray(self.labels[nodes], dtype=np.int64)

    def predictions_of(self, nodes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the prediction for each node, -1 where there is none."""
        if self.predictions is None:
            return np.full(len(nodes), UNKNOWN, dtype=np.int64)
        return np.asarray(self.predictions[nodes], dtype=np.int64)

    def neighbour(self, node: Any, weight: Any, *, stands_for: bool = False, parent: int | None = None) -> Neighbour:
        only = np.array([node])
        label, prediction = int(self.labels_of(only)[0]), int(self.predictions_of(only)[0])
        return Neighbour(
            position=int(node),
            weight=float(weight),
            label=None if label == UNKNOWN else label,
            prediction=None if prediction == UNKNOWN or label != UNKNOWN else prediction,
            stands_for=stands_for,
            parent=parent,
        )


def _row(graph: Graph, position: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the neighbours of a node, in order, and the weights of the edges to them."""
    entries = slice(graph.adjacency.indptr[position], graph.adjacency.indptr[position + 1])
    return graph.adjacency.indices[entries], graph.adjacency.data[entries]


def _in_the_ring(neighbour: Neighbour) -> tuple[bool, int, bool, int]:
    """By class, those without one last; labelled ones first in their class."""
    code = neighbour.code
    return (code is None, code or 0, neighbour.label is None, neighbour.position)


def _draws(nodes: NDArray[Any], key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a number for each node that looks random and depends on node and key alone (SplitMix64)."""
    mixed = nodes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + key
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _chosen(
    labelled: NDArray[np.int64],
    predicted: NDArray[np.int64],
    represented: NDArray[np.bool_],
    limit: int,
    draws: NDArray[np.uint64],
) -> NDArray[np.intp]:
    """Return the places of the neighbours that are shown."""
    has_label = labelled != UNKNOWN
    turns = [(has_label, labelled), (represented & ~has_label, predicted), (~represented & ~has_label, predicted)]
    chosen: list[NDArray[np.intp]] = [np.empty(0, np.intp)]
    for group, classes in turns:
        room = limit - sum(map(len, chosen))
        places = np.flatnonzero(group)
        chosen.append(places if len(places) <= room else _by_class(places, classes[places], room, draws[places]))
    return np.concatenate(chosen)


def _by_class(
    places: NDArray[np.intp], classes: NDArray[np.int64], room: int, draws: NDArray[np.uint64]
) -> NDArray[np.intp]:
    """Return as many of the places as there is room for, of each class in proportion, lowest draws first."""
    if room == 0:
        return places[:0]
    small = classes.astype(np.int16) if classes.max() < 2**15 else classes
    order = np.argsort(small, kind="stable")
    _, starts, counts = np.unique(small[order], return_index=True, return_counts=True)
    taken = [
        members[np.argpartition(draws[members], quota - 1)[:quota]]
        for start, count, quota in zip(starts, counts, _quotas(counts, room), strict=True)
        if quota
        for members in [order[start : start + count]]
    ]
    return places[np.concatenate(taken)]


def _quotas(counts: NDArray[np.int64], room: int) -> list[int]:
    """Share out less room than there are members: in proportion, and one at least to each of the largest classes."""
    ideal = counts * (room / counts.sum())
    largest = np.argsort(-counts, kind="stable")[:room]
    quotas = np.zeros(len(counts), dtype=np.int64)
    quotas[largest] = np.clip(np.floor(ideal[largest]), 1, counts[largest])
    while quotas.sum() > room:
        quotas[np.argmax(np.where(quotas > 1, quotas - ideal, -np.inf))] -= 1
    while quotas.sum() < room:
        quotas[np.argmax(np.where(quotas < counts, ideal - quotas, -np.inf))] += 1
    return [int(quota) for quota in quotas]


def _second_ring(
    known: _Known, centre: int, first: list[Neighbour], each: int, key: NDArray[np.uint64]
) -> Iterator[Neighbour]:
    """Yield a few neighbours of each neighbour, labelled ones first, nobody twice."""
    seen = np.array([centre, *(neighbour.position for neighbour in first)], dtype=np.int64)
    for parent in first if each else ():
        nodes, weights = _row(known.graph, parent.position)
        if len(nodes) > LOOKED:
            some = np.unique(np.random.default_rng([int(key[0]), parent.position]).integers(len(nodes), size=LOOKED))
            nodes, weights = nodes[some], weights[some]
        new = ~np.isin(nodes, seen)
        nodes, weights = nodes[new], weights[new]
        order = np.lexsort((_draws(nodes, key), known.labels_of(nodes) == UNKNOWN))[:each]
        children = [known.neighbour(nodes[place], weights[place], parent=parent.position) for place in order.tolist()]
        seen = np.concatenate([seen, nodes[order]])
        yield from sorted(children, key=_in_the_ring)


def _links(graph: Graph, first: list[Neighbour]) -> Iterator[tuple[int, int]]:
    """Yield the edges between neighbours, each once; relies on rows being in order."""
    shown = np.array(sorted(neighbour.position for neighbour in first), dtype=np.int64)
    for one in shown.tolist():
        nodes, _ = _row(graph, one)
        others = shown[shown > one]
        if nodes.size and others.size:
            places = np.minimum(np.searchsorted(nodes, others), nodes.size - 1)
            yield from ((one, other) for other in others[nodes[places] == others].tolist())


def _counts(labelled: NDArray[np.int64], predicted: NDArray[np.int64]) -> dict[int | None, Count]:
    """Count each neighbour once: by its label, else by its prediction."""
    by_label = np.bincount(labelled + 1)
    by_prediction = np.bincount(np.where(labelled == UNKNOWN, predicted, UNKNOWN - 1) + 2)[1:]
    by_label[:1] = 0
    size = max(len(by_label), len(by_prediction))
    both = np.zeros((2, size), dtype=np.int64)
    both[0, : len(by_label)], both[1, : len(by_prediction)] = by_label, by_prediction
    order = [place for place in np.argsort(-both.sum(axis=0), kind="stable").tolist() if both[:, place].any()]
    order.sort(key=lambda place: place == 0)
    return {None if place == 0 else place - 1: Count(*map(int, both[:, place])) for place in order}
