"""Return held-out probabilities of labels: those the model kept of its own cross-validation, else from ten folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from featprop.evaluate.held_out import held_out
from featprop.graph import Graph
from featprop.models import NodeClassifier

__all__ = ["left_out_probabilities"]


def left_out_probabilities(graph: Graph, model: NodeClassifier) -> NDArray[np.float32]:
    """Return the probability of each class that each label would have got without itself.

    A model without `held_out_proba_` is fitted ten times, each time without a tenth of the labels: a class with few
    labels may be missing then, and has the probability 0.

    Parameters
    ----------
    graph
        The graph, with features as the model knows them.
    model
        A fitted model with two labels at least in this graph.

    Returns
    -------
    ndarray of float32, shape (labels, classes)
        A row a label in the order of `model.training_labels_in(graph)`.
    """
    if model.held_out_proba_ is None:
        return np.asarray(softmax(held_out(graph, model).scores, axis=1), dtype=np.float32)
    place_of = {node: place for place, node in enumerate(model.labelled_)}
    return model.held_out_proba_[[place_of[node] for node in model.training_labels_in(graph)]]
