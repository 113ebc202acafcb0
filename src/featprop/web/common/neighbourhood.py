"""Choose which neighbours of a node to show, and count the classes of all of them.

A node may have a million neighbours; a page shows up to forty. Labelled neighbours come first, then those the node
represents, then a sample of the others in proportion to their predicted classes. The sample depends only on the seed,
the node and the neighbour, so it stays the same between visits and mostly the same as predictions change.

Cost: one row of the adjacency matrix, and at most `MAX_SCANNED` neighbours of each neighbour shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.graph import UNKNOWN, Graph

MAX_NEIGHBOURS, MAX_SECOND = 40, 3
MAX_SCANNED = 1000
"""Neighbours of a neighbour to choose from; a random sample if there are more."""


class Count(NamedTuple):
    """Number of neighbours of a class: by label, and by prediction for those without one."""

    labelled: int
    predicted: int


@dataclass(frozen=True)
class Neighbour:
    """A node shown around another one."""

    position: int  # position of the node
    weight: float  # weight of the edge to the centre or to the parent
    label: int | None = None  # class codes, or None; labelled nodes have no prediction
    prediction: int | None = None
    represented: bool = False  # whether the centre was selected to represent it
    parent: int | None = None  # in the second ring, the neighbour it belongs to

    @property
    def code(self) -> int | None:
        """Class by label, else by prediction."""
        return self.prediction if self.label is None else self.label

    @property
    def how(self) -> str:
        """Source of the class: ``"labelled"``, ``"predicted"``, or empty."""
        return "labelled" if self.label is not None else "predicted" if self.prediction is not None else ""


@dataclass(frozen=True)
class Neighbourhood:
    """A node and the nodes around it.

    Attributes
    ----------
    centre, label
        Position of the node and its class code, or None.
    first
        Neighbours shown, by class, labelled ones first.
    second
        Neighbours of those, by parent.
    links
        Edges within the first ring, as pairs of positions.
    total
        Number of neighbours.
    counts
        Number of neighbours of each class, most frequent first; None for those without label and prediction.
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
        """Number of neighbours shown: ``"40 of 103,221"``, or ``"7"`` if all are shown."""
        return f"{self.total:,}" if len(self.first) == self.total else f"{len(self.first):,} of {self.total:,}"


def find_neighbourhood(
    graph: Graph,
    position: int,
    *,
    labels: NDArray[Any],
    predictions: NDArray[Any] | None = None,
    represented: Collection[int] = (),
    limit: int = MAX_NEIGHBOURS,
    second: int = MAX_SECOND,
    seed: int = 0,
) -> Neighbourhood:
    """Return the neighbourhood of a node.

    Parameters
    ----------
    graph
        The graph.
    position
        Position of the node.
    labels
        Class code of each node, -1 without a label.
    predictions
        Predicted class code of each node, -1 without a prediction; None without a model.
    represented
        Positions of the nodes that the node was selected to represent.
    limit
        Maximum number of neighbours shown.
    second
        Maximum number of neighbours shown for each of those.
    seed
        Seed of the sample.
    """
    known = _Known(graph, labels, predictions)
    key = np.random.SeedSequence([seed, position]).generate_state(1, np.uint64).astype(np.uint64)
    nodes, weights = _row(graph, position)
    labelled, predicted = known.labels_of(nodes), known.predictions_of(nodes)
    is_represented = np.isin(nodes, np.fromiter(represented, np.int64, len(represented)))
    chosen = _choose(labelled, predicted, is_represented, limit, _draws(nodes, key))
    first = [
        known.neighbour(nodes[place], weights[place], represented=bool(is_represented[place]))
        for place in chosen.tolist()
    ]
    first.sort(key=_ring_order)
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
    """Labels and predictions of the nodes."""

    def __init__(self, graph: Graph, labels: NDArray[Any], predictions: NDArray[Any] | None) -> None:
        self.graph, self.labels, self.predictions = graph, labels, predictions

    def labels_of(self, nodes: NDArray[Any]) -> NDArray[np.int64]:
        return np.asarray(self.labels[nodes], dtype=np.int64)

    def predictions_of(self, nodes: NDArray[Any]) -> NDArray[np.int64]:
        if self.predictions is None:
            return np.full(len(nodes), UNKNOWN, dtype=np.int64)
        return np.asarray(self.predictions[nodes], dtype=np.int64)

    def neighbour(self, node: Any, weight: Any, *, represented: bool = False, parent: int | None = None) -> Neighbour:
        only = np.array([node])
        label, prediction = int(self.labels_of(only)[0]), int(self.predictions_of(only)[0])
        return Neighbour(
            position=int(node),
            weight=float(weight),
            label=None if label == UNKNOWN else label,
            prediction=None if prediction == UNKNOWN or label != UNKNOWN else prediction,
            represented=represented,
            parent=parent,
        )


