"""Ten-fold cross-validation of a model on its labels, stratified by class.

A model that keeps its held-out probabilities (`held_out_proba_`), as the default does, does not need it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from featprop.errors import LabelError
from featprop.graph import Graph
from featprop.models import NodeClassifier
from featprop.models.base import clone
from featprop.models.cross_validation import stratified_folds
from featprop.progress import tracked
from featprop.propagation import Propagation


class CrossValidation(NamedTuple):
    """Labels of a model, in the order of ``model.labelled_``, and their held-out scores."""

    positions: NDArray[np.intp]
    codes: NDArray[np.intp]  # indices into model.class_names_
    scores: NDArray[np.float64]  # one row per label; minus infinity for a class without another label

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the model predicts the class of each label."""
        return np.asarray(self.scores.argmax(axis=1) == self.codes)


def training_labels(graph: Graph, model: NodeClassifier) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of the nodes that a model learnt from, and the codes of their classes."""
    given = model.training_labels_in(graph)
    code_of = {name: code for code, name in enumerate(model.class_names_)}
    return graph.positions(given), np.array([code_of[name] for name in given.values()], dtype=np.intp)


def cross_validate(graph: Graph, model: NodeClassifier) -> CrossValidation:
    """Train on nine tenths of the labels of a fitted model ten times and return the scores of the others."""
    positions, codes = training_labels(graph, model)
    nodes, names = graph.ids[positions].tolist(), [model.class_names_[code] for code in codes.tolist()]
    if len(set(names)) < 2:
        raise LabelError(
            f"Cross-validation needs labels of at least two classes; there are {len(names):,} of one.",
            hint="Label more nodes.",
            parameter="model",
            value=len(names),
        )
    code_of = {name: code for code, name in enumerate(model.class_names_)}
    scores = np.full((len(names), len(model.class_names_)), -np.inf)
    fold_of = stratified_folds(nodes, codes)
    n_folds = int(fold_of.max()) + 1
    bare = graph.without_labels()
    propagation = Propagation.of(bare)
    for fold in tracked(range(n_folds), "cross-validating", n_folds):
        out, others = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
        kept = [names[label] for label in others]
        trained = clone(model).fit(bare, [nodes[label] for label in others], kept, cold_start=True)
        columns = np.array([code_of[name] for name in trained.class_names_], dtype=np.intp)
        held_out = trained.scores_at(propagation, positions[out]) if len(columns) > 1 else np.zeros((len(out), 1))
        scores[np.ix_(out, columns)] = held_out
    return CrossValidation(positions, codes, scores)


def held_out_probabilities(graph: Graph, model: NodeClassifier) -> NDArray[np.float32]:
    """Return the held-out class probabilities of each label, in the order of ``model.training_labels_in(graph)``.

    They come from the model's own cross-validation (`held_out_proba_`) or else from ten new fits, in which a class with
    few labels may be missing and has the probability 0.
    """
    if model.held_out_proba_ is None:
        return np.asarray(softmax(cross_validate(graph, model).scores, axis=1), dtype=np.float32)
    place_of = {node: place for place, node in enumerate(model.labelled_)}
    return model.held_out_proba_[[place_of[node] for node in model.training_labels_in(graph)]]
