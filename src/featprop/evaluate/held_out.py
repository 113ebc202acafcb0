"""What a model says of a label that it has not seen: ten folds, each left out once, with a fresh model of the others.

Each fold has as many labels of each class as the next, as far as that goes.

A model that keeps what its own cross-validation said (`held_out_proba_`), as the default does, needs none of this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.errors import LabelError
from featprop.graph import Graph
from featprop.models import NodeClassifier
from featprop.models.base import clone
from featprop.models.folds import stratified_folds
from featprop.progress import tracked
from featprop.propagation import Propagation

__all__ = ["HeldOut", "held_out"]


class HeldOut(NamedTuple):
    """The labels of a model, and what it says of each without having seen it.

    Attributes
    ----------
    positions
        Of the labelled nodes, in the order of ``model.labelled_``.
    codes
        Their classes, indices into ``model.class_names_``.
    scores
        Scores of each class, one row per label; minus infinity for a class that no other label has.
    """

    positions: NDArray[np.intp]
    codes: NDArray[np.intp]
    scores: NDArray[np.float64]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the model names the class of each label."""
        return np.asarray(self.scores.argmax(axis=1) == self.codes)


def held_out(graph: Graph, model: NodeClassifier) -> HeldOut:
    """Train on nine tenths of the labels, ten times, and return the scores of the others.

    Parameters
    ----------
    graph
        The graph that the model was fitted to.
    model
        A fitted model; those that are trained here have its settings.
    """
    given = model.training_labels_in(graph)
    positions, names = graph.positions(given), list(given.values())
    code_of = {name: code for code, name in enumerate(model.class_names_)}
    if len(set(names)) < 2:
        given_are = f"{len(names):,} of {len(set(names))}"
        raise LabelError("Labels to judge a model by", "must be of two classes at least", given_are, "label more nodes")
    codes = np.array([code_of[name] for name in names], dtype=np.intp)
    scores = np.full((len(names), len(model.class_names_)), -np.inf)
    fold_of = stratified_folds(list(given), codes)
    n_folds = int(fold_of.max()) + 1
    bare = graph.without_labels()
    propagation = Propagation.of(bare)
    for fold in tracked(range(n_folds), "judging by labels left out", n_folds):
        out, others = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
        kept = [names[label] for label in others]
        trained = clone(model).fit(bare, graph.ids[positions[others]].tolist(), kept, cold_start=True)
        columns = np.array([code_of[name] for name in trained.class_names_], dtype=np.intp)
        told = trained.scores_at(propagation, positions[out]) if len(columns) > 1 else np.zeros((len(out), 1))
        scores[np.ix_(out, columns)] = told
    return HeldOut(positions, codes, scores)