def _row(graph: Graph, position: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted neighbours of a node and the weights of the edges to them."""
    entries = slice(graph.adjacency.indptr[position], graph.adjacency.indptr[position + 1])
    return graph.adjacency.indices[entries], graph.adjacency.data[entries]


def _ring_order(neighbour: Neighbour) -> tuple[bool, int, bool, int]:
    """Sort by class, nodes without one last, labelled ones first within a class."""
    code = neighbour.code
    return (code is None, code or 0, neighbour.label is None, neighbour.position)


def _draws(nodes: NDArray[Any], key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each node that depends only on node and key (SplitMix64)."""
    mixed = nodes.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + key
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _choose(
    labelled: NDArray[np.int64],
    predicted: NDArray[np.int64],
    represented: NDArray[np.bool_],
    limit: int,
    draws: NDArray[np.uint64],
) -> NDArray[np.intp]:
    """Return the places of the neighbours to show."""
    has_label = labelled != UNKNOWN
    groups = [(has_label, labelled), (represented & ~has_label, predicted), (~represented & ~has_label, predicted)]
    chosen: list[NDArray[np.intp]] = [np.empty(0, np.intp)]
    for group, classes in groups:
        room = limit - sum(map(len, chosen))
        places = np.flatnonzero(group)
        chosen.append(places if len(places) <= room else _sample_by_class(places, classes[places], room, draws[places]))
    return np.concatenate(chosen)


def _sample_by_class(
    places: NDArray[np.intp], classes: NDArray[np.int64], room: int, draws: NDArray[np.uint64]
) -> NDArray[np.intp]:
    """Return `room` of the places, each class in proportion, lowest draws first."""
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
    """Divide the room among the classes in proportion, with at least one place for each of the largest classes."""
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
    """Yield up to `each` neighbours of every neighbour, labelled ones first, no node twice."""
    seen = np.array([centre, *(neighbour.position for neighbour in first)], dtype=np.int64)
    for parent in first if each else ():
        nodes, weights = _row(known.graph, parent.position)
        if len(nodes) > MAX_SCANNED:
            some = np.unique(
                np.random.default_rng([int(key[0]), parent.position]).integers(len(nodes), size=MAX_SCANNED)
            )
            nodes, weights = nodes[some], weights[some]
        new = ~np.isin(nodes, seen)
        nodes, weights = nodes[new], weights[new]
        order = np.lexsort((_draws(nodes, key), known.labels_of(nodes) == UNKNOWN))[:each]
        children = [known.neighbour(nodes[place], weights[place], parent=parent.position) for place in order.tolist()]
        seen = np.concatenate([seen, nodes[order]])
        yield from sorted(children, key=_ring_order)


def _links(graph: Graph, first: list[Neighbour]) -> Iterator[tuple[int, int]]:
    """Yield the edges between neighbours once each. Rows of the adjacency matrix are sorted."""
    shown = np.array(sorted(neighbour.position for neighbour in first), dtype=np.int64)
    for one in shown.tolist():
        nodes, _ = _row(graph, one)
        others = shown[shown > one]
        if nodes.size and others.size:
            places = np.minimum(np.searchsorted(nodes, others), nodes.size - 1)
            yield from ((one, other) for other in others[nodes[places] == others].tolist())


def _counts(labelled: NDArray[np.int64], predicted: NDArray[np.int64]) -> dict[int | None, Count]:
    """Count each neighbour once, by its label or else its prediction."""
    by_label = np.bincount(labelled + 1)
    by_prediction = np.bincount(np.where(labelled == UNKNOWN, predicted, UNKNOWN - 1) + 2)[1:]
    by_label[:1] = 0
    size = max(len(by_label), len(by_prediction))
    both = np.zeros((2, size), dtype=np.int64)
    both[0, : len(by_label)], both[1, : len(by_prediction)] = by_label, by_prediction
    order = [place for place in np.argsort(-both.sum(axis=0), kind="stable").tolist() if both[:, place].any()]
    order.sort(key=lambda place: place == 0)
    return {None if place == 0 else place - 1: Count(*map(int, both[:, place])) for place in order}
