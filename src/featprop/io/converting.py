"""Two tables become a graph in featprop's own format without the edges ever being in memory.

The nodes come first: ids, classes and columns, of which one is in memory at a time (`featprop.io.column_files`). Then
the edges are read piece by piece; what counts of each piece is written to files in a scratch folder, each for some rows
of the matrix of the edges, and these are sorted, merged and appended to the graph one after the other. The graph is the
one that `read_graph` would give and `write_native` write. What stays in memory is what ids take, and 16 bytes a node.
"""

from __future__ import annotations

import logging
import shutil
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.adjacency import EdgeCleaner, MeanWeight, MergedEntries, merge_entries
from featprop.compute import get_backend
from featprop.compute.addresses import is_address
from featprop.compute.scratch import scratch_folder
from featprop.errors import ParameterError
from featprop.graph import encode_labels
from featprop.interop.edges import Edges, EdgeTable
from featprop.interop.positions import Positions
from featprop.interop.tables import nodes_from_table
from featprop.io.adjacency_files import divide_weights, write_adjacency
from featprop.io.buckets import Buckets, Grouped, Keyed
from featprop.io.edge_tasks import Spread, merge, spread
from featprop.io.feature_files import keeping_in, write_features
from featprop.io.folder import Tables, TwoTables, Workbook
from featprop.io.native import write_description, write_ids, write_table, writing_native
from featprop.io.reading import format_of
from featprop.io.table_pieces import Portion, portions_of
from featprop.memory import bytes_text
from featprop.progress import tracked
from featprop.tables import Preparation, TableOptions

__all__ = ["LEAST_MEMORY", "Converted", "Gathered", "convert_tables", "gather_edges", "tables_at", "write_edges"]

log = logging.getLogger(__name__)

LEAST_MEMORY = 500 * 10**6
"""Bytes below which a bound is not met: libraries and one piece of the edges take as much."""

TAKEN = 350 * 10**6
"""Bytes of these that are not for edges to be sorted."""

COLUMN = 8
"""How many times its own bytes a column of the nodes takes while it is prepared."""

BYTES_A_NODE = 16
"""What a node takes beside its id while the matrix is written."""

EACH = 64
"""Bytes that an entry takes while it is sorted and merged."""


class Converted(NamedTuple):
    """What was written."""

    nodes: int
    edges: int
    features: int
    preparation: Preparation


def tables_at(place: Path, *, both: bool = True) -> TwoTables | None:
    """Return the tables that are at a place; None if there is a graph of another format, or nothing."""
    if is_address(place) or not place.exists() or not isinstance(format_of(place), Tables | Workbook):
        return None
    return TwoTables.at(place, both=both)


