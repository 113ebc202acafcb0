"""What ``featprop init`` writes: which columns hold the ids, the ends, the weights and the labels."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from featprop.features import suggest_label
from featprop.sources.databases import identifier, reading
from featprop.sources.description import GraphDescription, is_sql
from featprop.sources.edges import EdgeReader
from featprop.sources.naming import ID_NAMES, find_column
from featprop.sources.nodes import no_id_column
from featprop.sources.tables import Source, Tables


def infer_description(description: GraphDescription) -> tuple[GraphDescription, list[str]]:
    """Find the columns of ids, ends, weights and labels that a description does not name.

    The id column is the one with a usual name if it has every end of the edges, else any column that has. Returns the
    description with the columns it found and a line on each.
    """
    found: list[str] = []
    with Tables(description.folder, description.attach) as tables:
        nodes, edges = tables.sources_of(description)
        reader = None
        if edges is not None:
            reader = EdgeReader(tables, edges, description)
            found.append(f"edges run from column {reader.source!r} to {reader.target!r}")
            description = replace(description, source=reader.source, target=reader.target)
            if reader.weight is not None:
                found.append(f"edge weights are in column {reader.weight!r}")
                description = replace(description, weight=reader.weight)
        if nodes is not None:
            columns = list(nodes.columns)
            id_column = find_column(columns, ID_NAMES, nodes.name, description.id, "id")
            if reader is not None and description.id is None:
                match, n_ends = _find_id_column(reader, nodes, prefer=id_column)
                if match is not None:
                    found.append(f"all {n_ends:,} ids of the edges are in column {match!r}")
                    id_column = match
            if id_column is None:
                likely = _distinct_columns(tables, nodes)
                if len(likely) != 1:
                    raise no_id_column(nodes, likely)
                id_column = likely[0]
                found.append(f"column {id_column!r} is the only one with distinct values: it holds the ids")
            label = find_column(columns, (), nodes.name, description.label, "label") or suggest_label(columns)
            if label is not None and description.label is None:
                found.append(f"labels are in column {label!r}")
            description = replace(description, id=id_column, label=label)
    return description, found


def relative_source(spec: str, folder: Path) -> str:
    """Return a path as ``graph.toml`` in that folder names it; a query stays."""
    if is_sql(spec):
        return spec
    return Path(os.path.relpath(spec, folder)).as_posix()


def _find_id_column(reader: EdgeReader, source: Source, prefer: str | None) -> tuple[str | None, int]:
    """Return the column of the nodes that has every end of the edges, and the number of distinct ends."""
    ends = pa.table({"id": reader.find_nodes()})
    reader.connection.register("ends_of_edges", ends)
    for column in sorted(_id_like(source), key=lambda name: name != prefer):
        known = f"SELECT CAST({identifier(column)} AS VARCHAR) AS id FROM {source.relation}"
        query = f"SELECT count(*) FROM ends_of_edges ANTI JOIN ({known}) USING (id)"
        with reading(source.name):
            if reader.connection.execute(query).fetchall()[0][0] == 0:
                return column, ends.num_rows
    return None, ends.num_rows


def _distinct_columns(tables: Tables, source: Source) -> list[str]:
    """Return the columns of which no two rows have the same value: they may hold the ids."""
    columns = _id_like(source)
    counts = ", ".join(f"count(DISTINCT {identifier(name)}) = count(*)" for name in columns) or "NULL"
    with reading(source.name):
        distinct = tables.connection.execute(f"SELECT {counts} FROM {source.relation}").fetchall()[0]
    return [name for name, is_distinct in zip(columns, distinct, strict=False) if is_distinct]


def _id_like(source: Source) -> list[str]:
    """Return the columns whose type ids can have."""
    others = ("DOUBLE", "FLOAT", "BOOLEAN", "STRUCT", "MAP", "BLOB")
    return [name for name, kind in source.columns.items() if not kind.endswith("]") and not kind.startswith(others)]
