"""Labelling sheets of picked or audited nodes, with the columns a person needs to decide."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.active.picks import Selection
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.labels.annotation import AUDIT
from featprop.labels.sheets import OWN_COLUMNS, Output, round_significant, write_sheet
from featprop.models import NodeClassifier

if TYPE_CHECKING:
    from featprop.evaluate import AuditSample


def write_picks(
    out: Output,
    picks: Selection,
    *,
    show: Sequence[str] = (),
    labels: Mapping[Hashable, Hashable] = {},
    model: NodeClassifier | None = None,
    description: bool = True,
    force: bool = False,
) -> None:
    """Write picked nodes as a labelling sheet: one row per node, best first, with an empty label column.

    Parameters
    ----------
    out
        File or stream to write.
    picks
        The nodes.
    show
        Columns of the graph's node table to include.
    labels
        Labels so far: those of the neighbours are counted in a column ``neighbours``.
    model
        A fitted model: its predictions are shown as ``prediction`` and ``confidence``.
    description
        Whether to add how many nodes each pick represents and their mean distance; takes a propagation.
    force
        Whether to overwrite an existing file.
    """
    graph, positions = picks._graph, picks.positions
    check_columns(show, graph)
    columns: dict[str, pa.Array] = {}
    if description:
        columns |= {"represents": pa.array(picks.represents), "spread": round_significant(picks.spread)}
    predicted: Sequence[Hashable] | None = None
    if model is not None:
        probabilities = model.predict_proba(graph)
        best = probabilities.argmax(axis=1)
        predicted = [model.class_names_[code] for code in best.tolist()]
        columns["prediction"] = pa.array([str(predicted[node]) for node in positions.tolist()], pa.string())
        confidence = np.round(probabilities[positions, best[positions]].astype(float), 4)
        columns["confidence"] = round_significant(confidence)
    if labels:
        columns["neighbours"] = pa.array(_describe_neighbours(picks, labels, predicted), pa.string())
    write_sheet(out, picks.nodes, columns | _take_columns(show, graph, positions), force=force)


def write_audit(
    out: Output, sample: AuditSample, graph: Graph, *, show: Sequence[str] = (), force: bool = False
) -> None:
    """Write audited nodes as a labelling sheet, with how many nodes each stands for in ``audit``.

    Parameters
    ----------
    out
        File or stream to write.
    sample
        The nodes.
    graph
        The graph they were drawn from.
    show
        Columns of the graph's node table to include.
    force
        Whether to overwrite an existing file.
    """
    check_columns(show, graph)
    columns = {AUDIT: round_significant(sample.weights), **_take_columns(show, graph, sample.positions)}
    write_sheet(out, sample.nodes, columns, force=force)


def check_columns(show: Sequence[str], graph: Graph) -> None:
    """Refuse columns that the graph's node table does not have, or that the sheet has already."""
    there = [] if graph.table is None else graph.table.column_names
    named = [title for title in there if title not in OWN_COLUMNS]
    for name in show:
        if name in there and name not in OWN_COLUMNS:
            continue
        close = difflib.get_close_matches(name, named, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Leave it out, or rename the column."
        if name in OWN_COLUMNS:
            message = f"`show` names {name!r}, a column that the sheet has already."
        else:
            message = f"`show` names {name!r}, which is not a column of the nodes."
        raise ParameterError(message, hint=hint, parameter="show", value=name, choices=named, column=name)


def _take_columns(show: Sequence[str], graph: Graph, positions: NDArray[np.intp]) -> dict[str, pa.Array]:
    columns = {}
    for name in dict.fromkeys(show):
        values = graph.column(name)
        assert values is not None
        columns[name] = values.take(pa.array(positions))
    return columns


def _describe_neighbours(
    picks: Selection, labels: Mapping[Hashable, Hashable], predicted: Sequence[Hashable] | None
) -> list[str]:
    """Count the labels of each pick's neighbours, or the predictions if none has a label."""
    graph = picks._graph
    known = dict(zip(graph.positions(labels).tolist(), labels.values(), strict=True))
    adjacency, described = graph.adjacency, []
    for node in picks.positions.tolist():
        around = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]].tolist()
        labelled = [known[other] for other in around if other in known]
        if labelled or not around:
            described.append(_count(labelled) or "none")
        elif predicted is not None:
            described.append(f"predicted: {_count([predicted[other] for other in around])}")
        else:
            described.append(f"{len(around):,} without a label")
    return described


def _count(names: Sequence[Hashable]) -> str:
    """Write how often each name occurs, the most frequent first."""
    counts = sorted(Counter(names).items(), key=lambda item: (-item[1], str(item[0])))
    return ", ".join(f"{count:,} {name}" for name, count in counts)
