"""Score a model on an audit."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.errors import LabelError, first_five
from featprop.evaluate.intervals import Interval, wilson_interval
from featprop.evaluate.macro_f1 import macro_f1_from_confusion, macro_f1_interval
from featprop.graph import Graph, GraphLike, as_graph
from featprop.html import card, grid
from featprop.ids import is_missing
from featprop.models import NodeClassifier

MIN_CLASS_NODES = 5
"""Audit nodes of a class, and predicted as it, needed for its recall and precision."""


@dataclass(frozen=True)
class ClassScore:
    """Recall and precision of one class."""

    name: Hashable
    count: int  # number of audit nodes of the class
    recall: Interval
    precision: Interval


@dataclass(frozen=True, repr=False)
class AuditScore:
    """Score of a model on an audit.

    Attributes
    ----------
    accuracy, macro_f1
        Accuracy and Macro-F1 over all unlabelled nodes, with 90 % intervals; exact if all of them are audited.
    classes
        Recall and precision of the classes with enough audit nodes.
    size
        Number of labelled audit nodes.
    to_halve
        Number of further audit nodes that would halve the accuracy interval.
    """

    accuracy: Interval
    macro_f1: Interval
    classes: tuple[ClassScore, ...]
    size: int
    to_halve: int

    def __str__(self) -> str:
        audit = f"from an audit of {self.size:,} node{'' if self.size == 1 else 's'}"
        if not self.to_halve:
            exact = f"Accuracy {100 * self.accuracy.value:.0f} %, Macro-F1 {100 * self.macro_f1.value:.0f} %"
            return f"{exact}, {audit} that covers every unlabelled node."
        width = f"{100 * self.accuracy.width:.0f} points wide"
        return (
            f"Accuracy {self.accuracy}, Macro-F1 {self.macro_f1}, {audit} (90 % intervals). "
            f"The accuracy interval is {width}; {self.to_halve:,} more audit nodes would halve it."
        )

    def __repr__(self) -> str:
        return f"AuditScore(accuracy {self.accuracy}, Macro-F1 {self.macro_f1}, {self.size:,} nodes)"

    def _repr_html_(self) -> str:
        facts = [
            ("accuracy", self.accuracy),
            ("Macro-F1", self.macro_f1),
            ("audit nodes", f"{self.size:,}"),
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
    """Estimate the accuracy of a model on all unlabelled nodes from the labels of a random sample.

    Parameters
    ----------
    graph
        A `Graph`, a PyG `Data`, a NetworkX graph or a path.
    model
        Fitted model that has not learnt from the audit nodes.
    audit
        Class of each audit node, by id.
    weights
        Sampling weights (`AuditSample.weight_of`); equal by default.
    """
    whole = as_graph(graph)
    codes = model.decision_function(whole).argmax(axis=1)
    return score_predictions(whole, model.class_names_, codes, model.training_labels_in(whole), audit, weights)


def score_predictions(
    graph: Graph,
    classes: Sequence[Hashable],
    predicted: NDArray[np.integer],
    learnt: Collection[Hashable],
    audit: Mapping[Hashable, Hashable],
    weights: Mapping[Hashable, float] | None = None,
) -> AuditScore:
    """Score the predictions (indices into `classes`) of a model that `learnt` from these nodes, like `score_audit`."""
    positions = _audit_positions(graph, audit, learnt)
    names = list(dict.fromkeys([*classes, *audit.values()]))
    code_of = {name: code for code, name in enumerate(names)}
    unlabelled = np.zeros(graph.n_nodes, dtype=bool)
    unlabelled[graph.candidate_positions] = True
    unlabelled[graph.positions(learnt)] = False
    guesses, truths = predicted[positions], np.array([code_of[name] for name in audit.values()], dtype=np.intp)
    open_ = int(unlabelled.sum())
    is_whole = len(audit) >= open_
    shares = _audit_weights(audit, weights)
    shares = np.ones(len(audit)) if is_whole else shares
    counts = _counts(guesses, truths, shares, len(names))
    of_predicted = np.bincount(predicted[unlabelled], minlength=len(names))
    accuracy = _population_share(guesses == truths, shares, open_)
    scores = []
    for code, name in enumerate(names):
        is_of, is_predicted = truths == code, guesses == code
        if min(is_of.sum(), is_predicted.sum()) >= MIN_CLASS_NODES:
            recall = _share(is_predicted[is_of], shares[is_of], is_whole)
            precision = _share(is_of[is_predicted], shares[is_predicted], is_whole)
            scores.append(ClassScore(name, int(is_of.sum()), recall, precision))
    return AuditScore(
        accuracy,
        _exact(float(macro_f1_from_confusion(counts))) if is_whole else macro_f1_interval(counts, of_predicted),
        tuple(sorted(scores, key=lambda score: -score.count)),
        len(audit),
        _nodes_to_halve(accuracy, effective_size(shares), len(audit), open_),
    )


def _audit_positions(graph: Graph, audit: Mapping[Hashable, Hashable], learnt: Iterable[Hashable]) -> NDArray[np.intp]:
    """Check an audit and return the positions of its nodes."""
    if not audit:
        raise LabelError("The audit has no labels.", hint="Label its nodes first.", parameter="audit")
    missing = [node for node, label in audit.items() if is_missing(label)]
    if missing:
        raise LabelError(
            f"The audit has no class for {first_five(list(map(repr, missing)))}.",
            hint="Leave these nodes out.",
            parameter="audit",
            node=missing[0],
        )
    both = sorted(map(repr, set(audit) & set(learnt)))
    if both:
        raise LabelError(
            f"The model was trained on audit nodes: {first_five(both)}.",
            hint="Train it without them, or draw other nodes.",
            parameter="audit",
        )
    return graph.positions(audit, "audit nodes")


def _audit_weights(audit: Mapping[Hashable, Hashable], weights: Mapping[Hashable, float] | None) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(len(audit))
    without = [node for node in audit if not weights.get(node, 0) > 0 or not math.isfinite(weights[node])]
    if without:
        message = (
            f"`weights` must be above 0 for every audit node, but is not for {first_five(list(map(repr, without)))}."
        )
        raise LabelError(
            message, hint="Pass the weights that were drawn with the audit.", parameter="weights", node=without[0]
        )
    return np.array([float(weights[node]) for node in audit])


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return the effective sample size of Kish (1965): (Σw)² / Σw²."""
    return float(weights.sum() ** 2 / np.square(weights).sum())


