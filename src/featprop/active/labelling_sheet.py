"""The labelling sheet: the picked nodes, and beside each what a person needs to decide."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.active.picks import Selection
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.io.sheets import RESERVED, Place, significant, write_pick_table
from featprop.models import NodeClassifier

__all__ = ["check_shown", "shown_columns", "write_sheet"]

LISTED = 8


def write_sheet(
    path: str | os.PathLike[str] | BinaryIO,
    picks: Selection,
    *,
    show: Sequence[str] = (),
    labels: Mapping[Hashable, Hashable] = {},
    model: NodeClassifier | None = None,
    description: bool = True,
    force: bool = False,
) -> None:
    """Write picked nodes as a labelling sheet: one row a node, best first, with an empty label column at the end.

    Parameters
    ----------
    path
        The file, or a stream open for bytes.
    picks
        The nodes.
    show
        Columns of the graph's table of nodes to show beside each.
    labels
        The labels so far: those of the neighbours are counted in a column ``neighbours``.
    model
        A fitted model: what it predicts is shown as ``prediction`` and ``confidence``, and for the neighbours where
        none of them has a label.
    description
        Say how many nodes each pick represents and their mean distance to it, its ``spread``; takes a propagation.
    force
        Write over a sheet that a person typed into.
    """
    place: Place = Path(path) if isinstance(path, str | os.PathLike) else path
    graph, positions = picks._graph, picks.positions
    check_shown(show, graph)
    columns: dict[str, pa.Array] = {}
    if description:
        columns |= {"represents": pa.array(picks.represents), "spread": significant(picks.spread)}
    columns |= shown_columns(show, graph, positions)
    predicted: Sequence[Hashable] | None = None
    if model is not None:
        probabilities = model.predict_proba(graph)
        best = probabilities.argmax(axis=1)
        predicted = [model.class_names_[code] for code in best.tolist()]
        columns["prediction"] = pa.array([str(predicted[node]) for node in positions.tolist()], pa.string())
        columns["confidence"] = significant(np.round(probabilities[positions, best[positions]].astype(float), 4))
    if labels:
        columns["neighbours"] = pa.array(_neighbours(picks, labels, predicted), pa.string())
    write_pick_table(place, picks.nodes, columns, force=force)


def shown_columns(show: Sequence[str], graph: Graph, positions: NDArray[np.intp]) -> dict[str, pa.Array]:
    """Return what columns of the graph's table of nodes, which it has, say of the nodes at those positions."""
    columns = {}
    for name in dict.fromkeys(show):
        values = graph.column(name)
        assert values is not None
        columns[name] = values.take(pa.array(positions))
    return columns


def check_shown(show: Sequence[str], graph: Graph) -> None:
    """Refuse columns to show that the graph's table of nodes does not have, or the sheet has already."""
    there = [] if graph.table is None else graph.table.column_names
    for name in show:
        if name in RESERVED:
            rule = "must name columns other than the sheet's own"
            raise ParameterError("show", rule, repr(name), "leave it out, or rename the column")
        if graph.table is None:
            raise ParameterError(
                "show", "must be left out where the graph has no table of nodes", repr(name), "drop it"
            )
        if name not in there:
            named = [title for title in there if title not in RESERVED]
            listed = ", ".join(named[:LISTED]) + (", …" if len(named) > LISTED else "")
            close = difflib.get_close_matches(name, named, n=1)
            cure = f"did you mean {close[0]!r}?" if close else "name one of them"
            raise ParameterError("show", f"must name columns of the nodes ({listed})", repr(name), cure)


def _neighbours(
    picks: Selection, labels: Mapping[Hashable, Hashable], predicted: Sequence[Hashable] | None
) -> list[str]:
    """Say how often each class is a label among the neighbours of each pick, or a prediction where none has a label."""
    graph = picks._graph
    known = dict(zip(graph.positions(labels).tolist(), labels.values(), strict=True))
    adjacency, told = graph.adjacency, []
    for node in picks.positions.tolist():
        around = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]].tolist()
        labelled = [known[other] for other in around if other in known]
        if labelled or not around:
            told.append(_counted(labelled) or "none")
        elif predicted is not None:
            told.append(f"predicted: {_counted([predicted[other] for other in around])}")
        else:
            told.append(f"{len(around):,} without a label")
    return told


def _counted(names: Sequence[Hashable]) -> str:
    """Write how often each name occurs, the most frequent first."""
    counts = sorted(Counter(names).items(), key=lambda item: (-item[1], str(item[0])))
    return ", ".join(f"{count:,} {name}" for name, count in counts)
