"""What each label would have got without itself: by leave-one-out where the model says it, else in ten folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.models import NodeClassifier

__all__ = ["left_out_probabilities"]

FOLDS = 10


def left_out_probabilities(graph: Graph, model: NodeClassifier) -> NDArray[np.float32]:
    """Return the probability of each class that each label would have got without itself.

    A model that does not say (`left_out_`) is fitted ten times anew, each time without a tenth of the labels of each
    class: a class that has few labels may be missing then, and has the probability 0.

    Parameters
    ----------
    graph
        The graph, with features as the model knows them.
    model
        A fitted model with two labels at least in this graph.

    Returns
    -------
    ndarray of float32, shape (labels, classes)
        A row a label in the order of `model.given_in(graph)`.
    """
    given = model.given_in(graph)
    if model.left_out_ is not None:
        place_of = {node: place for place, node in enumerate(model.labelled_)}
        return model.left_out_[[place_of[node] for node in given]]
    nodes, names, positions = list(given), list(given.values()), graph.positions(given)
    code_of = {name: code for code, name in enumerate(model.classes_)}
    codes = np.array([code_of[name] for name in names], dtype=np.intp)
    found = np.zeros((len(nodes), len(model.classes_)), dtype=np.float32)
    folds = np.empty(len(nodes), dtype=np.intp)
    folds[np.argsort(codes, kind="stable")] = np.arange(len(nodes)) % FOLDS
    for fold in np.unique(folds):
        out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        fitted = model.fresh().fit_or_start(graph, [nodes[place] for place in rest], [names[place] for place in rest])
        columns = np.array([code_of[name] for name in fitted.classes_], dtype=np.intp)
        found[np.ix_(out, columns)] = fitted.predict_proba(graph)[positions[out]]
    return found