def _share(is_so: NDArray[np.bool_], weights: NDArray[np.float64], is_whole: bool) -> Interval:
    share = min(1.0, float(weights[is_so].sum() / weights.sum()))
    return _exact(share) if is_whole else wilson_interval(share, effective_size(weights))


def _exact(value: float) -> Interval:
    return Interval(value, value, value)


def _counts(
    guesses: NDArray[np.integer], truths: NDArray[np.intp], weights: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Return the confusion matrix of the audit, each row scaled to its effective sample size."""
    counts = np.zeros((n, n))
    np.add.at(counts, (guesses, truths), weights)
    for guess in np.unique(guesses).tolist():
        row = weights[guesses == guess]
        counts[guess] *= effective_size(row) / row.sum()
    return counts


def _population_share(is_so: NDArray[np.bool_], weights: NDArray[np.float64], population: int) -> Interval:
    """Return a share of a finite population, which is exact if all of it was drawn."""
    is_whole = len(weights) >= population
    found = _share(is_so, weights, is_whole)
    return (
        found
        if is_whole
        else wilson_interval(found.value, _equivalent_draws(effective_size(weights), len(weights), population))
    )


def _equivalent_draws(effective: float, size: int, population: int) -> float:
    """Return the equivalent number of draws from an infinite population: n (N - 1) / (N - n)."""
    return effective * (population - 1) / (population - size)


def _nodes_to_halve(accuracy: Interval, effective: float, size: int, population: int) -> int:
    """Return the number of further nodes that halve the interval if the accuracy stays the same."""
    none, enough = 0, population - size
    while enough - none > 1:
        middle = (none + enough) // 2
        grown, is_wide = (size + middle) / size * effective, False
        if size + middle < population:
            draws = _equivalent_draws(grown, size + middle, population)
            is_wide = wilson_interval(accuracy.value, draws).width > accuracy.width / 2
        none, enough = (middle, enough) if is_wide else (none, middle)
    return max(enough, 0)
