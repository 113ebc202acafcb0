"""Two tables become a graph: ids, labels, features of the columns, edges, and the nodes that count.

`build_graph` keeps the graph in memory. `convert_tables` builds the same graph in a folder within a bound on memory:
DuckDB holds the rows of the nodes, which pass through in batches, and spills what does not fit. What stays in memory
are the ids, and 16 bytes per node.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, ParameterError
from featprop.features import TablePreprocessor
from featprop.graph import Graph, check_finite, freeze
from featprop.matrix import Features
from featprop.sources.arrays import write_features
from featprop.sources.databases import reading
from featprop.sources.description import GraphDescription
from featprop.sources.edges import EdgeReader
from featprop.sources.native import open_native, write_parts, writing_native
from featprop.sources.nodes import NodeRows, load_nodes
from featprop.sources.structure import structural_features
from featprop.sources.tables import Source, Tables

log = logging.getLogger(__name__)

MAX_TABLE_COLUMNS = 32
"""Columns that are features unchanged are not kept a second time in the table if they are this many."""


def build_graph(
    tables: Tables,
    description: GraphDescription,
    nodes: Source | None,
    edges: Source | None,
    preprocessor: TablePreprocessor | None = None,
) -> Graph:
    """Return the graph of two tables, of which one may be missing.

    A model passes the preprocessor it learned; without one, columns become features as they suggest.
    """
    ids, parts = _build_parts(tables, description, nodes, edges, preprocessor)
    return freeze(Graph(ids=np.asarray(ids.to_numpy(zero_copy_only=False)), **parts))


def convert_tables(
    description: GraphDescription,
    out: str | os.PathLike[str],
    *,
    max_memory: int | None = None,
    scratch: Path | None = None,
    force: bool = False,
) -> Graph:
    """Write the graph of two tables in featprop's own format and open it; it equals the one that `read_graph` returns.

    DuckDB uses a share of `max_memory` bytes and spills to `scratch`. `force` replaces a graph that is there already.
    """
    with (
        writing_native(Path(out), force=force) as folder,
        Tables(description.folder, description.attach, max_memory, scratch or folder.parent) as tables,
    ):
        nodes, edges = tables.sources_of(description)
        ids, parts = _build_parts(tables, description, nodes, edges, folder=folder)
        write_parts(folder, ids=ids, **parts)
    return open_native(Path(out))


def _build_parts(
    tables: Tables,
    description: GraphDescription,
    nodes: Source | None,
    edges: Source | None,
    preprocessor: TablePreprocessor | None = None,
    folder: Path | None = None,
) -> tuple[pa.Array, dict[str, Any]]:
    """Return the ids of a graph and its other attributes; large arrays are files of the folder, if one is given."""
    reader = None if edges is None else EdgeReader(tables, edges, description)
    if nodes is None:
        if reader is None:
            raise ParameterError("Neither nodes nor edges are given.", parameter="edges")
        nodes = tables.arrow(pa.table({"id": reader.find_nodes()}), reader.edges.name, typed=False)
    predicts = preprocessor is not None
    rows = load_nodes(tables, description, nodes, reader, in_memory=folder is None, is_predicting=predicts)
    n_nodes = len(rows.ids)
    if reader is None:
        adjacency = sp.csr_array((n_nodes, n_nodes), dtype=np.float32)
        log.warning("The graph has no edges")
    else:
        reader.join(rows.ids)
        adjacency = reader.adjacency(n_nodes, folder)
    if preprocessor is None:
        preprocessor = TablePreprocessor.fit(
            rows.sample(),
            kinds=dict(description.kinds),
            ignore=description.ignore,
            decimal=description.decimal,
            vocabulary=description.vocabulary,
        )
    raw = preprocessor.raw_columns if len(preprocessor.raw_columns) >= MAX_TABLE_COLUMNS else frozenset()
    kept = [name for name in rows.columns if name not in raw]
    n_features = preprocessor.n_features
    batches = rows.batches(folder, kept)
    features: Features
    if n_features:
        names = preprocessor.feature_names
        blocks = _checked(preprocessor.transform_batches(batches), rows.ids, names)
        features = write_features(folder, blocks, n_nodes, n_features)
    else:
        for _ in batches:
            pass
        log.info("No column can be a feature: the features are structural")
        features, names = structural_features(adjacency)
    labels, classes = rows.encode_labels()
    return rows.ids, {
        "adjacency": adjacency,
        "features": features,
        "labels": labels,
        "classes": classes,
        "feature_names": names,
        "table": rows.table.select(kept) if kept and rows.table is not None else None,
        "preprocessor": preprocessor if n_features else None,
        "repairs": () if reader is None else tuple(reader.repairs),
        "weight_scale": None if reader is None else reader.scale,
        "candidates": _find_candidates(description, rows),
        "id_name": rows.id,
    }


def _checked(blocks: Iterable[Features], ids: pa.Array, names: Sequence[str]) -> Iterator[Features]:
    start = 0
    for features in blocks:
        check_finite(features, ids[start : start + features.shape[0]], names)
        start += features.shape[0]
        yield features


def _find_candidates(description: GraphDescription, rows: NodeRows) -> NDArray[np.bool_] | None:
    """Return the mask of the nodes that meet the condition `only`, None without one."""
    condition = description.only
    if condition is None:
        return None
    query = f"SELECT coalesce(({condition}), false) AS chosen FROM {rows.source.relation} AS nodes"
    connection = rows.tables.connection
    try:
        with reading("only in [graph]"):
            if len(connection.extract_statements(query)) != 1:
                raise ParameterError("`only` must be one SQL condition.", parameter="only", value=condition)
            mask = connection.sql(query).to_arrow_table().column("chosen")
    except FileError as error:
        if not rows.source.typed:
            error.hint = 'Columns of CSV files are text: compare numbers as in "CAST(age AS DOUBLE) > 18".'
        raise
    if not pa.types.is_boolean(mask.type):
        raise ParameterError("`only` must be a SQL condition, true or false.", parameter="only", value=condition)
    chosen = np.asarray(mask.to_numpy())
    if not chosen.any():
        raise GraphError(f"No node meets the condition `only`: {condition}.", parameter="only", value=condition)
    return chosen
