"""`convert_tables`: tables of any size become a graph in featprop's own format within a bound on memory.

DuckDB joins, merges and sorts the edges and spills what does not fit into memory; the nodes pass through in batches.
What stays in memory are the ids, and 16 bytes per node.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from featprop.adjacency import MeanWeight, index_type
from featprop.features import TablePreprocessor
from featprop.graph import check_finite, encode_labels
from featprop.matrix import Features, is_sparse_smaller, non_zeros
from featprop.progress import tracked
from featprop.sources.building import (
    NodeTable,
    build_graph,
    class_names,
    fit_preprocessor,
    join_edges,
    read_nodes,
    sample_step,
    shown_columns,
)
from featprop.sources.description import GraphDescription
from featprop.sources.edges import BATCH_ROWS as ENTRIES_PER_BATCH
from featprop.sources.edges import EdgeReader
from featprop.sources.native import (
    PARTS,
    ArrayWriter,
    divide_weights,
    write_adjacency,
    write_description,
    write_ids,
    write_native,
    write_table,
    writing_native,
)
from featprop.sources.reading import sources_of
from featprop.sources.structure import structural_features
from featprop.sources.tables import Source, Tables, identifier, reading

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
    with reading(nodes.name):
        tables.connection.execute(f"CREATE TEMP TABLE node_rows AS SELECT * FROM {nodes.relation}")
    stored = tables.described(nodes.name, "node_rows", typed=nodes.typed)
    found = read_nodes(tables, description, stored, reader, names_only=True)
    n_nodes = len(found.ids)
    join_edges(reader, found, stored)
    _write_edges(reader, n_nodes, folder)
    kind = write_ids(folder, found.ids)
    labels, classes = encode_labels(class_names(found), n_nodes)
    if labels is not None:
        np.save(folder / "labels.npy", labels)
    preprocessor, names, width = _write_columns(tables, description, stored, found, folder)
    write_description(
        folder,
        nodes=n_nodes,
        columns=width,
        ids=kind,
        classes=classes,
        feature_names=names,
        preprocessor=preprocessor,
        repairs=reader.repairs,
        weight_scale=reader.scale,
        id_name=found.id,
    )
    return Converted(n_nodes, reader.n_entries // 2, width, preprocessor)


def _write_edges(reader: EdgeReader, n_nodes: int, folder: Path) -> None:
    if reader.matrix is not None:
        for part in PARTS:
            np.save(folder / f"adjacency.{part}.npy", getattr(reader.matrix, part))
        reader.matrix = None
        return
    mean = MeanWeight()
    batches = tracked(reader.entries(), "sorting edges", -(-reader.n_entries // ENTRIES_PER_BATCH))
    write_adjacency(folder, batches, n_nodes, reader.n_entries, mean)
    reader.finish(mean)
    if reader.scale not in (1.0, None):
        divide_weights(folder, mean)


def _write_columns(
    tables: Tables, description: GraphDescription, stored: Source, nodes: NodeTable, folder: Path
) -> tuple[TablePreprocessor | None, tuple[str, ...] | None, int]:
    """Write the features and the table of the nodes; return how columns became features, and their names and number."""
    columns = [name for name in stored.columns if name not in (nodes.id, nodes.label)]
    n_nodes = len(nodes.ids)
    chosen = ", ".join(map(identifier, columns)) or "NULL"
    step = sample_step(n_nodes)
    with reading(stored.name):
        query = f"SELECT {chosen} FROM node_rows WHERE rowid % {step} = 0 AND rowid < {n_nodes} ORDER BY rowid"
        sample = tables.connection.execute(query).to_arrow_table()
    preprocessor = fit_preprocessor(sample if columns else sample.drop_columns(sample.column_names), description)
    kept = shown_columns(columns, preprocessor)
    if preprocessor.n_features == 0:
        parts = (np.load(folder / f"adjacency.{part}.npy", mmap_mode="r") for part in ("data", "indices", "indptr"))
        features, names = structural_features(sp.csr_array(tuple(parts), shape=(n_nodes, n_nodes)))
        np.save(folder / "features.npy", features)
    with reading(stored.name):
        query = f"SELECT {chosen} FROM node_rows WHERE rowid < {n_nodes}"
        rows = tables.connection.execute(query).to_arrow_reader(BATCH_ROWS)
        schema = pa.schema([field for field in rows.schema if field.name in kept])
        if preprocessor.n_features:
            names = preprocessor.feature_names
            if kept:
                write_table(folder, schema, _features_on_the_way(rows, preprocessor, kept, nodes, folder))
            else:
                list(_features_on_the_way(rows, preprocessor, kept, nodes, folder))
        elif kept:
            write_table(folder, schema, (batch.select(kept) for batch in rows))
    return preprocessor if preprocessor.n_features else None, names or None, len(names)


def _features_on_the_way(
    rows: Iterable[pa.RecordBatch], preprocessor: TablePreprocessor, kept: list[str], nodes: NodeTable, folder: Path
) -> Iterator[pa.RecordBatch]:
    """Write the features of batches as they pass, and yield the columns that are kept."""
    waiting: list[pa.RecordBatch] = []

    def passing() -> Iterator[pa.RecordBatch]:
        for batch in tracked(rows, "encoding columns", -(-len(nodes.ids) // BATCH_ROWS)):
            waiting.append(batch)
            yield batch

    writer = _FeatureWriter(folder, preprocessor.n_features)
    for features in preprocessor.transform_batches(passing()):
        check_finite(features, nodes.ids[writer.rows : writer.rows + features.shape[0]], preprocessor.feature_names)
        writer.append(features)
        yield waiting.pop(0).select(kept)
    writer.close()


class _FeatureWriter:
    """Writes rows of features, dense or sparse, and at the end leaves the smaller form."""

    def __init__(self, folder: Path, columns: int) -> None:
        self.folder, self.columns, self.rows, self.entries = folder, columns, 0, 0
        self.is_sparse = False
        self.writers: list[ArrayWriter] = []
        self.lengths: list[np.ndarray] = []

    def append(self, features: Features) -> None:
        """Write further rows."""
        if not self.writers:
            self.is_sparse = sp.issparse(features)
            files = (("features.indices", np.int64, None), ("features.data", np.float32, None))
            files = files if self.is_sparse else (("features", np.float32, self.columns),)  # type: ignore[assignment]
            self.writers = [ArrayWriter(self.folder / f"{name}.npy", kind, width) for name, kind, width in files]
        self.rows += features.shape[0]
        if self.is_sparse:
            matrix = sp.csr_array(features)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            self.entries += matrix.nnz
            self.lengths.append(np.diff(matrix.indptr))
            self.writers[0].append(matrix.indices)
            self.writers[1].append(matrix.data)
        else:
            self.entries += non_zeros(features)
            self.writers[0].append(np.asarray(features))

    def close(self) -> None:
        """Finish the files and turn them into the smaller form."""
        for writer in self.writers:
            writer.__exit__()
        wants_sparse = is_sparse_smaller(self.rows, self.columns, self.entries)
        kind = index_type(max(self.rows, self.columns), self.entries)
        if self.is_sparse:
            indptr = np.concatenate([[0], np.cumsum(np.concatenate(self.lengths))]).astype(kind)
            indices = np.load(self.folder / "features.indices.npy", mmap_mode="r")
            data = np.load(self.folder / "features.data.npy", mmap_mode="r")
            if wants_sparse:
                narrow = np.asarray(indices).astype(kind)
                np.save(self.folder / "features.indices.npy", narrow)
                np.save(self.folder / "features.indptr.npy", indptr)
                return
            with ArrayWriter(self.folder / "features.npy", np.float32, self.columns) as dense:
                for start in range(0, self.rows, BATCH_ROWS):
                    stop = min(start + BATCH_ROWS, self.rows)
                    part = slice(indptr[start], indptr[stop])
                    rows = (data[part], indices[part], indptr[start : stop + 1] - indptr[start])
                    dense.append(sp.csr_array(rows, shape=(stop - start, self.columns)).toarray())
            for name in ("indices", "data"):
                (self.folder / f"features.{name}.npy").unlink()
        elif wants_sparse:
            values = np.load(self.folder / "features.npy", mmap_mode="r")
            blocks = (sp.csr_array(values[start : start + BATCH_ROWS]) for start in range(0, self.rows, BATCH_ROWS))
            sparse = _FeatureWriter(self.folder, self.columns)
            for block in blocks:
                sparse.append(block)
            sparse.close()
            (self.folder / "features.npy").unlink()
