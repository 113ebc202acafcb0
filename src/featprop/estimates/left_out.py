"""What each label would have got without itself: by leave-one-out where the model says it, else in ten folds."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.models import NodeClassifier

__all__ = ["left_out_probabilities"]

FOLDS = 10


def left_out_probabilities(graph: Graph, model: NodeClassifier) -> NDArray[np.float32]:
    """Return the probability of each class that each label would have got without itself.

    A model that does not say (`left_out_`) is fitted ten times anew, each time without every tenth label of each class.

    Parameters
    ----------
    graph
        The graph that holds the nodes the model was trained on.
    model
        A fitted model with two labels at least.

    Returns
    -------
    ndarray of float32, shape (labels, classes)
        A row a label in the order of `labelled_`.
    """
    if model.left_out_ is not None:
        return model.left_out_
    names = list(model.labelled_.values())
    code_of = {name: code for code, name in enumerate(model.classes_)}
    codes = np.array([code_of[name] for name in names], dtype=np.intp)
    nodes: list[Hashable] = list(model.labelled_)
    found = np.zeros((len(nodes), len(model.classes_)), dtype=np.float32)
    folds = np.empty(len(nodes), dtype=np.intp)
    folds[np.argsort(codes, kind="stable")] = np.arange(len(nodes)) % FOLDS
    for fold in np.unique(folds):
        out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        fitted = model.fresh().fit_or_start(graph, [nodes[i] for i in rest], [names[i] for i in rest])
        columns = np.array([code_of[name] for name in fitted.classes_], dtype=np.intp)
        positions = graph.positions([nodes[i] for i in out])
        found[np.ix_(out, columns)] = fitted.predict_proba(graph)[positions]
    return found
