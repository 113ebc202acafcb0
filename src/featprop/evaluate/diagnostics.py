"""List what to review: uncertain predictions, suspect labels and uncovered parts of the graph.

Labels are ranked by the held-out probability of their class, which finds more wrong labels than the margin to the most
probable class, the neighbours, or the model that was trained on them (docs/how-good-measured.md).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.evaluate.cross_validation import held_out_probabilities, training_labels
from featprop.evaluate.novel_classes import NovelClass, class_separation, find_holes
from featprop.graph import Graph, GraphLike
from featprop.models import NodeClassifier
from featprop.propagation import Coverage, Propagation, measure_coverage

LIMIT = 20
"""Default length of a list."""
TITLES = {
    "least_certain": "least certain predictions",
    "contradicted": "contradicted by neighbours",
    "far_from_labels": "far from every label",
    "unlabelled_components": "components without a label",
    "novel_classes": "possible new classes",
    "wrong_labels": "labels by suspicion",
}


@dataclass(frozen=True)
class Flag:
    """A node to review."""

    node: Hashable
    position: int
    score: float  # how suspicious it is; the measure differs between lists
    reason: str  # why it is listed
    suggestion: Hashable = None  # for a label, the class that the other labels suggest instead

    def __str__(self) -> str:
        return f"{self.node!r}: {self.reason}"


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """Lists of nodes to review, most suspicious first. Labelled nodes are only in the last one.

    Attributes
    ----------
    least_certain
        Least certain predictions, by the probability that they are wrong.
    contradicted
        Predictions that the neighbours contradict.
    far_from_labels
        Nodes by the distance to the nearest label.
    unlabelled_components
        The best connected node of each component without a label, by the size of the component.
    novel_classes
        Groups of nodes that probably belong to a class without a label.
    wrong_labels
        All labels, by one minus the held-out probability of their class; 0 for the only label of a class.
    """

    least_certain: tuple[Flag, ...] = ()
    contradicted: tuple[Flag, ...] = ()
    far_from_labels: tuple[Flag, ...] = ()
    unlabelled_components: tuple[Flag, ...] = ()
    novel_classes: tuple[NovelClass, ...] = ()
    wrong_labels: tuple[Flag, ...] = ()

    def __repr__(self) -> str:
        lists = [(title, getattr(self, name)) for name, title in TITLES.items()]
        return "\n".join(
            f"{title}: {len(flags):,}" + (f", first {flags[0]}" if flags else "") for title, flags in lists
        )


def diagnose(
    graph: GraphLike, model: NodeClassifier, limit: int = LIMIT, *, coverage: Coverage | None = None
) -> Diagnostics:
    """List what to review in the predictions of a model and in its labels.

    docs/how-good-measured.md has how often the lists are right. A model that does not cross-validate itself (any but
    `GraphRidge`) is trained ten times.

    Parameters
    ----------
    graph
        A `Graph`, a PyG `Data`, a NetworkX graph or a path.
    model
        Fitted model. On a graph without its labels, only `least_certain` and `contradicted` are filled.
    limit
        Maximum length of each list; `wrong_labels` is complete.
    coverage
        Coverage of the graph by the labels of the model, in their order, if it is known already.
    """
    if limit < 1:
        raise ParameterError(f"`limit` must be at least 1, not {limit}.", parameter="limit", value=limit)
    return _Diagnosis(model.prepare_graph(graph), model, limit).run(coverage)


def uncertainty(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probability that each prediction is wrong."""
    return np.asarray(1 - probabilities.max(axis=1))


