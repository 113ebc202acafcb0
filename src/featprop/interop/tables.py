"""Two tables, nodes and edges, whoever made them: a folder of files, a workbook, pandas."""

from __future__ import annotations

import logging
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, first_five
from featprop.interop.raw import RawGraph
from featprop.tables.index_columns import numbers_the_rows, without_index
from featprop.tables.kinds import kind_of
from featprop.tables.looks import column_of, plain_column
from featprop.tables.naming import ID_NAMES, class_names, find_column, names, no_column
from featprop.tables.near import did_you_mean
from featprop.tables.numbers import numbers_in
from featprop.tables.options import TableOptions
from featprop.tables.preparation import Preparation

__all__ = ["raw_from_tables"]

log = logging.getLogger(__name__)

LABELS = ("label",)
ENDS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("source_id", "target_id"), ("from_id", "to_id"),
    ("src_id", "dst_id"), ("source_node", "target_node"), ("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"),
    ("id_1", "id_2"), ("sender", "receiver"), ("head", "tail"), ("start", "end"), ("node_from", "node_to"),
)  # fmt: skip
"""What the two columns of an edge are usually called."""
WEIGHT = ("weight",)
WIDE = 32
"""Feature columns that stay as they are, from this many on, are not kept a second time in the table."""


def raw_from_tables(
    nodes: pa.Table,
    edges: pa.Table,
    options: TableOptions,
    nodes_name: str = "nodes",
    edges_name: str = "edges",
    *,
    typed: bool = True,
    preparation: Preparation | None = None,
) -> RawGraph:
    """Take the columns that name nodes, classes and the ends of edges, and prepare the others as features.

    Parameters
    ----------
    nodes, edges
        The tables.
    options
        What the user says of them.
    nodes_name, edges_name
        What to call them in messages.
    typed
        Whether text is meant to be text: a CSV file has no types to keep.
    preparation
        How the columns become features, if that was learnt before.
    """
    for table, name in ((nodes, nodes_name), (edges, edges_name)):
        repeated = [column for column, count in Counter(table.column_names).items() if count > 1]
        if repeated:
            raise FileError(name, "must have distinct columns", f"{first_five(repeated)} repeated", "rename them")
    if nodes.num_rows == 0:
        raise GraphError(nodes_name, "must have at least one node", "no row", "add a row for each node")
    id_name = _id_column(nodes, options, nodes_name)
    asked_for = [options.label, *options.columns, *(options.features or ())]
    nodes, _ = without_index(nodes, keep=[id_name, *(name for name in asked_for if name is not None)])
    ids = names(nodes, id_name, nodes_name, typed=typed)
    if ids.null_count:
        first = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))[0] + 1
        found = f"{ids.null_count:,} empty, the first in row {first:,}"
        raise FileError(nodes_name, "must have an id in every row", found, f"fill the column {id_name!r}")
    label_name = _label_column(nodes, options, nodes_name, is_needed=preparation is None)
    labels = None if label_name is None else class_names(nodes, label_name, nodes_name, typed=typed)
    own = {name for name in (id_name, label_name, *LABELS) if name is not None}
    if preparation is None:
        preparation, features = Preparation.learn(nodes, options, sorted(own), nodes_name)
    else:
        features, _ = preparation.apply(lambda name: column_of(nodes, name), len(ids))
    there = set(nodes.column_names)
    source, target, weights = _edges(edges, ids, options, edges_name, typed=typed)
    if id_name != "id":
        log.info("Ids of the nodes: %s", f"column {id_name!r}" if id_name else "the column without a name")
    gone = preparation.as_it_is & there if len(preparation.as_it_is) >= WIDE else frozenset()
    gone |= {label_name} if label_name is not None else set()
    return RawGraph(
        source=source,
        target=target,
        features=features,
        weights=weights,
        ids=ids.to_numpy(zero_copy_only=False),
        labels=labels,
        feature_names=preparation.feature_names,
        table=nodes.drop_columns(sorted(gone)),
        preparation=preparation,
        scaled=options.weights == "mean",
        repeated=options.repeated,
    )


def _id_column(nodes: pa.Table, options: TableOptions, what: str) -> str:
    """Return the column that names the nodes: that without a name, if there is one and no other looks like it."""
    found = find_column(nodes, ID_NAMES, what, options.id, "id")
    if found is not None:
        return found
    possible = [name for name in nodes.column_names if name and _may_be_ids(name, nodes)]
    if "" in nodes.column_names and (not possible or not numbers_the_rows(nodes.column(""))):
        return ""
    example = f", such as {possible[0]!r}" if possible else ""
    raise no_column(nodes, "id", what, f"say with --id which column names the nodes{example}")


