"""`convert_tables`: tables of any size become a graph in featprop's own format within a bound on memory.

DuckDB joins, merges and sorts the edges and spills what does not fit into memory; the nodes pass through in batches.
What stays in memory are the ids, and 16 bytes per node.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from featprop.adjacency import MeanWeight, index_type
from featprop.features import TablePreprocessor
from featprop.graph import check_finite, encode_labels
from featprop.matrix import Features, as_dense, is_sparse_smaller, non_zeros
from featprop.progress import tracked
from featprop.sources.building import (
    NodeTable,
    build_graph,
    class_names,
    find_id,
    fit_preprocessor,
    join_edges,
    not_empty,
    read_nodes,
    sample_step,
    shown_columns,
)
from featprop.sources.databases import identifier, reading
from featprop.sources.description import GraphDescription
from featprop.sources.edges import BATCH_ROWS as ENTRIES_PER_BATCH
from featprop.sources.edges import EdgeReader
from featprop.sources.inferring import sources_of
from featprop.sources.native import (
    TABLE,
    ArrayWriter,
    divide_weights,
    write_adjacency,
    write_description,
    write_ids,
    write_native,
    writing_native,
    writing_table,
)
from featprop.sources.structure import structural_features
from featprop.sources.tables import Source, Tables

BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class Converted:
    """Size of a graph that was written, and how its columns became features."""

    nodes: int
    edges: int
    features: int
    preprocessor: TablePreprocessor | None


def convert_tables(
    description: GraphDescription,
    out: str | os.PathLike[str],
    *,
    max_memory: int | None = None,
    scratch: Path | None = None,
    force: bool = False,
) -> Converted:
    """Write the graph of two tables in featprop's own format; it equals the one that `read_graph` returns.

    Parameters
    ----------
    description
        The tables.
    out
        Folder to write.
    max_memory
        Bytes to use.
    scratch
        Folder for what does not fit into memory.
    force
        Replace a graph in featprop's format that is there already.
    """
    with (
        writing_native(Path(out), force=force) as folder,
        Tables(description.folder, description.attach, max_memory, scratch or folder.parent) as tables,
    ):
        nodes, edges = sources_of(tables, description)
        if nodes is None or edges is None or description.unknown == "add" or description.features or description.only:
            graph = build_graph(tables, description, nodes, edges)
            write_native(graph, folder, into=True)
            return Converted(graph.n_nodes, graph.n_edges, graph.n_features, graph.preprocessor)
        return _stream(tables, description, nodes, EdgeReader(tables, edges, description), folder)


def _stream(
    tables: Tables, description: GraphDescription, nodes: Source, reader: EdgeReader, folder: Path
) -> Converted:
    where = "" if nodes.typed else f"WHERE {not_empty(nodes)}"
    with reading(nodes.name):
        tables.connection.execute(f"CREATE TEMP TABLE node_rows AS SELECT * FROM {nodes.relation} {where}")
        _store_whole_numbers(tables, nodes, find_id(tables, description, nodes, reader))
    stored = tables.described(nodes.name, "node_rows", typed=nodes.typed)
    found = read_nodes(tables, description, stored, reader, names_only=True)
    n_nodes = len(found.ids)
    join_edges(reader, found, stored)
    mean = MeanWeight()
    entries = tracked(reader.entries(), "sorting edges", -(-reader.n_entries // ENTRIES_PER_BATCH))
    write_adjacency(folder, entries, n_nodes, reader.n_entries, mean)
    reader.finish(mean)
    if reader.scale not in (1.0, None):
        divide_weights(folder, mean)
    kind = write_ids(folder, found.ids)
    labels, classes = encode_labels(class_names(found), n_nodes)
    if labels is not None:
        np.save(folder / "labels.npy", labels)
    preprocessor, names = _write_columns(tables, description, stored, found, folder)
    write_description(
        folder,
        nodes=n_nodes,
        columns=len(names),
        ids=kind,
        classes=classes,
        feature_names=names or None,
        preprocessor=preprocessor,
        repairs=reader.repairs,
        weight_scale=reader.scale,
        id_name=found.id,
    )
    return Converted(n_nodes, reader.n_entries // 2, len(names), preprocessor)


def _store_whole_numbers(tables: Tables, nodes: Source, column: str) -> None:
    """Turn ids that are text into numbers, if they read back unchanged: that takes less memory than in Python."""
    if not nodes.typed and nodes.columns[column] == "VARCHAR":
        name = identifier(column)
        same = f"coalesce(CAST(try_cast({name} AS BIGINT) AS VARCHAR) = {name}, false)"
        if tables.connection.execute(f"SELECT bool_and({same}) FROM node_rows").fetchall()[0][0]:
            tables.connection.execute(f"ALTER TABLE node_rows ALTER {name} TYPE BIGINT")


def _write_columns(
    tables: Tables, description: GraphDescription, stored: Source, nodes: NodeTable, folder: Path
) -> tuple[TablePreprocessor | None, tuple[str, ...]]:
    """Write the features and the table of the nodes; return how columns became features, and their names."""
    columns = [name for name in stored.columns if name not in (nodes.id, nodes.label)]
    chosen, n_nodes = ", ".join(map(identifier, columns)) or "NULL", len(nodes.ids)

    def rows(condition: str = "true") -> Any:
        return tables.connection.execute(f"SELECT {chosen} FROM node_rows WHERE {condition}")

    with reading(stored.name):
        sample = rows(f"rowid % {sample_step(n_nodes)} = 0").to_arrow_table().select(columns)
        preprocessor = fit_preprocessor(sample, description)
        kept = shown_columns(columns, preprocessor)
        batches = tracked(rows().to_arrow_reader(BATCH_ROWS), "encoding columns", -(-n_nodes // BATCH_ROWS))
        with writing_table(folder / TABLE, sample.select(kept).schema) if kept else nullcontext() as table:
            passing = _written(batches, table, kept)
            if preprocessor.n_features:
                names = preprocessor.feature_names
                blocks = _checked(preprocessor.transform_batches(passing), nodes, names)
                _write_features(folder, blocks, n_nodes, len(names))
                return preprocessor, names
            for _ in passing:
                pass
    parts = (np.load(folder / f"adjacency.{part}.npy", mmap_mode="r") for part in ("data", "indices", "indptr"))
    features, names = structural_features(sp.csr_array(tuple(parts), shape=(n_nodes, n_nodes)))
    np.save(folder / "features.npy", features)
    return None, names


def _written(
    batches: Iterable[pa.RecordBatch], write: Callable[[pa.RecordBatch], None] | None, kept: list[str]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if write is not None:
            write(batch.select(kept))
        yield batch


def _checked(blocks: Iterable[Features], nodes: NodeTable, names: tuple[str, ...]) -> Iterator[Features]:
    start = 0
    for features in blocks:
        check_finite(features, nodes.ids[start : start + features.shape[0]], names)
        start += features.shape[0]
        yield features


def _write_features(folder: Path, blocks: Iterator[Features], rows: int, columns: int) -> None:
    """Write rows of features, dense or sparse, whichever is smaller for the first block."""
    kind, first = index_type(rows, rows * columns), next(blocks)
    whole = chain([first], blocks)
    if not is_sparse_smaller(first.shape[0], columns, non_zeros(first)):
        with ArrayWriter(folder / "features.npy", np.float32, columns) as writer:
            for block in whole:
                writer.append(as_dense(block))
        return
    lengths = [np.zeros(1, kind)]
    with (
        ArrayWriter(folder / "features.indices.npy", kind) as indices,
        ArrayWriter(folder / "features.data.npy", np.float32) as data,
    ):
        for block in whole:
            matrix = sp.csr_array(block)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            indices.append(matrix.indices)
            data.append(matrix.data)
            lengths.append(np.diff(matrix.indptr))
    np.save(folder / "features.indptr.npy", np.cumsum(np.concatenate(lengths), dtype=kind))
