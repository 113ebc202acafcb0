"""Cross-validation of a model on the labels of a graph, as scikit-learn's `cross_validate` does on rows."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.graph import GraphLike, as_graph
from featprop.ids import sorted_classes
from featprop.models.base import DEFAULT_MODEL, NodeClassifier, clone, get_model, labelled_nodes


def cross_validate(
    graph: GraphLike,
    labels: Mapping[Hashable, Hashable] | None = None,
    model: NodeClassifier | None = None,
    *,
    cv: int = 5,
    random_state: int = 0,
) -> dict[str, NDArray[np.float64]]:
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

    Returns
    -------
    dict
        ``test_score``, ``fit_time`` and ``score_time``, with one entry per fold, as in scikit-learn.
    """
    graph = as_graph(graph)
    positions, names = labelled_nodes(graph, None, labels)
    if not 2 <= cv <= len(names):
        message = f"`cv` must be from 2 to the number of labels, {len(names):,}, not {cv}."
        raise ParameterError(message, parameter="cv", value=cv)
    model = get_model(DEFAULT_MODEL) if model is None else model
    nodes, bare = graph.ids[positions].tolist(), graph.without_labels()
    folds = _random_folds(names, cv, random_state)
    results: dict[str, list[float]] = {"fit_time": [], "score_time": [], "test_score": []}
    for fold in range(cv):
        train, test = ({nodes[i]: names[i] for i in np.flatnonzero(part)} for part in (folds != fold, folds == fold))
        started = time.perf_counter()
        fitted = clone(model).fit(bare, train, cold_start=True)
        between = time.perf_counter()
        results["test_score"].append(fitted.score(bare, test))
        results["fit_time"].append(between - started)
        results["score_time"].append(time.perf_counter() - between)
    return {name: np.array(values) for name, values in results.items()}


def _random_folds(names: list[Hashable], cv: int, random_state: int) -> NDArray[np.intp]:
    """Return the fold of each label; the labels of a class are spread evenly."""
    code_of = {name: code for code, name in enumerate(sorted_classes(names))}
    codes = np.array([code_of[name] for name in names])
    order = np.random.default_rng(random_state).permutation(len(names))
    order = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(names), dtype=np.intp)
    folds[order] = np.arange(len(names)) % cv
    return folds