def _may_be_ids(name: str, nodes: pa.Table) -> bool:
    values = plain_column(nodes, name)
    kind = kind_of(name, values)
    return kind.kind == "out" and not values.null_count and pc.count_distinct(values).as_py() == len(values)


def _label_column(nodes: pa.Table, options: TableOptions, what: str, *, is_needed: bool) -> str | None:
    """Return the column of the classes, if there is one; one that was named need not be there to predict."""
    if options.label is not None and options.label not in nodes.column_names and not is_needed:
        return None
    return find_column(nodes, LABELS, what, options.label, "label")


def _edges(
    table: pa.Table, ids: pa.Array, options: TableOptions, what: str, *, typed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    table, _ = without_index(table, keep=[name for name in (options.source, options.target, options.weight) if name])
    ends = _ends(table, options, what)
    source, target = (_positions(names(table, end, what, typed=typed), ids) for end in ends)
    astray = (source < 0) | (target < 0)
    if astray.any():
        raise _unknown_ends(table, ends, (source, target), ids, what, typed=typed)
    weight = find_column(table, WEIGHT, what, options.weight, "weight") if options.weights != "none" else None
    others = [name for name in table.column_names if name not in (*ends, weight)]
    told = f"Edges of {what}: {ends[0]!r} and {ends[1]!r}"
    told += f", weighted by {weight!r}" if weight is not None else ""
    hint = "" if weight is not None or options.weights == "none" else " (--weight COLUMN names the weights)"
    log.info("%s%s", told, f"; ignored: {first_five(others)}{hint}" if others else "")
    return source, target, None if weight is None else _weights(plain_column(table, weight), weight, what)


def _ends(table: pa.Table, options: TableOptions, what: str) -> tuple[str, str]:
    """Return the columns of the two ends: those asked for, those of usual names, or the only two."""
    there = ", ".join(table.column_names[:8]) or "none"
    if options.source is not None or options.target is not None:
        if options.source is None or options.target is None:
            one = "--source" if options.target is None else "--target"
            raise FileError(what, "must be read with --source and --target", f"only {one}", "name both columns")
        found = [find_column(table, (), what, options.source, "source")]
        found.append(find_column(table, (), what, options.target, "target"))
        if options.source == options.target:
            rule, cure = "must have two columns of ends", "name another with --target"
            raise FileError(what, rule, f"{options.source!r} twice", cure)
        return str(found[0]), str(found[1])
    lower = {name.strip().lower(): name for name in reversed(table.column_names)}
    for first, second in ENDS:
        if first in lower and second in lower:
            return lower[first], lower[second]
    if table.num_columns == 2:
        return table.column_names[0], table.column_names[1]
    cure = "say with --source and --target which two join the nodes" if table.num_columns > 2 else "add the other one"
    raise FileError(what, "must have the columns source and target", there, cure)


def _positions(ends: pa.Array, ids: pa.Array) -> NDArray[np.int64]:
    if ends.type != ids.type:
        ends, ids = ends.cast(pa.string()), ids.cast(pa.string())
    found = pc.fill_null(pc.index_in(ends, value_set=ids), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False)).astype(np.int64)


def _unknown_ends(
    table: pa.Table,
    ends: tuple[str, str],
    positions: tuple[NDArray[np.int64], NDArray[np.int64]],
    ids: pa.Array,
    what: str,
    *,
    typed: bool,
) -> GraphError:
    """Return the error about ends that are no nodes, with what was probably meant."""
    strange: dict[object, None] = {}
    for end, there in zip(ends, positions, strict=True):
        named = names(table, end, what, typed=typed)
        strange.update(dict.fromkeys(named.filter(pa.array(there < 0)).to_pylist()))
    unknown = first_five(["an empty cell" if name is None else repr(name) for name in strange])
    count = np.count_nonzero((positions[0] < 0) | (positions[1] < 0))
    found = f"{unknown} unknown in {count:,} of {table.num_rows:,} edges"
    cure = did_you_mean(list(strange), ids.to_pylist()) or "add those nodes or drop the edges"
    return GraphError(f"Edges of {what}", "must join ids of the nodes", found, cure)


def _weights(values: pa.Array, name: str, what: str) -> NDArray[np.float64]:
    found = numbers_in(values, padded=True, least=0.0)
    if found is None or found.odd.size:
        first = 0 if found is None else int(found.odd[0])
        shown = f"{values[first].as_py()!r} in row {first + 1:,}"
        rule, cure = "must be numeric", "write a number in every row, or pass --weights none"
        raise GraphError(f"Column {name!r} of {what}", rule, shown, cure)
    return found.values