def neighbour_shares(
    adjacency: sp.csr_array, probabilities: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the weighted mean probabilities of the neighbours of each node, and the sum of the weights."""
    around = np.asarray(adjacency @ probabilities, dtype=np.float32)
    weights = around.sum(axis=1)
    shares = np.divide(around, weights[:, None], out=np.zeros_like(around), where=weights[:, None] > 0)
    return shares, weights


def contradiction(
    shares: NDArray[np.float32], weights: NDArray[np.float32], probabilities: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return how strongly the neighbours of each node contradict its prediction.

        (1 - q_c) √w

    with c the predicted class, q_c its share among the neighbours and w their weight: two contradicting neighbours may
    be chance, twenty are not. It is 0 without neighbours and where c is their most common class. It is 0 everywhere if
    neighbours agree no more than two nodes drawn by their degree, because their classes then say nothing against c.
    """
    agreement = float(np.sum(weights @ (shares * probabilities)))
    by_chance = float(np.square(weights @ probabilities).sum())
    if agreement * float(weights.sum()) <= by_chance:
        return np.zeros_like(weights)
    best = probabilities.argmax(axis=1)
    against = (1 - shares[np.arange(len(best)), best]) * np.sqrt(weights)
    return np.where((shares.argmax(axis=1) != best) & (weights > 0), against, np.float32(0))


def unlabelled_components(graph: Graph, labelled: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the best connected node and the size of each component without a label, largest first."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    count, component = connected_components(graph.adjacency, directed=False)
    sizes = np.bincount(component, minlength=count)
    without = np.ones(count, dtype=bool)
    without[component[labelled]] = False
    degrees = np.diff(graph.adjacency.indptr)
    nodes = np.flatnonzero(without[component])
    ordered = nodes[np.lexsort((nodes, -degrees[nodes], component[nodes], -sizes[component[nodes]]))]
    _, first = np.unique(component[ordered], return_index=True)
    chosen = ordered[np.sort(first)]
    return chosen, sizes[component[chosen]].astype(np.int64)


class _Diagnosis:
    """One diagnosis. Intermediate results that several lists use are computed once."""

    def __init__(self, graph: Graph, model: NodeClassifier, limit: int) -> None:
        self.graph, self.classes, self.model, self.limit = graph, model.class_names_, model, limit
        self.probabilities = model.predict_proba(graph)
        self.labelled, self.codes = training_labels(graph, model)
        self.others = np.setdiff1d(graph.candidate_positions, self.labelled)
        self.points = Propagation.of(graph).compared

    def run(self, coverage: Coverage | None) -> Diagnostics:
        predictions = (self._least_certain(), self._contradicted()) if len(self.classes) > 1 else ((), ())
        if not self.labelled.size:
            return Diagnostics(*predictions)
        reached = measure_coverage(self.points, self.labelled) if coverage is None else coverage
        return Diagnostics(
            *predictions, self._far(reached), self._components(), self._novel_classes(reached), self._wrong_labels()
        )

    def _least_certain(self) -> tuple[Flag, ...]:
        rows = self.probabilities[self.others]

        def reason(place: int) -> str:
            second, first = np.argsort(rows[place], kind="stable")[-2:].tolist()
            return f"{self._class(first, rows[place])} or {self._class(second, rows[place])}"

        return self._flags(self.others, uncertainty(rows), reason)

    def _contradicted(self) -> tuple[Flag, ...]:
        known = self.probabilities.copy()
        known[self.labelled] = np.eye(known.shape[1], dtype=known.dtype)[self.codes]
        shares, weights = neighbour_shares(self.graph.adjacency, known)
        against = contradiction(shares, weights, self.probabilities)[self.others]
        around, rows = shares[self.others], self.probabilities[self.others]

        def reason(place: int) -> str:
            own, other = int(rows[place].argmax()), int(around[place].argmax())
            neighbours = f"{self._class(other, around[place])} and {self._class(own, around[place])}"
            return f"predicted {self._class(own, rows[place])}, but its neighbours are {neighbours}"

        return self._flags(self.others, against, reason)

    def _far(self, reached: Coverage) -> tuple[Flag, ...]:
        distances = reached.distances[self.others]
        mean = float(distances.mean(dtype=np.float64)) if distances.size else 0.0

        def reason(place: int) -> str:
            nearest = int(reached.nearest[self.others[place]])
            (node,) = self.graph.ids[self.labelled[[nearest]]].tolist()
            label = f"{node!r}, {self.classes[int(self.codes[nearest])]}"
            return f"{distances[place] / mean:.1f} times the average distance to the nearest label ({label})"

        return self._flags(self.others, distances, reason)

    def _components(self) -> tuple[Flag, ...]:
        positions, sizes = unlabelled_components(self.graph, self.labelled)

        def reason(place: int) -> str:
            size = int(sizes[place])
            return f"in a component of {size:,} nodes without a label" if size > 1 else "has no edges and no label"

        return self._flags(positions, sizes.astype(np.float64), reason)

    def _novel_classes(self, reached: Coverage) -> tuple[NovelClass, ...]:
        several = len(self.classes) > 1
        unsure = uncertainty(self.probabilities) if several else np.ones(self.graph.n_nodes, dtype=np.float32)
        known = np.asarray(Propagation.of(self.graph).features("diffused").any(axis=1))
        separation = class_separation(self.points, self.labelled, self.codes)
        found = find_holes(self.points, reached.distances, unsure, known, separation)
        groups = []
        for positions, score in found[: self.limit]:
            nodes = tuple(self.graph.ids[positions].tolist())
            most = int(np.bincount(self.probabilities[positions].argmax(axis=1)).argmax())
            sure = 100 - 100 * float(unsure[positions].mean(dtype=np.float64))
            guess = f", mostly predicted {self.classes[most]} ({sure:.0f} % confidence)" if several else ""
            groups.append(NovelClass(nodes, positions, score, f"closer to each other than to any label{guess}"))
        return tuple(groups)

    def _wrong_labels(self) -> tuple[Flag, ...]:
        if len(self.classes) < 2 or len(self.codes) < 2:
            return ()
        rows = held_out_probabilities(self.graph, self.model)
        counts = np.bincount(self.codes, minlength=len(self.classes))
        best = np.where(counts[self.codes] == 1, self.codes, rows.argmax(axis=1))

        def reason(place: int) -> str:
            code, other = int(self.codes[place]), int(best[place])
            if counts[code] == 1:
                return f"the only label of class {self.classes[code]}, so there is nothing to compare it with"
            label = f"labelled {self._class(code, rows[place])}"
            if other == code:
                return f"{label}, and the other labels agree"
            return f"{label}, but the other labels suggest {self._class(other, rows[place])}"

        def suggestion(place: int) -> Hashable:
            return None if best[place] == self.codes[place] else self.classes[int(best[place])]

        own = rows[np.arange(len(rows)), self.codes]
        scores = np.where(counts[self.codes] == 1, 0.0, 1 - own)
        return self._flags(self.labelled, scores, reason, suggestion, complete=True)

    def _flags(
        self,
        positions: NDArray[np.intp],
        scores: NDArray[np.floating],
        reason: Callable[[int], str],
        suggestion: Callable[[int], Hashable] = lambda _: None,
        *,
        complete: bool = False,
    ) -> tuple[Flag, ...]:
        """Return the nodes with the highest scores above 0, or all if the list is complete, highest first."""
        order = np.argsort(-scores, kind="stable")
        order = order if complete else order[scores[order] > 0][: self.limit]
        nodes = self.graph.ids[positions[order]].tolist()
        return tuple(
            Flag(node, int(positions[place]), float(scores[place]), reason(place), suggestion(place))
            for node, place in zip(nodes, order.tolist(), strict=True)
        )

    def _class(self, code: int, shares: NDArray[np.floating]) -> str:
        return f"{self.classes[code]} ({100 * shares[code]:.0f} %)"
