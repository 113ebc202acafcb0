"""Nodes and edges are added to a graph in featprop's own format without converting it again.

New nodes come after those that are there, so that every position and every id means what it meant. Their columns become
features as those of the graph did, and weights are divided by what the weights of the graph were divided by: the result
is what converting everything at once would give with that preparation and that scale. The folder is replaced whole, and
only the one that was read: of two runs that add to the same graph at once, the later one is refused.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import merge_entries
from featprop.compute.scratch import scratch_folder
from featprop.errors import FileError, GraphError, ParameterError, first_five
from featprop.graph import UNKNOWN, Graph, check_finite, encode_labels
from featprop.ids import sorted_classes
from featprop.interop.edges import EdgeTable
from featprop.interop.positions import Positions, repeated_ids
from featprop.interop.tables import Nodes, nodes_from_table
from featprop.io.adjacency_files import write_adjacency
from featprop.io.atomic import read_whole
from featprop.io.converting import gather_edges, write_edges
from featprop.io.folder import TwoTables
from featprop.io.native import SOURCE, is_native, open_native, write_description, write_ids, write_table, writing_native
from featprop.io.stamps import file_states
from featprop.io.streaming import ArrayStream
from featprop.matrix import as_dense
from featprop.progress import tracked
from featprop.tables import Preparation, TableOptions
from featprop.tables.looks import column_of
from featprop.tables.naming import ID_NAMES, check_distinct

__all__ = ["Appended", "append_tables"]

log = logging.getLogger(__name__)

BLOCK = 1 << 22
"""Entries merged, or numbers copied, together."""
SETTLED = ("features", "columns", "raw", "weights", "repeated")
"""Options that old and new rows must have in common."""


class Appended(NamedTuple):
    """What was added, and what there is now."""

    new_nodes: int
    new_edges: int
    nodes: int
    edges: int
    features: int


def append_tables(
    tables: TwoTables, folder: Path, options: TableOptions, *, max_memory: int, scratch: Path | None = None
) -> Appended:
    """Add nodes and edges to a graph; it is whole before and after.

    Parameters
    ----------
    tables
        Where new nodes and edges are; one of them may be missing.
    folder
        The graph.
    options
        What the user says of the tables, beside what was said when the graph was converted.
    max_memory
        Bytes that may be used beside those of the new nodes.
    scratch
        Where edges go meanwhile, the system's temporary folder if not given.
    """
    if not is_native(folder):
        found = "no such folder" if not folder.exists() else "something else"
        cure = "convert a graph there first, without --append"
        raise FileError(f"{folder}", "must be a graph in featprop's format to add to", found, cure)
    before, graph = read_whole(folder, lambda: (file_states(folder), open_native(folder)))
    said = _said(options, graph)
    old_ids = _ids(graph, folder)

    def check(old: Path) -> None:
        if not old.exists() or file_states(old) != before:
            rule, cure = "must be added to by one run at a time", "add it again"
            raise FileError(f"{folder}", rule, "another graph there than when this run began", cure)

    with scratch_folder(scratch) as work, writing_native(folder, durable=True, check=check) as new:
        nodes = _new_nodes(tables, graph, old_ids, said, folder)
        ids = old_ids if nodes is None else pa.concat_arrays([old_ids, nodes.ids])
        kind = _write_nodes(new, folder, graph, nodes, ids)
        added, repairs, scale = _write_edges(new, folder, graph, tables, Positions(ids), said, work, max_memory)
        if (folder / SOURCE).exists():
            shutil.copyfile(folder / SOURCE, new / SOURCE)
        write_description(
            new,
            nodes=len(ids),
            columns=graph.n_features,
            ids=kind,
            classes=_classes(graph, nodes),
            feature_names=graph.feature_names,
            preparation=graph.preparation,
            repairs=[*graph.repairs, *(f"added: {repair}" for repair in repairs)],
            weight_scale=scale,
        )
    new_nodes = len(ids) - len(old_ids)
    return Appended(new_nodes, added, len(ids), graph.n_edges + added, graph.n_features)


def _said(options: TableOptions, graph: Graph) -> TableOptions:
    """Return the options of the graph, and what is said beside them; what its features and weights are is settled."""
    if graph.preparation is None:
        return options
    settled, said = graph.preparation.options.to_jsonable(), options.to_jsonable()
    for name in SETTLED:
        if name in said and said[name] != settled.get(name):
            rule, cure = (
                "must be what the graph was converted with",
                "leave it out, or convert all tables together",
            )
            raise ParameterError(name, rule, repr(said[name]), cure)
    return options.or_else(graph.preparation.options)


def _ids(graph: Graph, folder: Path) -> pa.Array:
    """Return the ids as they are in tables: integers or text."""
    if graph.ids.dtype.kind in "iu":
        return pa.array(np.asarray(graph.ids, dtype=np.int64))
    names = graph.ids.tolist()
    strange = [repr(name) for name in names if not isinstance(name, str)]
    if strange:
        rule, cure = "must have ids that tables can hold, text or whole numbers", "add to the graph it was made of"
        raise FileError(f"{folder}", rule, first_five(strange), cure)
    return pa.array(names, pa.string())


def _new_nodes(tables: TwoTables, graph: Graph, old_ids: pa.Array, options: TableOptions, folder: Path) -> Nodes | None:
    """Read the new nodes and check that they are new."""
    if tables.nodes_path is None:
        return None
    table, what = tables.nodes(options), tables.nodes_name
    check_distinct(table.column_names, what)
    if not table.num_rows:
        return None
    preparation = graph.preparation
    if preparation is None:
        if graph.feature_names is None:
            rule, cure = "must have features with names for nodes to be added", "add the nodes to what it was made of"
            raise FileError(f"{folder}", rule, "none", cure)
        preparation = Preparation.of_plain_columns(graph.feature_names)
    nodes = nodes_from_table(table, options, what, typed=tables.typed, preparation=preparation)
    check_finite(nodes.features, nodes.ids.to_numpy(zero_copy_only=False), preparation.feature_names)
    if pa.types.is_integer(old_ids.type) and not pa.types.is_integer(nodes.ids.type):
        odd = [name for name in nodes.ids.to_pylist() if not name.isdecimal()] or nodes.ids.to_pylist()
        rule, cure = "must be whole numbers, as those of the graph", "convert all tables together"
        raise GraphError(f"Ids of {what}", rule, first_five([repr(name) for name in odd]), cure)
    ids = nodes.ids.cast(old_ids.type)
    nodes = nodes._replace(ids=ids, positions=Positions(ids))
    if nodes.positions.distinct < len(ids):
        raise repeated_ids(ids.to_pylist(), f"Node ids of {what}")
    known = nodes.ids.filter(pa.array(Positions(old_ids).of(nodes.ids) >= 0)).to_pylist()
    if known:
        found = f"{first_five([repr(name) for name in known])} there already"
        cure = "drop these rows: nodes are added, never changed; to change some, convert all tables together"
        raise GraphError(f"Nodes of {what}", f"must be new to {folder}", found, cure)
    _tell_new_columns(nodes.table.column_names, graph, what, folder)
    return nodes


def _tell_new_columns(columns: list[str], graph: Graph, what: str, folder: Path) -> None:
    """Say which columns the graph does not have, and so does not keep."""
    kept = [] if graph.table is None else graph.table.column_names
    known = {name.strip().casefold() for name in (*kept, *(graph.feature_names or ()), *ID_NAMES)}
    new = [name for name in columns if name.strip().casefold() not in known]
    if new:
        told = "Columns of %s that %s does not have are left out: %s; to use them, convert all tables together"
        log.warning(told, what, folder, first_five(new))


def _write_nodes(new: Path, folder: Path, graph: Graph, nodes: Nodes | None, ids: pa.Array) -> str:
    """Write what there is of nodes, with the new ones after the old ones; return the kind of the ids."""
    if nodes is None:
        for path in folder.iterdir():
            if path.name.startswith(("features", "labels", "ids", "table")):
                shutil.copyfile(path, new / path.name)
        return write_ids(new, ids)
    _write_features(new, graph, nodes)
    if graph.labels is not None or nodes.labels is not None:
        np.save(new / "labels.npy", _labels(graph, nodes))
    if graph.table is not None:
        write_table(new, _longer(graph.table, nodes.table))
    return write_ids(new, ids)


def _write_features(new: Path, graph: Graph, nodes: Nodes) -> None:
    if not sp.issparse(graph.features):
        with ArrayStream(new / "features.npy", np.float32, graph.n_features) as rows:
            _copy(graph.features, rows, max(1, BLOCK // graph.n_features))
            rows.append(as_dense(nodes.features))
        return
    more = sp.csr_array(nodes.features, dtype=np.float32)
    more.sum_duplicates()
    more.eliminate_zeros()
    old = sp.csr_array(graph.features)
    kind = old.indptr.dtype if old.nnz + more.nnz < np.iinfo(old.indptr.dtype).max else np.dtype(np.int64)
    np.save(new / "features.indptr.npy", np.concatenate([old.indptr, more.indptr[1:].astype(kind) + old.indptr[-1]]))
    for part, dtype in (("indices", kind), ("data", np.dtype(np.float32))):
        with ArrayStream(new / f"features.{part}.npy", dtype) as numbers:
            _copy(getattr(old, part), numbers, BLOCK)
            numbers.append(getattr(more, part))


def _copy(array: NDArray[np.generic], stream: ArrayStream, rows: int) -> None:
    starts = range(0, len(array), rows)
    for start in tracked(starts, "copying features", len(starts)):
        stream.append(array[start : start + rows])


def _classes(graph: Graph, nodes: Nodes | None) -> tuple[Hashable, ...]:
    """Return the classes of all nodes, sorted."""
    if nodes is None or nodes.labels is None:
        return graph.classes
    return sorted_classes([*graph.classes, *encode_labels(nodes.labels, len(nodes.ids))[1]])


def _labels(graph: Graph, nodes: Nodes) -> NDArray[np.int64]:
    """Return the classes of all nodes by number, as they are numbered now."""
    code_of = {name: code for code, name in enumerate(_classes(graph, nodes))}
    codes, classes = encode_labels(nodes.labels, len(nodes.ids))
    unknown = np.full(len(nodes.ids), UNKNOWN)
    parts = [
        _renumbered(np.full(graph.n_nodes, UNKNOWN) if graph.labels is None else graph.labels, graph.classes, code_of),
        _renumbered(unknown if codes is None else codes, classes, code_of),
    ]
    return np.concatenate(parts)


def _renumbered(
    labels: NDArray[np.int64], classes: tuple[Hashable, ...], code_of: dict[Hashable, int]
) -> NDArray[np.int64]:
    return np.array([*(code_of[name] for name in classes), UNKNOWN], dtype=np.int64)[labels]


def _longer(old: pa.Table, new: pa.Table) -> pa.Table:
    """Return the columns of a table with the rows of another below them; values of two types become text."""
    columns = {}
    for field in old.schema:
        values = column_of(new, field.name)
        below = pa.nulls(new.num_rows, field.type) if values is None else values
        columns[field.name] = _one_below_the_other(old.column(field.name), below)
    return pa.table(columns)


def _one_below_the_other(old: pa.ChunkedArray, below: pa.Array) -> pa.ChunkedArray:
    if below.type != old.type:
        try:
            below = below.cast(old.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            old, below = old.cast(pa.string()), below.cast(pa.string())
    return pa.chunked_array([*old.chunks, below], type=old.type)


def _write_edges(
    new: Path,
    folder: Path,
    graph: Graph,
    tables: TwoTables,
    positions: Positions,
    options: TableOptions,
    work: Path,
    max_memory: int,
) -> tuple[int, tuple[str, ...], float | None]:
    """Write the matrix of all edges; return how many are new, what was mended, and what weights are divided by."""
    scale = graph.weight_scale
    if scale is None and graph.n_edges:
        if any("divided by their mean" in repair for repair in graph.repairs):
            rule, cure = "must say what its weights were divided by", "convert all tables together"
            raise FileError(f"{folder}", rule, "nothing", cure)
        scale = 1.0  # a matrix, whose weights were taken as they are
    n, old = len(positions.ids), graph.adjacency
    more, repairs = sp.csr_array((n, n), dtype=np.float32), tuple[str, ...]()
    if tables.edges_path is not None:
        pieces = tables.edges()
        table = EdgeTable(pieces, options, tables.edges_name, typed=tables.typed)
        gathered = gather_edges(table, positions, options, work, max_memory)
        made = work / "new"
        made.mkdir()
        learns = scale is None and options.weights == "mean"
        _, repairs, learnt = write_edges(made, gathered, scaled=learns)
        scale = learnt if scale is None else scale
        more.indptr, more.indices, more.data = (
            np.lib.format.open_memmap(made / f"adjacency.{part}.npy", mode="r")
            for part in ("indptr", "indices", "data")
        )
        _check_weights(folder, graph, more, table, options)
    divisor = 1.0 if scale is None or graph.weight_scale is None else scale
    rule = "max" if options.repeated == "max" else "sum"
    entries = write_adjacency(new, _merged_rows(old, more, divisor, rule), n, old.nnz + more.nnz)
    return (entries - old.nnz) // 2, repairs, scale


def _check_weights(folder: Path, graph: Graph, more: sp.csr_array, table: EdgeTable, options: TableOptions) -> None:
    """Refuse edges with weights beside edges without: 104 beside 1 is no weight.

    Sums of weights that are whole numbers may be counts of edges without any: what is mixed there is only said.
    """
    if options.weights == "none" or options.repeated == "count" or not graph.n_edges or not more.nnz:
        return
    scale = 1.0 if graph.weight_scale is None else graph.weight_scale
    old_weights, has_column = scale != 1 or _differ_from_1(graph.adjacency.data), table.weight is not None
    if old_weights == has_column or (has_column and not _differ_from_1(more.data)):
        return
    what, rule = f"Edges of {table.what}", f"must have weights, as those of {folder} have"
    found, cure = "no column of weights", "name it with --weight, add it, or convert all tables together"
    if has_column:
        rule, found = f"must have no weights, as all edges of {folder} weigh 1", f"the column {table.weight!r}"
        cure = "convert all tables together, or leave the column out"
    counts = more.data if has_column else graph.adjacency.data
    if options.repeated == "sum" and _are_whole(counts, 1.0 if has_column else scale):
        log.warning("%s %s, unless these are counts of edges; found %s: %s", what, rule, found, cure)
        return
    raise GraphError(what, rule, found, cure)


def _differ_from_1(weights: NDArray[np.float32]) -> bool:
    return any((weights[start : start + BLOCK] != 1).any() for start in range(0, len(weights), BLOCK))


def _are_whole(weights: NDArray[np.float32], scale: float) -> bool:
    """Say whether weights were whole numbers before they were divided."""
    parts = (weights[start : start + BLOCK].astype(np.float64) * scale for start in range(0, len(weights), BLOCK))
    return all(np.allclose(part, np.round(part), rtol=1e-6, atol=1e-6) for part in parts)


def _merged_rows(
    old: sp.csr_array, more: sp.csr_array, divisor: float, rule: str
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32] | None]]:
    """Yield the entries of both matrices, some rows at a time."""
    n, before = more.shape[0], old.shape[0]
    first = np.concatenate([old.indptr, np.full(n - before, old.indptr[-1], old.indptr.dtype)]).astype(np.int64)
    ends = first + more.indptr
    cuts = [0]
    while cuts[-1] < n:
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, ends[cuts[-1]] + BLOCK, side="right")) - 1))
    for number in tracked(range(len(cuts) - 1), "merging edges", len(cuts) - 1):
        rows = slice(cuts[number], cuts[number + 1])
        (a, old_weights), (b, weights) = (
            _entries(matrix, starts, rows, n) for matrix, starts in ((old, first), (more, more.indptr))
        )
        weights = weights if divisor == 1.0 else (weights / divisor).astype(np.float32)
        found = merge_entries(np.concatenate([a << 1, (b << 1) | 1]), np.concatenate([old_weights, weights]), rule)
        yield found.cells, found.weights


def _entries(
    matrix: sp.csr_array, starts: NDArray[np.integer[Any]], rows: slice, n: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return row × n + column of the entries of some rows, and their weights."""
    here = slice(int(starts[rows.start]), int(starts[rows.stop]))
    of_rows = np.repeat(np.arange(rows.start, rows.stop), np.diff(starts[rows.start : rows.stop + 1]))
    return of_rows * n + matrix.indices[here], np.asarray(matrix.data[here])
