"""What an audit says: how good a model is on the nodes that nobody has labelled, and how surely that is known."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.errors import LabelError, first_five
from featprop.evaluate.intervals import Interval, wilson
from featprop.evaluate.macro_f1 import macro_f1_interval, macro_f1_of
from featprop.graph import Graph
from featprop.html import card, grid
from featprop.models import NodeClassifier
from featprop.plain import is_missing
from featprop.sources import GraphLike, as_graph

__all__ = ["AuditScore", "ClassScore", "score_audit", "score_predictions"]

ENOUGH = 5
"""Nodes of a class, and nodes predicted as it, from which on an interval says something of it."""


@dataclass(frozen=True)
class ClassScore:
    """How good a model is at one class.

    Attributes
    ----------
    name
        The class.
    count
        How many nodes of the audit are of it.
    recall
        Of the nodes that are of it, the share that is predicted so.
    precision
        Of the nodes that are predicted so, the share that is of it.
    """

    name: Hashable
    count: int
    recall: Interval
    precision: Interval


@dataclass(frozen=True, repr=False)
class AuditScore:
    """How good a model is on the nodes without a label, by an audit.

    Attributes
    ----------
    accuracy, macro_f1
        With the intervals that hold them in nine cases of ten; exact if every node without a label is in the audit.
    classes
        Recall and precision of the classes that are in the audit, and predicted in it, often enough.
    size
        How many nodes of the audit have a label.
    to_halve
        How many more would make the interval of the accuracy half as wide; no more than there are.
    """

    accuracy: Interval
    macro_f1: Interval
    classes: tuple[ClassScore, ...]
    size: int
    to_halve: int

    def __str__(self) -> str:
        audit = f"by an audit of {self.size:,} node{'' if self.size == 1 else 's'}"
        if not self.to_halve:
            exactly = f"Accuracy {self.accuracy.value:.0%}, Macro-F1 {self.macro_f1.value:.0%}"
            return f"{exactly}, {audit}; nothing is estimated, every node is checked."
        return (
            f"Accuracy {self.accuracy}, Macro-F1 {self.macro_f1}, {audit}; in 9 of 10 audits the interval holds the "
            f"true value. That of the accuracy is {100 * self.accuracy.width:.0f} points wide, {self.to_halve:,} more "
            "nodes would halve it."
        )

    def __repr__(self) -> str:
        return f"AuditScore(accuracy {self.accuracy}, Macro-F1 {self.macro_f1}, {self.size:,} nodes)"

    def _repr_html_(self) -> str:
        facts = [
            ("accuracy", self.accuracy),
            ("Macro-F1", self.macro_f1),
            ("nodes of the audit", f"{self.size:,}"),
            ("more nodes to halve the interval", f"{self.to_halve:,}"),
        ]
        rows = [(each.name, each.count, each.recall, each.precision) for each in self.classes]
        return card("AuditScore", facts, grid(["class", "nodes", "recall", "precision"], rows) if rows else "")


def score_audit(
    graph: GraphLike,
    model: NodeClassifier,
    audit: Mapping[Hashable, Hashable],
    weights: Mapping[Hashable, float] | None = None,
) -> AuditScore:
    """Say how good a model is on the nodes it has not learnt from, by the labels of nodes drawn at random.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path.
    model
        A fitted model, which must not have learnt from the nodes of the audit.
    audit
        The class of each node of the audit, by its id, as a person gave it.
    weights
        How many nodes each of them stands for (`AuditSample.weights`); if not given, all for as many.
    """
    whole = as_graph(graph)
    codes = model.decision_function(whole).argmax(axis=1)
    return score_predictions(whole, model.classes_, codes, model.given_in(whole), audit, weights)


def score_predictions(
    graph: Graph,
    classes: Sequence[Hashable],
    predicted: NDArray[np.integer],
    learnt: Collection[Hashable],
    audit: Mapping[Hashable, Hashable],
    weights: Mapping[Hashable, float] | None = None,
) -> AuditScore:
    """Say how good predictions are; other arguments are those of `score_audit`.

    Parameters
    ----------
    classes
        The classes that are told apart.
    predicted
        The class of every node of the graph, an index into them.
    learnt
        Ids of the nodes whose labels the predictions come from.
    """
    positions = _checked(graph, audit, learnt)
    names = list(dict.fromkeys([*classes, *audit.values()]))
    code_of = {name: code for code, name in enumerate(names)}
    unlabelled = np.zeros(graph.n_nodes, dtype=bool)
    unlabelled[graph.candidate_positions] = True
    unlabelled[graph.positions(learnt)] = False
    guesses, truths = predicted[positions], np.array([code_of[name] for name in audit.values()], dtype=np.intp)
    open_ = int(unlabelled.sum())
    is_whole = len(audit) >= open_
    shares = _checked_weights(audit, weights)
    shares = np.ones(len(audit)) if is_whole else shares
    counts = _counts(guesses, truths, shares, len(names))
    of_predicted = np.bincount(predicted[unlabelled], minlength=len(names))
    accuracy = _share_of(guesses == truths, shares, open_)
    scores = []
    for code, name in enumerate(names):
        is_of, is_predicted = truths == code, guesses == code
        if min(is_of.sum(), is_predicted.sum()) >= ENOUGH:
            recall = _share(is_predicted[is_of], shares[is_of], is_whole)
            precision = _share(is_of[is_predicted], shares[is_predicted], is_whole)
            scores.append(ClassScore(name, int(is_of.sum()), recall, precision))
    return AuditScore(
        accuracy,
        _exactly(float(macro_f1_of(counts))) if is_whole else macro_f1_interval(counts, of_predicted),
        tuple(sorted(scores, key=lambda score: -score.count)),
        len(audit),
        _to_halve(accuracy, effective(shares), len(audit), open_),
    )


def _checked(graph: Graph, audit: Mapping[Hashable, Hashable], learnt: Iterable[Hashable]) -> NDArray[np.intp]:
    """Return the positions of the nodes of an audit that can be scored."""
    if not audit:
        raise LabelError("An audit", "must have at least one label", "none", "label its nodes first")
    missing = [repr(node) for node, label in audit.items() if is_missing(label)]
    if missing:
        rule, found = "must have a class for every node", f"none for {first_five(missing)}"
        raise LabelError("An audit", rule, found, "leave these nodes out")
    both = set(audit) & set(learnt)
    if both:
        rule = "must be of nodes that the model has not learnt from"
        found = f"{first_five(sorted(map(repr, both)))} that it has"
        raise LabelError("An audit", rule, found, "train it without them, or draw other nodes")
    return graph.positions(audit, "nodes of the audit")


def _checked_weights(
    audit: Mapping[Hashable, Hashable], weights: Mapping[Hashable, float] | None
) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(len(audit))
    without = [repr(node) for node in audit if not weights.get(node, 0) > 0 or not math.isfinite(weights[node])]
    if without:
        rule, cure = "must be above 0 for every node of the audit", "pass those that were drawn with it"
        raise LabelError("weights", rule, f"none for {first_five(without)}", cure)
    return np.array([float(weights[node]) for node in audit])


def effective(weights: NDArray[np.float64]) -> float:
    """Return how many draws of equal weight tell as much, by Kish (1965): (Σw)² / Σw²."""
    return float(weights.sum() ** 2 / np.square(weights).sum())


def _share(is_so: NDArray[np.bool_], weights: NDArray[np.float64], is_whole: bool) -> Interval:
    share = min(1.0, float(weights[is_so].sum() / weights.sum()))
    return _exactly(share) if is_whole else wilson(share, effective(weights))


def _exactly(value: float) -> Interval:
    return Interval(value, value, value)


def _counts(
    guesses: NDArray[np.integer], truths: NDArray[np.intp], weights: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Count the audit by predicted and true class; where weights differ, as many in a row as tell the same."""
    counts = np.zeros((n, n))
    np.add.at(counts, (guesses, truths), weights)
    for guess in np.unique(guesses).tolist():
        row = weights[guesses == guess]
        counts[guess] *= effective(row) / row.sum()
    return counts


def _share_of(is_so: NDArray[np.bool_], weights: NDArray[np.float64], population: int) -> Interval:
    """Return a share of a population that the nodes drawn are a part of; nothing is unsure if they are all of it."""
    is_whole = len(weights) >= population
    found = _share(is_so, weights, is_whole)
    return found if is_whole else wilson(found.value, _draws(effective(weights), len(weights), population))


def _draws(effective_size: float, size: int, population: int) -> float:
    """Return how many draws from a very large population tell as much: n (N - 1) / (N - n)."""
    return effective_size * (population - 1) / (population - size)


def _to_halve(accuracy: Interval, effective_size: float, size: int, population: int) -> int:
    """Return how many more nodes make the interval half as wide, if as many of them are right."""
    none, enough = 0, population - size
    while enough - none > 1:
        middle = (none + enough) // 2
        grown = (size + middle) / size * effective_size
        if size + middle < population:
            is_wide = wilson(accuracy.value, _draws(grown, size + middle, population)).width > accuracy.width / 2
        else:
            is_wide = False
        none, enough = (middle, enough) if is_wide else (none, middle)
    return max(enough, 0)
