"""What to distrust: predictions, labels and blank spots that a person should look at."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.evaluate.doubt import Doubt, worst_first
from featprop.evaluate.unreached import unreached_components
from featprop.evaluate.unseen import UnseenGroup, classes_apart, holes
from featprop.evaluate.unsure import contradiction, neighbours_say, unsureness_of
from featprop.evaluate.wrong_labels import wrong_labels
from featprop.graph import Graph
from featprop.html import card, grid
from featprop.models import NodeClassifier
from featprop.propagation import Coverage, Propagation, covered
from featprop.sources import GraphLike

__all__ = ["Doubts", "doubts", "doubts_of"]

LIMIT = 20
"""Nodes that a list holds at most, unless said otherwise."""
SHOWN = 5
"""Nodes of each list that a notebook shows."""
TITLES = {
    "least_sure": "least sure",
    "contradicted": "contradicted by neighbours",
    "far": "far from every label",
    "unreached": "components without a label",
    "unseen": "classes perhaps never seen",
    "wrong_labels": "labels that look wrong",
}


@dataclass(frozen=True, eq=False, repr=False)
class Doubts:
    """Lists of what to look at again, the most doubtful first. Labelled nodes are in the last one only.

    Attributes
    ----------
    least_sure
        Predictions the model is least sure of; the score is the probability that they are wrong.
    contradicted
        Predictions that the neighbours contradict: more of them are of another class.
    far
        Nodes far from every label, by their distance to the nearest.
    unreached
        Connected parts of the graph without a label, the largest first: the node of each with the most neighbours,
        the score is the number of nodes.
    unseen
        Groups of nodes that are probably of a class no label is of.
    wrong_labels
        All labels, those first that the other labels speak most against; the score is one less the probability of the
        given class without that label, and 0 of the only label of a class. They are few, so there is no limit.
    """

    least_sure: tuple[Doubt, ...] = ()
    contradicted: tuple[Doubt, ...] = ()
    far: tuple[Doubt, ...] = ()
    unreached: tuple[Doubt, ...] = ()
    unseen: tuple[UnseenGroup, ...] = ()
    wrong_labels: tuple[Doubt, ...] = ()

    def __str__(self) -> str:
        parts = []
        for name, title in TITLES.items():
            listed = getattr(self, name)
            parts += [f"{title}: {len(listed):,}" + (f", first {listed[0]}" if listed else "")]
        return "\n".join(parts)

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(getattr(self, each.name)):,} {each.name}" for each in fields(self))
        return f"Doubts({counts})"

    def _repr_html_(self) -> str:
        facts = [(title, f"{len(getattr(self, name)):,}") for name, title in TITLES.items()]
        tables = [
            f"<p>{title}</p>" + grid(["node", "why"], [_cells(each) for each in getattr(self, name)[:SHOWN]])
            for name, title in TITLES.items()
            if getattr(self, name)
        ]
        return card("Doubts", facts, *tables)


def _cells(doubt: Doubt | UnseenGroup) -> tuple[object, str]:
    return (doubt.medoid if isinstance(doubt, UnseenGroup) else doubt.node), doubt.why


def doubts(graph: GraphLike, model: NodeClassifier, limit: int = LIMIT) -> Doubts:
    """List what to distrust in the predictions of a model and in the labels it was trained on.

    Nothing is known but the graph and these labels; how often the lists are right is measured in
    docs/how-good-measured.md. A model that does not say what its labels would have got without themselves (any but
    `GraphRidge`) is fitted ten times.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path.
    model
        A fitted model. Where it was trained on another graph, there are no labels to compare with, and only
        `least_sure` and `contradicted` are filled.
    limit
        How many nodes a list holds at most.
    """
    if limit < 1:
        raise ParameterError("limit", "must be at least 1", limit, "pass another number")
    return _Looking(model.fitting(graph), model, limit).all()


def doubts_of(graph: Graph, model: NodeClassifier, reached: Coverage) -> Doubts:
    """List what to distrust, of the graph the model was fitted to and a coverage by its labels that is there already.

    Parameters
    ----------
    graph, model
        As in `doubts`.
    reached
        How far each node is from the nearest label, of the labels in the order of ``model.labelled_``.
    """
    return _Looking(graph, model, LIMIT, reached).all()


class _Looking:
    """One look at a graph, checked already: what several lists need is computed once."""

    def __init__(self, graph: Graph, model: NodeClassifier, limit: int, reached: Coverage | None = None) -> None:
        self.graph, self.model, self.limit, self.reached = graph, model, limit, reached
        self.probabilities = model.predict_proba(graph)
        self.best = self.probabilities.argmax(axis=1)
        given = model.given_in(graph)
        self.labelled = graph.positions(given)
        code_of = {name: code for code, name in enumerate(model.classes_)}
        self.codes = np.array([code_of[name] for name in given.values()], dtype=np.intp)
        self.others = np.setdiff1d(graph.candidate_positions, self.labelled)
        self.points = Propagation.of(graph).compared

    def all(self) -> Doubts:
        several = len(self.model.classes_) > 1
        sure = (self.least_sure(), self.contradicted()) if several else ((), ())
        if not self.labelled.size:
            return Doubts(*sure)
        reached = covered(self.points, self.labelled) if self.reached is None else self.reached
        wrong = wrong_labels(self.graph, self.model)
        return Doubts(*sure, self.far(reached), self.unreached(), self.unseen(reached), wrong)

    def least_sure(self) -> tuple[Doubt, ...]:
        rows = self.probabilities[self.others]

        def why(place: int) -> str:
            second, first = np.argsort(rows[place], kind="stable")[-2:].tolist()
            return (
                f"{self._class(first)} ({rows[place, first]:.0%}) or {self._class(second)} ({rows[place, second]:.0%})"
            )

        return worst_first(self.graph, self.others, unsureness_of(rows), why, self.limit)

    def contradicted(self) -> tuple[Doubt, ...]:
        known = self.probabilities.copy()
        known[self.labelled] = np.eye(known.shape[1], dtype=known.dtype)[self.codes]
        said = neighbours_say(self.graph.adjacency, known)
        against = contradiction(said, self.probabilities)[self.others]
        around, rows = said.shares[self.others], self.probabilities[self.others]

        def why(place: int) -> str:
            own, other = int(rows[place].argmax()), int(around[place].argmax())
            theirs = f"{around[place, other]:.0%} {self._class(other)} and {around[place, own]:.0%} {self._class(own)}"
            return f"predicted {self._class(own)} ({rows[place, own]:.0%}), its neighbours are {theirs}"

        return worst_first(self.graph, self.others, against, why, self.limit)

    def far(self, reached: Coverage) -> tuple[Doubt, ...]:
        distances = reached.distances[self.others]
        usual = float(distances.mean(dtype=np.float64)) if distances.size else 0.0

        def why(place: int) -> str:
            nearest = int(reached.nearest[self.others[place]])
            label = f"{self._id(int(self.labelled[nearest]))!r}, {self._class(int(self.codes[nearest]))}"
            return f"the nearest label ({label}) is {distances[place] / usual:.1f} times as far as that of a usual node"

        return worst_first(self.graph, self.others, distances, why, self.limit)

    def unreached(self) -> tuple[Doubt, ...]:
        found = unreached_components(self.graph, self.labelled)

        def why(place: int) -> str:
            size = int(found.sizes[place])
            return f"one of {size:,} connected nodes without a label" if size > 1 else "it has no edge and no label"

        return worst_first(self.graph, found.positions, found.sizes.astype(np.float64), why, self.limit)

    def unseen(self, reached: Coverage) -> tuple[UnseenGroup, ...]:
        several = len(self.model.classes_) > 1
        unsure = unsureness_of(self.probabilities) if several else np.ones(self.graph.n_nodes, dtype=np.float32)
        known = np.asarray(Propagation.of(self.graph).features("diffused").any(axis=1))
        apart = classes_apart(self.points, self.labelled, self.codes)
        found = holes(self.points, reached.distances, unsure, known, apart)
        return tuple(self._group(hole.positions, hole.score, unsure) for hole in found[: self.limit])

    def _group(self, positions: NDArray[np.intp], score: float, unsure: NDArray[np.float32]) -> UnseenGroup:
        nodes = tuple(self.graph.ids[positions].tolist())
        most = int(np.bincount(self.best[positions]).argmax())
        sure = 1 - float(unsure[positions].mean(dtype=np.float64))
        guess = f", predicted mostly {self._class(most)}, {sure:.0%} sure" if len(self.model.classes_) > 1 else ""
        why = f"nearer to each other than to any label{guess}: label one of them to see what they are"
        return UnseenGroup(nodes, positions, len(nodes), nodes[0], score, why)

    def _class(self, code: int) -> Hashable:
        return self.model.classes_[code]

    def _id(self, position: int) -> Hashable:
        found: Hashable = self.graph.ids[[position]].tolist()[0]
        return found
