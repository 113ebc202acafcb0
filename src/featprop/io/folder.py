"""A graph as two tables in a folder: ``nodes`` and ``edges``, each CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, first_five
from featprop.interop.parts import GraphParts
from featprop.io.tables import column, find_table, names_of, numbers_of, read_table

__all__ = ["parts_of_folder"]


def parts_of_folder(folder: Path, features: Sequence[str] | None) -> GraphParts:
    """Read ``nodes`` (id, features, optional label) and ``edges`` (source, target, optional weight).

    Parameters
    ----------
    features
        Names or patterns (``w_*``) of the feature columns; None for every numeric column or the one list column.
    """
    nodes_path, edges_path = find_table(folder, "nodes"), find_table(folder, "edges")
    nodes = read_table(nodes_path, text=["id", "label"])
    ids = names_of(column(nodes, "id", nodes_path))
    if ids.null_count:
        found = f"{ids.null_count:,} empty"
        raise FileError(f"{nodes_path}", "must have an id in every row", found, "fill the id column")
    labels = names_of(column(nodes, "label", nodes_path)) if "label" in nodes.column_names else None
    matrix, names = _features(nodes, features, nodes_path)
    source, target, weights = _edges(edges_path, ids)
    return GraphParts(
        source=source,
        target=target,
        features=matrix,
        weights=weights,
        ids=ids.to_numpy(zero_copy_only=False),
        labels=None if labels is None else labels.to_pylist(),
        feature_names=names,
    )


def _features(nodes: pa.Table, wanted: Sequence[str] | None, path: Path) -> tuple[Any, tuple[str, ...] | None]:
    names = [name for name in nodes.column_names if name not in ("id", "label")]
    if wanted is not None:
        names = _matching(names, wanted, path)
    columns, numeric, lists = [], [], []
    for name in names:
        values = column(nodes, name, path)
        numbers = numbers_of(values)
        if numbers is not None:
            columns.append(numbers)
            numeric.append(name)
        elif (vectors := _vectors(values)) is not None:
            lists.append((name, vectors))
        elif wanted is not None:
            found = f"the type {values.type}"
            raise GraphError(f"Feature column {name!r} of {path}", "must be numeric", found, "encode it as numbers")
    if len(lists) + bool(columns) > 1:
        found = ", ".join([name for name, _ in lists] + numeric[:3])
        rule = "must be numeric columns or one list column"
        raise GraphError(f"Features of {path}", rule, found, "name the ones to use with --features")
    if lists:
        return _rows(*lists[0], path), None
    if not columns:
        found = f"the columns {', '.join(nodes.column_names[:8])}"
        raise GraphError(f"{path}", "must have at least one numeric feature", found, "add a numeric column")
    return _columns(columns, numeric, nodes, path), tuple(numeric)


def _columns(columns: list[NDArray[Any]], names: list[str], nodes: pa.Table, path: Path) -> sp.csc_array:
    """Assemble columns without a dense matrix, so that thousands of mostly empty ones stay small."""
    rows = [np.flatnonzero(values) for values in columns]
    for name, values, filled in zip(names, columns, rows, strict=True):
        bad = filled[np.isnan(values[filled])]
        if bad.size:
            found = f"NaN or an empty cell at node {nodes['id'][bad[0]].as_py()!r} ({bad.size:,} in all)"
            raise GraphError(f"Feature {name!r} of {path}", "must be finite numbers", found, "fill or drop them")
    starts = np.concatenate([[0], np.cumsum([filled.size for filled in rows])])
    data = np.concatenate([values[filled] for values, filled in zip(columns, rows, strict=True)])
    shape = (nodes.num_rows, len(columns))
    return sp.csc_array((data.astype(np.float32), np.concatenate(rows), starts), shape=shape)


def _vectors(values: pa.Array) -> pa.Array | None:
    """Return a list column as it is, and text such as ``[0.5, 1]`` as a list column; None for anything else."""
    kind = values.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return values.cast(pa.list_(pa.float64()))
    if not pa.types.is_string(kind) or not pc.all(pc.match_substring_regex(values, r"^\s*\[.*\]\s*$")).as_py():
        return None
    inner = pc.utf8_trim(values, " \t[]")
    return pc.split_pattern_regex(inner, r"\s*[,;\s]\s*").cast(pa.list_(pa.float64()))


def _rows(name: str, vectors: pa.Array, path: Path) -> NDArray[Any]:
    what = f"Feature column {name!r} of {path}"
    lengths = pc.list_value_length(vectors)
    if vectors.null_count or pc.count_distinct(lengths).as_py() != 1:
        found = f"lengths from {pc.min(lengths)} to {pc.max(lengths)}, {vectors.null_count:,} empty"
        raise GraphError(what, "must hold lists of one length", found, "give every node as many features")
    flat = pc.fill_null(vectors.flatten(), float("nan")).to_numpy(zero_copy_only=False)
    return np.asarray(flat, dtype=np.float32).reshape(len(vectors), -1)


def _edges(path: Path, ids: pa.Array) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    table = read_table(path, text=None)
    if table.num_columns < 2:
        found = ", ".join(table.column_names) or "none"
        raise FileError(f"{path}", "must have the columns source and target", found, "add the missing column")
    named = {"source", "target"} <= set(table.column_names)
    ends = ("source", "target") if named else table.column_names[:2]
    source, target = (_positions(column(table, end, path), ids) for end in ends)
    for end, positions in zip(ends, (source, target), strict=True):
        missing = np.flatnonzero(positions < 0)
        if missing.size:
            named_there = column(table, end, path).take(pa.array(missing)).unique()
            found = f"{missing.size:,} edges naming unknown nodes in {end!r}: {first_five(named_there.to_pylist())}"
            raise GraphError(
                f"Edges of {path}", "must join nodes of the graph", found, "add those nodes or drop the edges"
            )
    if "weight" not in table.column_names:
        return source, target, None
    return source, target, _weights(column(table, "weight", path), path)


def _positions(ends: pa.Array, ids: pa.Array) -> NDArray[Any]:
    ends = names_of(ends)
    if ends.type != ids.type:
        ends, ids = ends.cast(pa.string()), ids.cast(pa.string())
    return np.asarray(pc.fill_null(pc.index_in(ends, value_set=ids), -1).to_numpy(zero_copy_only=False))


def _weights(values: pa.Array, path: Path) -> NDArray[Any]:
    try:
        numbers = values.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = " ".join(str(error).split())
        raise GraphError(f"Column 'weight' of {path}", "must be numeric", reason, "write numbers") from error
    return np.asarray(pc.fill_null(numbers, float("nan")).to_numpy(zero_copy_only=False))


def _matching(names: list[str], wanted: Sequence[str], path: Path) -> list[str]:
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in names):
            found = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
            raise FileError(
                f"{path}",
                f"must have a feature column {pattern!r}",
                f"the columns {found}",
                "name one of them",
            )
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in wanted)]
