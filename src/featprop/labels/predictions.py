"""The table of predictions: ``id, prediction, confidence, label, probability_<class>…, distance, isolated``.

``prediction`` is what the model says. ``label`` is what a person said, and empty otherwise, so people can type
corrections into it and pass the file as labels.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import LabelError, first_five
from featprop.files import writing_output
from featprop.graph import Graph
from featprop.labels.rows import PROBABILITY
from featprop.labels.sheets import Output, csv_header, csv_rows, round_significant, to_cells
from featprop.models import NodeClassifier
from featprop.propagation import coverage

log = logging.getLogger(__name__)

SUFFIXES = (".csv", ".parquet")
ONE_CLASS_SHARE = 0.95
"""Share of nodes of one class from which on the predictions are suspicious."""
CONTRADICTED_SHARE, MIN_CONTRADICTED = 0.2, 3
"""Share and number of contradicted training labels from which on they are logged."""


def write_predictions(out: Output, model: NodeClassifier, graph: Graph, *, force: bool = False) -> None:
    """Write the predicted class of every candidate of a graph, its probability, and what a person said.

    Suspicious predictions are logged: nearly all of one class, a class that is never predicted, contradicted labels.

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
    _check_distinct(model.class_names_)
    known = model.training_labels_in(graph)
    code_of = {name: code for code, name in enumerate(model.class_names_)}
    given = np.full(graph.n_nodes, -1, dtype=np.intp)
    given[graph.positions(known)] = [code_of[name] for name in known.values()]
    best: list[NDArray[np.intp]] = []
    if isinstance(out, str | os.PathLike):
        exact = Path(out).suffix.lower() == ".parquet"
        with writing_output(Path(out), force=force, suffixes=SUFFIXES) as temporary:
            tables = _predict_blocks(model, graph, given, best, exact=exact)
            if exact:
                _write_parquet(temporary, tables)
            else:
                with temporary.open("wb") as file:
                    _write_csv(file, tables)
    else:
        _write_csv(out, _predict_blocks(model, graph, given, best, exact=False))
        out.flush()
    for remark in _find_suspicious(model.class_names_, np.concatenate(best), given, graph):
        log.warning("%s", remark)


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
            "distance": pa.nulls(len(block), pa.float64()) if distances is None else round_significant(distances[here]),
            "isolated": pc.if_else(pa.array(isolated[here]), pa.scalar("yes"), pa.scalar(None, pa.string())),
        }
        rows = pa.table(columns)
        yield rows if graph.candidates is None else rows.filter(pa.array(graph.candidates[here]))
        start += len(block)


def _write_csv(file: BinaryIO, tables: Iterable[pa.Table]) -> None:
    for number, table in enumerate(tables):
        file.write(csv_rows(table) if number else csv_header(table.column_names) + csv_rows(table))


def _write_parquet(path: Path, tables: Iterator[pa.Table]) -> None:
    from pyarrow.parquet import ParquetWriter

    first = next(tables)
    with ParquetWriter(path, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _round_probabilities(values: NDArray[np.float32], *, exact: bool) -> pa.Array:
    """Return probabilities unchanged, or with four digits."""
    if exact:
        return pa.array(np.ascontiguousarray(values, dtype=np.float32))
    return pa.array(np.round(values.astype(np.float64), 4)).cast(pa.decimal128(5, 4))


def _check_distinct(classes: Sequence[Hashable]) -> None:
    """Refuse classes that a table cannot distinguish."""
    written: dict[str, Hashable] = {}
    for name in classes:
        if str(name) in written:
            message = f"The classes {written[str(name)]!r} and {name!r} are written the same."
            raise LabelError(message, hint="Rename one of them and train again.", value=name)
        written[str(name)] = name


def _find_suspicious(
    classes: Sequence[Hashable], best: NDArray[np.intp], given: NDArray[np.intp], graph: Graph
) -> list[str]:
    """Describe what is suspicious about predictions."""
    found = []
    labels = np.flatnonzero(given >= 0)
    shares = np.bincount(best, minlength=len(classes)) / len(best)
    top = int(shares.argmax())
    share_of_labels = float(np.mean(given[labels] == top)) if labels.size else 0.0
    if len(classes) > 1 and shares[top] >= ONE_CLASS_SHARE and share_of_labels < shares[top] - (1 - ONE_CLASS_SHARE):
        found.append(
            f"{shares[top]:.0%} of the nodes are predicted as {classes[top]!r}, which has {share_of_labels:.0%} of the "
            "labels. Check the features with `featprop inspect`, and label more nodes of the other classes."
        )
    never = [classes[code] for code in range(len(classes)) if shares[code] == 0]
    if never:
        found.append(f"Classes that are never predicted: {first_five(never)}.")
    wrong = labels[best[labels] != given[labels]]
    if len(wrong) >= MIN_CONTRADICTED and len(wrong) >= CONTRADICTED_SHARE * len(labels):
        named = zip(graph.ids[wrong].tolist(), wrong.tolist(), strict=True)
        listed = [f"{name!r}: {classes[given[node]]}, not {classes[best[node]]}" for name, node in named]
        found.append(
            f"The model contradicts {len(wrong):,} of the {len(labels):,} labels it was trained on: "
            f"{first_five(listed)}. Check these labels, and whether the features distinguish the classes."
        )
    return found
