"""The table of predictions: ``id, prediction, confidence, label, probability_<class>…, distance, isolated``.

``prediction`` is the model's. ``label`` is what a person entered, and empty otherwise, so people can type
corrections into it and pass the file as labels.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.files import writing_output
from featprop.graph import Graph
from featprop.labels.classes import check_distinct
from featprop.labels.sheets import Output, csv_chunks, round_numbers, to_cells, write_chunks
from featprop.models import NodeClassifier
from featprop.propagation import coverage

log = logging.getLogger(__name__)

SUFFIXES = (".csv", ".parquet")
PROBABILITY = "probability_"
ONE_CLASS_SHARE = 0.95
"""Share of nodes predicted as one class from which on it is logged."""
CONTRADICTED_SHARE, MIN_CONTRADICTED = 0.2, 3
"""Share and number of contradicted training labels from which on they are logged."""


def write_predictions(out: Output, model: NodeClassifier, graph: Graph, *, force: bool = False) -> None:
    """Write the predicted class of every candidate of a graph, its probability, and what a person said.

    It is logged if nearly all predictions are of one class, and if many contradict the labels.

    Parameters
    ----------
    out
        A ``.csv`` or ``.parquet`` file, or an open binary stream.
    model
        A fitted model.
    graph
        The graph the model was trained on, or another one with the same features.
    force
        Whether to overwrite an existing file.
    """
    check_distinct(model.class_names_)
    known = model.training_labels_in(graph)
    code_of = {name: code for code, name in enumerate(model.class_names_)}
    given = np.full(graph.n_nodes, -1, dtype=np.intp)
    given[graph.positions(known)] = [code_of[name] for name in known.values()]
    best: list[NDArray[np.intp]] = []
    if isinstance(out, str | os.PathLike) and Path(out).suffix.lower() == ".parquet":
        _write_parquet(Path(out), _predict_blocks(model, graph, given, best, exact=True), force=force)
    else:
        tables = _predict_blocks(model, graph, given, best, exact=False)
        write_chunks(out, csv_chunks(tables), force=force, suffixes=SUFFIXES)
    _log_suspicious(model.class_names_, np.concatenate(best), given)


def _predict_blocks(
    model: NodeClassifier, graph: Graph, given: NDArray[np.intp], best: list[NDArray[np.intp]], *, exact: bool
) -> Iterator[pa.Table]:
    """Yield the rows of the table; the codes of the most probable classes go to `best`."""
    labelled = graph.positions(model.training_labels_in(graph))
    distances = coverage(model.prepare_graph(graph), labelled).distances if labelled.size else None
    isolated = np.diff(graph.adjacency.indptr) == 0
    names, titles = to_cells(list(model.class_names_)), [f"{PROBABILITY}{name}" for name in model.class_names_]
    start = 0
    for block in model.probability_blocks(graph):
        here = slice(start, start + len(block))
        best.append(block.argmax(axis=1))
        columns = {
            "id": to_cells(graph.ids[here].tolist(), text=graph.ids.dtype == object),
            "prediction": names.take(pa.array(best[-1])),
            "confidence": _round_probabilities(block.max(axis=1), exact=exact),
            "label": names.take(pa.array(given[here], mask=given[here] < 0)),
            **{title: _round_probabilities(row, exact=exact) for title, row in zip(titles, block.T, strict=True)},
            "distance": pa.nulls(len(block), pa.float64()) if distances is None else round_numbers(distances[here]),
            "isolated": pc.if_else(pa.array(isolated[here]), pa.scalar("yes"), pa.scalar(None, pa.string())),
        }
        rows = pa.table(columns)
        yield rows if graph.candidates is None else rows.filter(pa.array(graph.candidates[here]))
        start += len(block)


def _write_parquet(path: Path, tables: Iterator[pa.Table], *, force: bool) -> None:
    from pyarrow.parquet import ParquetWriter

    first = next(tables)
    with writing_output(path, force=force) as temporary, ParquetWriter(temporary, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _round_probabilities(values: NDArray[np.float32], *, exact: bool) -> pa.Array:
    """Return probabilities unchanged, or with four digits."""
    if exact:
        return pa.array(np.ascontiguousarray(values, dtype=np.float32))
    return pa.array(np.round(values.astype(np.float64), 4)).cast(pa.decimal128(5, 4))


def _log_suspicious(classes: Sequence[Hashable], best: NDArray[np.intp], given: NDArray[np.intp]) -> None:
    """Log if nearly all nodes get one class, or if the model contradicts many of its labels."""
    labelled = np.flatnonzero(given >= 0)
    top = int(np.bincount(best).argmax())
    share, share_of_labels = np.mean(best == top), np.mean(given[labelled] == top) if labelled.size else 0
    if len(classes) > 1 and share >= ONE_CLASS_SHARE and share - share_of_labels > 1 - ONE_CLASS_SHARE:
        log.warning(
            "%.0f%% of the nodes are predicted as %r, which has %.0f%% of the labels. Label nodes of other classes.",
            *(100 * share, classes[top], 100 * share_of_labels),
        )
    n_wrong = int(np.count_nonzero(best[labelled] != given[labelled]))
    if n_wrong >= max(MIN_CONTRADICTED, CONTRADICTED_SHARE * len(labelled)):
        contradicted = f"{n_wrong:,} of the {len(labelled):,} labels it was trained on"
        log.warning("The model contradicts %s. Check these labels with `featprop report`.", contradicted)
