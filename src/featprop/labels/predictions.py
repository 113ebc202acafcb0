"""The table of predictions: ``id, prediction, confidence, label, probability_<class>…, distance, isolated``.

``prediction`` is what the model says. ``label`` is what a person said, and empty otherwise, so people can type
corrections into it and pass the file as labels.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

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
    labelled = graph.positions(known)
    given = np.full(graph.n_nodes, -1, dtype=np.intp)
    given[labelled] = [code_of[name] for name in known.values()]
    distances = coverage(model.prepare_graph(graph), labelled).distances if labelled.size else None
    isolated = np.diff(graph.adjacency.indptr) == 0
    exact = isinstance(out, str | os.PathLike) and Path(out).suffix.lower() == ".parquet"
    names, titles = to_cells(list(model.class_names_)), [f"{PROBABILITY}{name}" for name in model.class_names_]
    titles = ["id", "prediction", "confidence", "label", *titles, "distance", "isolated"]
    best: list[NDArray[np.intp]] = []
    start = 0
    with _writing(out, titles, exact=exact, force=force) as write:
        for block in model.probability_blocks(graph):
            here = slice(start, start + len(block))
            best.append(block.argmax(axis=1))
            columns = [
                to_cells(graph.ids[here].tolist(), text=graph.ids.dtype == object),
                names.take(pa.array(best[-1])),
                _round_probabilities(block.max(axis=1), exact=exact),
                names.take(pa.array(given[here], mask=given[here] < 0)),
                *(_round_probabilities(column, exact=exact) for column in block.T),
                pa.nulls(len(block), pa.float64()) if distances is None else round_significant(distances[here]),
                pc.if_else(pa.array(isolated[here]), pa.scalar("yes"), pa.scalar(None, pa.string())),
            ]
            rows = pa.Table.from_arrays(columns, names=titles)
            write(rows if graph.candidates is None else rows.filter(pa.array(graph.candidates[here])))
            start += len(block)
    for remark in _find_suspicious(model.class_names_, np.concatenate(best), given, graph):
        log.warning("%s", remark)


def _round_probabilities(values: NDArray[np.float32], *, exact: bool) -> pa.Array:
    """Return probabilities unchanged, or with four digits."""
    if exact:
        return pa.array(np.ascontiguousarray(values, dtype=np.float32))
    return pa.array(np.round(values.astype(np.float64), 4)).cast(pa.decimal128(5, 4))


@contextmanager
def _writing(out: Output, titles: Sequence[str], *, exact: bool, force: bool) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes further rows; a file appears when the block ends, a stream gets all at once."""
    if not isinstance(out, str | os.PathLike):
        parts = [csv_header(titles)]
        yield lambda table: parts.append(csv_rows(table))
        out.write(b"".join(parts))
        out.flush()
        return
    with writing_output(Path(out), force=force, suffixes=SUFFIXES) as temporary:
        if exact:
            with _writing_parquet(temporary) as write_parquet:
                yield write_parquet
        else:
            with temporary.open("wb") as file:

                def write(table: pa.Table) -> None:
                    file.write(csv_rows(table))

                file.write(csv_header(titles))
                yield write


@contextmanager
def _writing_parquet(path: Path) -> Iterator[Callable[[pa.Table], None]]:
    from pyarrow import parquet

    writers: list[parquet.ParquetWriter] = []

    def write(table: pa.Table) -> None:
        if not writers:
            writers.append(parquet.ParquetWriter(path, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


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
