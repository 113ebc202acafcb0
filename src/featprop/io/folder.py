"""A graph as two tables in a folder: ``nodes`` and ``edges``, each CSV or Parquet."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, first_five, reason
from featprop.graph import Graph
from featprop.interop.raw import RawGraph
from featprop.io.formats import Format, register_format
from featprop.io.tables import SUFFIXES, class_names, column, find_table, names, numbers_of, read_table

__all__ = ["Tables", "raw_from_folder"]

log = logging.getLogger(__name__)

TOO_LARGE = 1000
"""How many times larger than usual the numbers of a column may be before a warning."""

WORTH_CONVERTING = 3.0
"""Seconds a folder of tables may take to read before its reader is told of the faster format."""


@register_format("tables")
class Tables(Format):
    """A folder of two tables."""

    description = "a folder with nodes.csv and edges.csv (or .parquet)"
    has_columns = True

    def fits(self, place: Path) -> bool:
        """Say whether at least one of the tables is there."""
        return any((place / f"{stem}{suffix}").exists() for stem in ("nodes", "edges") for suffix in SUFFIXES)

    def read(self, place: Path, features: Sequence[str] | None) -> Graph:
        """Read the tables."""
        start = time.monotonic()
        graph = Graph.from_raw(raw_from_folder(place, features))
        seconds = time.monotonic() - start
        if seconds > WORTH_CONVERTING:
            log.warning(
                "Reading the tables took %.0f s: featprop convert %s FOLDER writes a graph that opens at once",
                seconds,
                place,
            )
        return graph


def raw_from_folder(folder: Path, features: Sequence[str] | None) -> RawGraph:
    """Read ``nodes`` (id, features, optional label) and ``edges`` (source, target, optional weight).

    Parameters
    ----------
    features
        Names or patterns (``w_*``) of the feature columns; None for every numeric column or the one list column.
    """
    nodes_path, edges_path = find_table(folder, "nodes"), find_table(folder, "edges")
    nodes = read_table(nodes_path, text=["id", "label"])
    if nodes.num_rows == 0:
        raise GraphError(f"{nodes_path}", "must have at least one node", "no row", "add a row for each node")
    ids = names(nodes, "id", nodes_path)
    if ids.null_count:
        found = f"{ids.null_count:,} empty"
        raise FileError(f"{nodes_path}", "must have an id in every row", found, "fill the id column")
    labels = class_names(nodes, "label", nodes_path) if "label" in nodes.column_names else None
    matrix, feature_names = _features(nodes, features, nodes_path)
    source, target, weights = _edges(edges_path, ids)
    return RawGraph(
        source=source,
        target=target,
        features=matrix,
        weights=weights,
        ids=ids.to_numpy(zero_copy_only=False),
        labels=labels,
        feature_names=feature_names,
        table=nodes,
    )


def _features(nodes: pa.Table, wanted: Sequence[str] | None, path: Path) -> tuple[Any, tuple[str, ...] | None]:
    possible = [name for name in nodes.column_names if name not in ("id", "label")]
    columns, numeric, lists, ignored = [], [], [], []
    for name in possible if wanted is None else _matching(possible, wanted, path):
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
        else:
            ignored.append(name)
    if ignored:
        log.info("columns that are not numeric ignored: %s", first_five(ignored))
    if len(lists) + bool(columns) > 1:
        found = ", ".join([name for name, _ in lists] + numeric[:3])
        rule = "must be numeric columns or one list column"
        raise GraphError(f"Features of {path}", rule, found, "name the ones to use with --features")
    if lists:
        return _rows(*lists[0], path), None
    if not columns:
        found = f"the columns {', '.join(nodes.column_names[:8])}"
        raise GraphError(f"{path}", "must have at least one numeric feature", found, "add a numeric column")
    matrix = _columns(columns, numeric, names(nodes, "id", path), path)
    _warn_of_scales(matrix, numeric)
    return matrix, tuple(numeric)


def _warn_of_scales(matrix: sp.csc_array, titles: list[str]) -> None:
    """Say which columns drown the others: distances and training see little else."""
    sizes = np.asarray(abs(matrix).max(axis=0).toarray()).ravel()
    usual = np.median(sizes[sizes > 0]) if (sizes > 0).any() else 0.0
    large = [title for title, size in zip(titles, sizes, strict=True) if size > TOO_LARGE * usual]
    if large and usual > 0:
        log.warning(
            "feature columns with far larger numbers than the others will outweigh them: %s; scale them, to a mean of "
            "0 and a deviation of 1 for example, or leave them out with --features",
            first_five(large),
        )


def _columns(columns: list[NDArray[Any]], titles: list[str], ids: pa.Array, path: Path) -> sp.csc_array:
    """Assemble columns without a dense matrix, so that thousands of mostly empty ones stay small."""
    rows = [np.flatnonzero(values) for values in columns]
    for title, values, filled in zip(titles, columns, rows, strict=True):
        bad = filled[np.isnan(values[filled])]
        if bad.size:
            found = f"NaN or an empty cell at node {ids[bad[0]].as_py()!r} ({bad.size:,} in all)"
            raise GraphError(f"Feature {title!r} of {path}", "must be finite numbers", found, "fill or drop them")
    starts = np.concatenate([[0], np.cumsum([filled.size for filled in rows])])
    data = np.concatenate([values[filled] for values, filled in zip(columns, rows, strict=True)])
    return sp.csc_array((data, np.concatenate(rows), starts), shape=(len(ids), len(columns)))


def _vectors(values: pa.Array) -> pa.Array | None:
    """Return lists of numbers as they are, and text such as ``[0.5, 1]`` as lists; None for anything else."""
    kind = values.type
    if pa.types.is_string(kind) and pc.all(pc.match_substring_regex(values, r"(?s)^\s*\[.*\]\s*$")).as_py():
        values = pc.split_pattern_regex(pc.utf8_trim(values, " \t\r\n[]"), r"\s*[,;\s]\s*")
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    try:
        return values.cast(pa.list_(pa.float64()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


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
    source, target = (_positions(names(table, end, path), ids) for end in ends)
    astray = (source < 0) | (target < 0)
    if astray.any():
        pairs = zip(ends, (source, target), strict=True)
        strange = [name for end, there in pairs for name in column(table, end, path).filter(there < 0).to_pylist()]
        unknown = first_five([repr(name) for name in dict.fromkeys(strange)])
        found = f"{unknown} unknown in {np.count_nonzero(astray):,} of {table.num_rows:,} edges"
        raise GraphError(f"Edges of {path}", "must join ids of the nodes", found, "add those nodes or drop the edges")
    others = [name for name in table.column_names if name not in (*ends, "weight")]
    if others:
        log.info("columns of the edges ignored: %s", first_five(others))
    if "weight" not in table.column_names:
        return source, target, None
    return source, target, _weights(column(table, "weight", path), path)


def _positions(ends: pa.Array, ids: pa.Array) -> NDArray[Any]:
    if ends.type != ids.type:
        ends, ids = ends.cast(pa.string()), ids.cast(pa.string())
    return np.asarray(pc.fill_null(pc.index_in(ends, value_set=ids), -1).to_numpy(zero_copy_only=False))


def _weights(values: pa.Array, path: Path) -> NDArray[Any]:
    try:
        numbers = values.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        what = f"Column 'weight' of {path}"
        raise GraphError(what, "must be numeric", f"this: {reason(error)}", "write a number in every row") from error
    return np.asarray(pc.fill_null(numbers, float("nan")).to_numpy(zero_copy_only=False))


def _matching(columns: list[str], wanted: Sequence[str], path: Path) -> list[str]:
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in columns):
            found = ", ".join(columns[:8]) + (", …" if len(columns) > 8 else "")
            raise FileError(
                f"{path}",
                f"must have a feature column {pattern!r}",
                f"the columns {found}",
                "name one of them",
            )
    return [name for name in columns if any(fnmatchcase(name, pattern) for pattern in wanted)]
