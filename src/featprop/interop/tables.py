"""Two tables, nodes and edges, whoever made them: a folder of files, a workbook, pandas."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featprop.errors import FileError, GraphError
from featprop.graph import RawGraph
from featprop.interop.edges import Edges, EdgeTable
from featprop.interop.positions import Positions, repeated_ids
from featprop.matrix import Features, side_by_side
from featprop.tables.by_column import ByColumn
from featprop.tables.index_columns import numbers_the_rows, without_index
from featprop.tables.kinds import kind_of
from featprop.tables.looks import column_of, plain_column
from featprop.tables.naming import ID_NAMES, check_distinct, class_names, find_column, names, no_column
from featprop.tables.options import TableOptions
from featprop.tables.pieces import Pieces, WholeTable
from featprop.tables.preparation import Preparation

__all__ = ["Nodes", "nodes_from_table", "raw_from_tables"]

log = logging.getLogger(__name__)

LABELS = ("label",)
WIDE = 32
"""Feature columns that stay as they are, from this many on, are not kept a second time in the table."""


class Nodes(NamedTuple):
    """What a table of nodes says.

    Attributes
    ----------
    ids
        64-bit integers or text, each once.
    positions
        Where the node of an id is.
    labels
        The class of each node, None where it is not known; None if there is no column of classes.
    preparation
        How the columns become features.
    blocks
        The features, in matrices that stand side by side.
    table
        The columns that are kept for people to read.
    """

    ids: pa.Array
    positions: Positions
    labels: list[Hashable | None] | None
    preparation: Preparation
    blocks: list[Features]
    table: ByColumn

    @property
    def features(self) -> Features:
        """The features as one matrix."""
        return side_by_side(self.blocks)


def raw_from_tables(
    nodes: pa.Table,
    edges: pa.Table | Pieces,
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
    pieces = WholeTable(edges) if isinstance(edges, pa.Table) else edges
    check_distinct(nodes.column_names, nodes_name)
    check_distinct(pieces.column_names, edges_name)
    found = nodes_from_table(nodes, options, nodes_name, typed=typed, preparation=preparation)
    joined = EdgeTable(pieces, options, edges_name, typed=typed).read(found.positions, _together)
    return RawGraph(
        source=joined.source,
        target=joined.target,
        features=found.features,
        weights=joined.weights,
        ids=found.ids.to_numpy(zero_copy_only=False),
        labels=found.labels,
        feature_names=found.preparation.feature_names,
        table=found.table,
        preparation=found.preparation,
        scaled=options.weights == "mean",
        repeated=options.repeated,
    )


def nodes_from_table(
    nodes: ByColumn,
    options: TableOptions,
    what: str,
    *,
    typed: bool,
    preparation: Preparation | None = None,
    keep: Callable[[Features], Features] = lambda matrix: matrix,
) -> Nodes:
    """Take the columns that name nodes and classes, and prepare the others as features.

    Parameters
    ----------
    nodes
        The table.
    options
        What the user says of it.
    what
        What to call it in messages.
    typed
        Whether text is meant to be text: a CSV file has no types to keep.
    preparation
        How the columns become features, if that was learnt before.
    keep
        Puts features where they are kept, and returns them there.
    """
    if nodes.num_rows == 0:
        raise GraphError(what, "must have at least one node", "no row", "add a row for each node")
    id_name = _id_column(nodes, options, what)
    asked_for = [options.label, *options.columns, *options.asked_for]
    nodes, _ = without_index(nodes, keep=[id_name, *(name for name in asked_for if name is not None)])
    ids = names(nodes, id_name, what, typed=typed)
    if ids.null_count:
        first = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))[0] + 1
        found = f"{ids.null_count:,} empty, the first in row {first:,}"
        raise FileError(what, "must have an id in every row", found, f"fill the column {id_name!r}")
    positions = Positions(ids)
    if positions.distinct < len(ids):
        raise repeated_ids(ids.to_pylist(), f"Node ids of {what}")
    label_name = _label_column(nodes, options, what, is_needed=preparation is None)
    labels = None if label_name is None else class_names(nodes, label_name, what, typed=typed)
    own = {name for name in (id_name, label_name, *LABELS) if name is not None}
    if preparation is None:
        preparation, blocks = Preparation.learn_blocks(nodes, options, sorted(own), what, keep)
    else:
        blocks = [preparation.apply(lambda name: column_of(nodes, name), len(ids))[0]]
    there = set(nodes.column_names)
    if id_name != "id":
        log.info("Ids of the nodes: %s", f"column {id_name!r}" if id_name else "the column without a name")
    gone = preparation.as_it_is & there if len(preparation.as_it_is) >= WIDE else frozenset()
    gone |= {label_name} if label_name is not None else set()
    return Nodes(ids, positions, labels, preparation, blocks, nodes.drop_columns(sorted(gone)))


def _together(pieces: Iterator[Edges]) -> Edges:
    """Return all edges in memory."""
    found = list(pieces)
    if len(found) == 1:
        return found[0]
    none = np.empty(0, dtype=np.int64)
    source, target = (np.concatenate([none, *ends]) for ends in ([piece[end] for piece in found] for end in (0, 1)))
    weights = [piece.weights for piece in found if piece.weights is not None]
    return Edges(source, target, np.concatenate(weights) if weights else None)


def _id_column(nodes: ByColumn, options: TableOptions, what: str) -> str:
    """Return the column that names the nodes: that without a name, if there is one and no other looks like it."""
    found = find_column(nodes, ID_NAMES, what, options.id, "id")
    if found is not None:
        return found
    possible = [name for name in nodes.column_names if name and _may_be_ids(name, nodes)]
    if "" in nodes.column_names and (not possible or not numbers_the_rows(nodes.column("").chunks)):
        return ""
    example = f", such as {possible[0]!r}" if possible else ""
    raise no_column(nodes, "id", what, f"say with --id which column names the nodes{example}")


def _may_be_ids(name: str, nodes: ByColumn) -> bool:
    values = plain_column(nodes, name)
    if not (pa.types.is_string(values.type) or pa.types.is_integer(values.type)):
        return False
    kind = kind_of(name, values)
    return kind.kind == "out" and not values.null_count and pc.count_distinct(values).as_py() == len(values)


def _label_column(nodes: ByColumn, options: TableOptions, what: str, *, is_needed: bool) -> str | None:
    """Return the column of the classes, if there is one; one that was named need not be there to predict."""
    if options.label is not None and options.label not in nodes.column_names and not is_needed:
        return None
    return find_column(nodes, LABELS, what, options.label, "label")
