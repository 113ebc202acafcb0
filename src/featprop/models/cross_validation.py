"""Stratified folds of labels, and cross-validation as scikit-learn's `cross_val_score` does it on rows."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.graph import GraphLike, as_graph
from featprop.ids import name_to_text, sorted_classes
from featprop.models.base import DEFAULT_MODEL, NodeClassifier, clone, get_model, labelled_nodes

MAX_FOLDS = 10


def cross_val_score(
    graph: GraphLike,
    labels: Mapping[Hashable, Hashable] | None = None,
    model: NodeClassifier | None = None,
    *,
    cv: int = 5,
    random_state: int = 0,
) -> NDArray[np.float64]:
    """Return the accuracy of a model on each of `cv` stratified folds of the labels.

    Every fit sees the whole graph and the labels of the other folds. Selected nodes are not a random sample, so the
    accuracy on them may differ from that on the other nodes (see `featprop.evaluate.estimate`).

    Parameters
    ----------
    graph
        A `Graph`, a PyG `Data`, a NetworkX graph or a path.
    labels
        Class of each labelled node, by id; by default, the labels of the graph.
    model
        Model to train, which is not modified; by default, `featprop.GraphRidge`.
    cv
        Number of folds.
    random_state
        Seed of the assignment of labels to folds.
    """
    graph = as_graph(graph)
    positions, names = labelled_nodes(graph, None, labels)
    if not 2 <= cv <= len(names):
        message = f"`cv` must be from 2 to the number of labels, {len(names):,}, not {cv}."
        raise ParameterError(message, parameter="cv", value=cv)
    model = get_model(DEFAULT_MODEL) if model is None else model
    nodes, bare = graph.ids[positions].tolist(), graph.without_labels()
    code_of = {name: code for code, name in enumerate(sorted_classes(names))}
    folds = stratified_folds(nodes, np.array([code_of[name] for name in names]), cv, random_state)
    scores = []
    for fold in range(cv):
        train, test = ({nodes[i]: names[i] for i in np.flatnonzero(part)} for part in (folds != fold, folds == fold))
        scores.append(clone(model).fit(bare, train, cold_start=True).score(bare, test))
    return np.array(scores)


def stratified_folds(
    nodes: Sequence[Hashable], codes: NDArray[np.integer], n_folds: int = MAX_FOLDS, seed: int = 0
) -> NDArray[np.intp]:
    """Return the fold of each label, 0 to `n_folds` - 1 or one fold per label if there are fewer.

    Labels of a class are spread over as many folds as they can be. Which fold a node falls into follows from a digest
    of its id, so the folds are the same in whatever order the labels are listed.
    """
    salt = f"{seed} " if seed else ""
    digests = [hashlib.blake2b(f"{salt}{_text(node)}".encode(), digest_size=8).digest() for node in nodes]
    order = sorted(range(len(nodes)), key=lambda place: (codes[place], digests[place]))
    folds = np.empty(len(nodes), dtype=np.intp)
    folds[order] = np.arange(len(nodes)) % min(n_folds, len(nodes))
    return folds


def _text(node: Hashable) -> str:
    """Return a text that identifies a node: its JSON form, or its `repr` if it has none."""
    try:
        return name_to_text(node)
    except ParameterError:
        return repr(node)
