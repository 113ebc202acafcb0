"""Score a model on an audit."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.errors import LabelError, first_five
from featprop.evaluate.intervals import Interval, wilson_interval
from featprop.evaluate.macro_f1 import macro_f1_from_confusion, macro_f1_interval
from featprop.graph import Graph, GraphLike, as_graph
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


@dataclass(frozen=True)
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
    size, population = len(audit), int(unlabelled.sum())
    is_whole = size >= population
    shares = np.ones(size) if is_whole else _audit_weights(audit, weights)
    counts = _counts(guesses, truths, shares, len(names))
    of_predicted = np.bincount(predicted[unlabelled], minlength=len(names))

    def share_of(is_so: NDArray[np.bool_], among: NDArray[np.bool_]) -> Interval:
        drawn = shares[among]
        n_draws = math.inf if is_whole else effective_size(drawn)
        return wilson_interval(_share(is_so[among], drawn), n_draws)

    n_draws = _equivalent_draws(effective_size(shares), size, population)
    accuracy = wilson_interval(_share(guesses == truths, shares), n_draws)
    macro_f1 = float(macro_f1_from_confusion(counts))
    scores = []
    for code, name in enumerate(names):
        is_of, is_predicted = truths == code, guesses == code
        if min(is_of.sum(), is_predicted.sum()) >= MIN_CLASS_NODES:
            recall, precision = share_of(is_predicted, is_of), share_of(is_of, is_predicted)
            scores.append(ClassScore(name, int(is_of.sum()), recall, precision))
    return AuditScore(
        accuracy,
        wilson_interval(macro_f1, math.inf) if is_whole else macro_f1_interval(counts, of_predicted),
        tuple(sorted(scores, key=lambda score: -score.count)),
        size,
        _nodes_to_halve(accuracy, effective_size(shares), size, population),
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


def _share(is_so: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    return min(1.0, float(weights[is_so].sum() / weights.sum()))


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


def _equivalent_draws(effective: float, size: int, population: int) -> float:
    """Return the equivalent number of draws from an infinite population: n (N - 1) / (N - n)."""
    return math.inf if size >= population else effective * (population - 1) / (population - size)


def _nodes_to_halve(accuracy: Interval, effective: float, size: int, population: int) -> int:
    """Return the number of further nodes that halve the interval if the accuracy stays the same."""

    def is_enough(more: int) -> bool:
        n_draws = _equivalent_draws((size + more) / size * effective, size + more, population)
        return wilson_interval(accuracy.value, n_draws).width <= accuracy.width / 2

    return bisect_left(range(max(0, population - size)), True, key=is_enough)
