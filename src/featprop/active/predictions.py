"""Predictions as a table one can act on: what a person said stands, and what to doubt is said."""

from __future__ import annotations

import logging
import os
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from featprop.errors import LabelError, first_five
from featprop.graph import Graph
from featprop.io.prediction_files import write_prediction_table
from featprop.io.sheets import Place
from featprop.models import NodeClassifier
from featprop.propagation import coverage

__all__ = ["write_predictions"]

log = logging.getLogger(__name__)

NEARLY_ALL = 0.95
"""Of the nodes: a class predicted for so many is told, unless so many labels are of it nearly."""
MANY = 0.2
"""Of the labels: a model that contradicts so many is told, if they are three at least."""
FEWEST = 3


def write_predictions(
    path: str | os.PathLike[str] | BinaryIO, model: NodeClassifier, graph: Graph, *, force: bool = False
) -> None:
    """Write the class of every node, what a person had given, how sure the model is, and how far the next label is.

    A label that the model was trained on is the node's label, whatever the model says. What makes the predictions
    doubtful is in the log.

    Parameters
    ----------
    path
        The file, a ``.csv`` or ``.parquet``, or a stream open for bytes.
    model
        A fitted model.
    graph
        The graph, that of the training or another of the same features.
    force
        Write over what a person typed.
    """
    _check_told_apart(model.class_names_)
    place: Place = Path(path) if isinstance(path, str | os.PathLike) else path
    given = np.full(graph.n_nodes, -1, dtype=np.intp)
    known = model.training_labels_in(graph)
    code_of = {name: code for code, name in enumerate(model.class_names_)}
    labelled = graph.positions(known)
    given[labelled] = [code_of[name] for name in known.values()]
    best: list[NDArray[np.intp]] = []

    def blocks() -> Iterator[NDArray[np.float32]]:
        for probabilities in model.probability_blocks(graph):
            best.append(probabilities.argmax(axis=1))
            yield probabilities

    write_prediction_table(
        place,
        graph.ids,
        model.class_names_,
        blocks(),
        given=given,
        distances=coverage(model.prepare_graph(graph), labelled).distances if labelled.size else None,
        isolated=np.diff(graph.adjacency.indptr) == 0,
        force=force,
    )
    for remark in _doubts(model.class_names_, np.concatenate(best), given, graph):
        log.warning("%s", remark)


def _check_told_apart(classes: Sequence[Hashable]) -> None:
    """Refuse classes that no reader of a table could tell apart."""
    written: dict[str, Hashable] = {}
    for name in classes:
        if str(name) in written:
            what, found = "Classes in a table", f"{written[str(name)]!r} and {name!r}"
            raise LabelError(what, "must be written differently", found, "rename one of them and train again")
        written[str(name)] = name


def _doubts(classes: Sequence[Hashable], best: NDArray[np.intp], given: NDArray[np.intp], graph: Graph) -> list[str]:
    """Say what is strange in predictions: nearly all of one class, or not what the labels say."""
    doubts = []
    labels = np.flatnonzero(given >= 0)
    shares = np.bincount(best, minlength=len(classes)) / len(best)
    top = int(shares.argmax())
    share_of_labels = float(np.mean(given[labels] == top)) if labels.size else 0.0
    if len(classes) > 1 and shares[top] >= NEARLY_ALL and share_of_labels < shares[top] - (1 - NEARLY_ALL):
        of_labels = f", which has {share_of_labels:.0%} of the labels" if labels.size else ""
        doubts.append(
            f"{shares[top]:.0%} of the nodes are predicted as {classes[top]!r}{of_labels}: look at the features "
            "with featprop inspect, and label more nodes of the other classes"
        )
    nowhere = [classes[code] for code in range(len(classes)) if shares[code] == 0]
    if nowhere:
        doubts.append(f"Classes that are predicted for no node: {first_five(nowhere)}")
    wrong = labels[best[labels] != given[labels]]
    if len(wrong) >= FEWEST and len(wrong) >= MANY * len(labels):
        named = zip(graph.ids[wrong].tolist(), wrong.tolist(), strict=True)
        listed = [f"{name!r}: {classes[given[node]]}, not {classes[best[node]]}" for name, node in named]
        doubts.append(
            f"The model contradicts labels it was trained on, {first_five(listed)} of {len(labels):,}, which stay as "
            "they are: check them, and whether the features tell the classes apart"
        )
    return doubts