def convert_tables(
    tables: TwoTables,
    out: Path,
    options: TableOptions,
    *,
    max_memory: int,
    scratch: Path | None = None,
    force: bool = False,
) -> Converted:
    """Write a graph; the folder appears whole or not at all.

    Parameters
    ----------
    tables
        Where nodes and edges are.
    out
        The folder to write.
    options
        What the user says of the tables.
    max_memory
        Bytes that may be used for edges; a column of the nodes is held whole while it is prepared.
    scratch
        Where edges go meanwhile, the system's temporary folder if not given.
    force
        Replace a graph of this format that is there already.
    """
    if max_memory < LEAST_MEMORY:
        rule = f"must be at least {bytes_text(LEAST_MEMORY)}"
        raise ParameterError("max_memory", rule, bytes_text(max_memory), "allow more")
    with scratch_folder(scratch) as work, writing_native(out, force=force) as folder:
        nodes, pieces = tables.nodes_by_column(options, _made(work / "columns")), tables.edges()
        largest = max((nodes.column(name).nbytes for name in nodes.column_names), default=0)
        if (needed := TAKEN + COLUMN * largest) > max_memory:
            told = (
                "The largest column of the nodes takes about %s while it is prepared: more than %s, which edges keep to"
            )
            log.warning(told, bytes_text(needed), bytes_text(max_memory))
        keep = keeping_in(_made(work / "features"))
        found = nodes_from_table(nodes, options, tables.nodes_name, typed=tables.typed, keep=keep)
        del nodes
        preparation = found.preparation
        labels, classes = encode_labels(found.labels, len(found.ids))
        positions = found.positions
        columns = write_features(folder, found.blocks, found.ids, preparation.feature_names)
        if labels is not None:
            np.save(folder / "labels.npy", labels)
        write_table(folder, found.table)
        kind = write_ids(folder, found.ids)
        del found, labels
        edges = gather_edges(
            EdgeTable(pieces, options, tables.edges_name, typed=tables.typed), positions, options, work, max_memory
        )
        entries, repairs, scale = write_edges(folder, edges, scaled=options.weights == "mean")
        write_description(
            folder,
            nodes=len(positions.ids),
            columns=columns,
            ids=kind,
            classes=classes,
            feature_names=preparation.feature_names,
            preparation=preparation,
            repairs=repairs,
            weight_scale=scale,
        )
        return Converted(len(positions.ids), entries // 2, columns, preparation)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


class Gathered(NamedTuple):
    """Edges in files, to be sorted."""

    buckets: Buckets
    cleaner: EdgeCleaner
    at_once: int


def gather_edges(
    table: EdgeTable, positions: Positions, options: TableOptions, work: Path, max_memory: int
) -> Gathered:
    """Read edges into files, each for some rows of the matrix.

    Parameters
    ----------
    table
        The edges.
    positions
        The nodes.
    options
        What repeated edges weigh.
    work
        A scratch folder.
    max_memory
        Bytes that may be used.
    """
    nodes = len(positions.ids)
    at_once = entries_at_once(max_memory, positions)
    weighted = table.weight is not None and options.repeated != "count"

    def begun() -> Gathered:
        folder = work / "edges"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(exist_ok=True)
        buckets = Buckets(folder, 2 * table.pieces.rows, partial(_bucket_of, nodes), weighted=weighted)
        return Gathered(buckets, EdgeCleaner(nodes, options.repeated), at_once)

    def take(pieces: Iterator[Edges]) -> Gathered:
        found = begun()
        read = tracked(pieces, "reading edges", table.pieces.expected)
        found.buckets.add(Keyed(*found.cleaner.clean(*piece)) for piece in read)
        return found

    found = _gathered_elsewhere(table, positions, begun()) if get_backend().is_remote else None
    if found is None:
        found = table.read(positions, take)
    found.cleaner.check_weights(positions.ids)
    return found


def _gathered_elsewhere(table: EdgeTable, positions: Positions, into: Gathered) -> Gathered | None:
    """Let workers read the edges; None if these are in memory, or if it takes all of them to tell what some are."""
    portions = portions_of(table.pieces, table.wanted, into.buckets.folder)
    if portions is None:
        return None
    handed_out: deque[Portion] = deque()
    is_clear = True

    def items(portions: Iterator[Portion]) -> Iterator[Portion]:
        for portion in portions:
            handed_out.append(portion)
            yield portion

    def groups(found: Iterator[list[Spread] | None]) -> Iterator[Grouped]:
        nonlocal is_clear
        for spreads in found:
            if spreads is None:
                is_clear = False
                return
            for each in spreads:
                into.cleaner.add_counts(each.cleaner)
                yield each.take()
            handed_out.popleft().remove()

    arguments = table, positions, into.buckets, into.cleaner.repeated
    total = table.pieces.expected
    with closing(
        get_backend().map_items(spread, items(portions), *arguments, stage="reading edges", total=total)
    ) as found:
        into.buckets.append(groups(found))
    return into if is_clear else None


def entries_at_once(max_memory: int, positions: Positions) -> int:
    """Return how many entries may be sorted at once; less memory than the nodes take is an error."""
    taken = TAKEN + positions.nbytes + BYTES_A_NODE * len(positions.ids)
    if max_memory < taken:
        rule = f"must have room for {len(positions.ids):,} nodes, {bytes_text(taken)}"
        raise ParameterError("max_memory", rule, bytes_text(max_memory), "allow more")
    return max(1 << 16, (max_memory - taken) // EACH)


def write_edges(folder: Path, edges: Gathered, *, scaled: bool) -> tuple[int, tuple[str, ...], float | None]:
    """Sort and merge edges file by file and write the matrix.

    Parameters
    ----------
    folder
        Where to.
    edges
        The edges.
    scaled
        Whether weights are divided by their mean.

    Returns
    -------
    tuple
        How many entries the matrix has, what was mended, and what the weights were divided by.
    """
    cleaner, mean = edges.cleaner, MeanWeight()
    one_way = uneven = 0

    def in_order() -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32] | None]]:
        nonlocal one_way, uneven
        for found in _merged_elsewhere(edges) if get_backend().is_remote else _merged_here(edges):
            one_way, uneven = one_way + found.one_way, uneven + found.uneven
            yield found.cells, found.weights

    entries = write_adjacency(folder, in_order(), cleaner.nodes, 2 * cleaner.edges, mean)
    scale, told = mean.scale() if scaled else (1.0, None)
    if scale not in (1.0, None):
        divide_weights(folder, mean)
    return entries, cleaner.log_repairs(one_way, uneven, entries, told), scale


def _merged_here(edges: Gathered) -> Iterator[MergedEntries]:
    for keys, values in tracked(edges.buckets.take(edges.at_once), "sorting edges", edges.buckets.count):
        yield merge_entries(keys, values, edges.cleaner.repeated)


def _merged_elsewhere(edges: Gathered) -> Iterator[MergedEntries]:
    numbers, arguments = range(edges.buckets.count), (edges.buckets, edges.at_once, edges.cleaner.repeated)
    each = get_backend().map_items(merge, numbers, *arguments, stage="sorting edges", total=len(numbers))
    for number, found in zip(numbers, each, strict=True):
        for part in found:
            yield part.take()
        edges.buckets.remove(number)


def _bucket_of(nodes: int, keys: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Spread keys evenly over files, so that those of the first come before those of the second."""
    return np.asarray(np.minimum((keys >> 1) * (count / nodes**2), count - 1).astype(np.int64))
