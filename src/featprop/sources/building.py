"""Two tables become a graph: ids, labels, features of the columns, edges, and the nodes that count."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, ParameterError, first_five
from featprop.features import TablePreprocessor, check_target, suggest_label
from featprop.features.parsing import is_no_class
from featprop.graph import Graph, encode_labels, freeze
from featprop.matrix import Features, smaller
from featprop.sources.databases import identifier, reading
from featprop.sources.description import GraphDescription
from featprop.sources.edges import EdgeReader
from featprop.sources.feature_files import join_features
from featprop.sources.naming import ID_NAMES, LABEL_NAME, as_ids, find_column, name_of, names_in
from featprop.sources.structure import structural_features
from featprop.sources.tables import Source, Tables

log = logging.getLogger(__name__)

FIT_ROWS = 1 << 18
"""Rows that the preprocessor learns from; of more, as many at equal steps."""
MAX_TABLE_COLUMNS = 32
"""Columns that are features unchanged are not kept a second time in the table if they are this many."""
MAX_NAMES_SHARE = 0.5
"""A column called label whose values are distinct in more than this share of its rows holds names, not classes."""
MIN_NAMES = 20


@dataclass(frozen=True)
class NodeTable:
    """The table of the nodes and what its columns mean.

    Attributes
    ----------
    table
        All columns.
    id, label
        The columns of the ids and the labels.
    ids
        The ids: 64-bit integers or text.
    typed
        Whether text is text by intention.
    name
        The file, for messages.
    """

    table: pa.Table
    id: str
    label: str | None
    ids: pa.Array
    typed: bool
    name: str

    @property
    def feature_columns(self) -> pa.Table:
        """The columns that may become features."""
        return self.table.drop_columns([name for name in (self.id, self.label) if name is not None])


def build_graph(
    tables: Tables,
    description: GraphDescription,
    nodes: Source | None,
    edges: Source | None,
    preprocessor: TablePreprocessor | None = None,
) -> Graph:
    """Return the graph of two tables.

    Parameters
    ----------
    tables
        The connection.
    description
        What the user says about the tables.
    nodes, edges
        The tables; one may be missing.
    preprocessor
        How columns become features, where a model learned that before.
    """
    reader = None if edges is None else EdgeReader(tables, edges, description)
    found = read_nodes(tables, description, nodes, reader, is_predicting=preprocessor is not None)
    n_nodes = len(found.ids)
    if reader is None:
        adjacency = sp.csr_array((n_nodes, n_nodes), dtype=np.float32)
        log.warning("The graph has no edges")
    else:
        join_edges(reader, found, nodes)
        adjacency = reader.adjacency(n_nodes)
    columns = found.feature_columns
    if preprocessor is None:
        preprocessor = fit_preprocessor(columns, description)
    features, names = make_features(preprocessor, columns, adjacency)
    labels, classes = encode_labels(class_names(found), n_nodes)
    kept = shown_columns(columns.column_names, preprocessor)
    graph = Graph(
        adjacency,
        features,
        as_ids(found.ids),
        labels,
        classes,
        names,
        columns.select(kept) if kept else None,
        preprocessor if preprocessor.n_features else None,
        () if reader is None else tuple(reader.repairs),
        None if reader is None else reader.scale,
        candidates_of(tables, description, found),
        found.id,
    )
    return freeze(graph)


def shown_columns(columns: Sequence[str], preprocessor: TablePreprocessor) -> list[str]:
    """Return the columns to keep for people to read: all but those that are features unchanged, if these are many."""
    raw = preprocessor.raw_columns if len(preprocessor.raw_columns) >= MAX_TABLE_COLUMNS else frozenset()
    return [name for name in columns if name not in raw]


def read_nodes(
    tables: Tables,
    description: GraphDescription,
    nodes: Source | None,
    reader: EdgeReader | None,
    *,
    is_predicting: bool = False,
    names_only: bool = False,
) -> NodeTable:
    """Read the table of the nodes, of which `names_only` ids and labels, or make one of the ends of the edges."""
    if nodes is None:
        if reader is None:
            raise ParameterError("Neither nodes nor edges are given.", parameter="edges")
        name, typed, id_column, label = reader.edges.name, False, "id", None
        table = pa.table({"id": reader.find_nodes()})
    else:
        name, typed = nodes.name, nodes.typed
        id_column = find_id(tables, description, nodes, reader)
        label = _find_label(tables, description, nodes, is_predicting=is_predicting)
        columns = [each for each in (id_column, label) if each is not None] if names_only else None
        table = tables.fetch(nodes, columns, where=None if typed else not_empty(nodes))
    if table.num_rows == 0:
        raise GraphError(f"{name} has no nodes.", hint="Add a row for each node.", path=name)
    ids = _distinct_ids(tables, table, id_column, name, typed=typed)
    if description.unknown == "add" and reader is not None and nodes is not None:
        new = reader.find_unknown(ids).drop_null()
        if len(new):
            reader.repairs.append(f"added {len(new):,} node{'s' * (len(new) > 1)} that only the edges name")
            table = _add_rows(table, id_column, new)
            ids = names_in(table.column(id_column), id_column, name, typed=pa.types.is_string(ids.type))
    if description.features is not None:
        table = join_features(tables, table, ids, description)
    return NodeTable(table, id_column, label, ids, typed, name)


def _distinct_ids(tables: Tables, table: pa.Table, column: str, name: str, *, typed: bool) -> pa.Array:
    """Return the ids of the nodes; each must be there once."""
    ids = names_in(table.column(column), column, name, typed=typed)
    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))[0]) + 1
        raise FileError(
            f"{name} has {ids.null_count:,} rows without an id in column {column!r}, the first is row {row:,}.",
            hint="Give every node an id.",
            path=name,
            column=column,
            row=row,
        )
    tables.connection.register("ids", pa.table({"key": ids, "position": np.arange(len(ids))}))
    query = "SELECT key FROM ids GROUP BY key HAVING count(*) > 1 ORDER BY min(position)"
    repeated = [row[0] for row in tables.connection.execute(query).fetchall()]
    if repeated:
        raise GraphError(
            f"Node ids must be distinct, but column {column!r} of {name} repeats {first_five(repeated)}.",
            hint="Keep one row per node.",
            path=name,
            column=column,
            node=repeated[0],
        )
    return ids


def not_empty(nodes: Source) -> str:
    """Return the SQL condition of a row that is not empty: spreadsheets write empty rows after a table."""
    cells = ", ".join(f"CAST({identifier(name)} AS VARCHAR)" for name in nodes.columns)
    return f"coalesce({cells}) IS NOT NULL"


def join_edges(reader: EdgeReader, nodes: NodeTable, source: Source | None) -> None:
    """Join edges to nodes; if ends are unknown but all in another column of `source`, say which."""
    try:
        reader.join(nodes.ids)
    except GraphError as error:
        if error.parameter != "unknown" or source is None:
            raise
        column, n_ends = find_id_column(reader, source)
        if column is None or column == nodes.id:
            raise
        start = f"Column {nodes.id!r} of {nodes.name} does not hold"
        raise _ids_elsewhere(start, n_ends, column, nodes.name) from error


def _ids_elsewhere(start: str, n_ends: int, column: str, name: str) -> GraphError:
    """Return the error about ids that are in another column than a usual one."""
    return GraphError(
        f"{start} the ids of the edges: all {n_ends:,} ids are in column {column!r}.",
        hint=f'Run `featprop init`, or set id = "{column}" under [columns] in graph.toml.',
        path=name,
        parameter="id",
        value=column,
        column=column,
        choices=[column],
    )


def find_id_column(reader: EdgeReader, source: Source, prefer: str | None = None) -> tuple[str | None, int]:
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


def distinct_columns(tables: Tables, source: Source) -> list[str]:
    """Return the columns of which no two rows have the same value: they may hold the ids."""
    columns = _id_like(source)
    counts = ", ".join(f"count(DISTINCT {identifier(name)}) = count(*)" for name in columns)
    with reading(source.name):
        distinct = tables.connection.execute(f"SELECT {counts or 'NULL'} FROM {source.relation}").fetchall()[0]
    return [name for name, is_distinct in zip(columns, distinct, strict=False) if is_distinct]


def _id_like(source: Source) -> list[str]:
    """Return the columns whose type ids can have."""
    others = ("DOUBLE", "FLOAT", "BOOLEAN", "STRUCT", "MAP", "BLOB")
    return [
        name for name, kind in source.columns.items() if not kind.endswith("]") and kind.split("(")[0] not in others
    ]


def sample_step(rows: int) -> int:
    """Return the distance between the rows that the preprocessor learns from."""
    return max(1, -(-rows // FIT_ROWS))


def fit_preprocessor(columns: pa.Table, description: GraphDescription) -> TablePreprocessor:
    """Learn how columns become features, from at most `FIT_ROWS` rows."""
    step = sample_step(columns.num_rows)
    return TablePreprocessor.fit(
        columns if step == 1 else columns.take(np.arange(0, columns.num_rows, step)),
        kinds=dict(description.kinds),
        ignore=description.ignore,
        decimal=description.decimal,
        vocabulary=description.vocabulary,
    )


def make_features(
    preprocessor: TablePreprocessor, columns: pa.Table, adjacency: sp.csr_array
) -> tuple[Features, tuple[str, ...] | None]:
    """Return the features of the nodes and their names: from the columns, or from the structure if there are none."""
    if preprocessor.n_features == 0:
        log.info("No column can be a feature: the features are structural")
        return structural_features(adjacency)
    return smaller(preprocessor.transform(columns)), preprocessor.feature_names or None


def class_names(nodes: NodeTable) -> list[Hashable | None] | None:
    """Return the class of each node, None where it is unknown; words for a missing value are no classes."""
    if nodes.label is None:
        return None
    values = nodes.table.column(nodes.label)
    check_target(values, nodes.label)
    names = names_in(values, nodes.label, nodes.name, typed=nodes.typed)
    if pa.types.is_integer(names.type):
        return list(names.to_pylist())
    words = names.dictionary_encode()
    known: list[Hashable | None] = [
        None if is_no_class(word) else word if nodes.typed else name_of(word) for word in words.dictionary.to_pylist()
    ]
    return [None if code is None else known[code] for code in words.indices.to_pylist()]


def candidates_of(tables: Tables, description: GraphDescription, nodes: NodeTable) -> NDArray[np.bool_] | None:
    """Return the mask of the nodes that meet the condition `only`, None without one."""
    if description.only is None:
        return None
    tables.connection.register("nodes", nodes.table)
    condition = f"SELECT coalesce(({description.only}), false) AS chosen FROM nodes"
    try:
        with reading("only in [graph]"):
            statements = tables.connection.extract_statements(condition)
            if len(statements) != 1:
                message = "`only` must be one SQL condition."
                raise ParameterError(message, parameter="only", value=description.only)
            mask = tables.connection.execute(condition).to_arrow_table().column("chosen")
    except FileError as error:
        if not nodes.typed:
            error.hint = 'Columns of CSV files are text: compare numbers as in "CAST(age AS DOUBLE) > 18".'
        raise
    if not pa.types.is_boolean(mask.type):
        raise ParameterError("`only` must be a SQL condition, true or false.", parameter="only", value=description.only)
    chosen = np.asarray(mask.to_numpy())
    if not chosen.any():
        raise GraphError(
            f"No node meets the condition `only`: {description.only}.", parameter="only", value=description.only
        )
    return chosen


def find_id(tables: Tables, description: GraphDescription, source: Source, reader: EdgeReader | None) -> str:
    """Return the column of the ids."""
    columns, name = list(source.columns), source.name
    found = find_column(columns, ID_NAMES, name, description.id, "id")
    if found is not None:
        return found
    if columns and (columns[0] == "Unnamed: 0" or len(columns) == 1):
        return columns[0]
    match, n_ends = (None, 0) if reader is None else find_id_column(reader, source)
    if match is not None:
        raise _ids_elsewhere(f"{name} has no column named id with", n_ends, match, name)
    likely = distinct_columns(tables, source)
    raise FileError(
        f"{name} has no column named id; its columns are {', '.join(columns[:8])}{', …' if len(columns) > 8 else ''}.",
        hint=f"Name the column of the ids with `id`{f', such as {likely[0]}' if likely else ''}.",
        path=name,
        parameter="id",
        choices=likely[:5],
    )


def _find_label(tables: Tables, description: GraphDescription, source: Source, *, is_predicting: bool) -> str | None:
    """Return the column of the labels, if there is one; a column called label that names nodes is none."""
    columns = list(source.columns)
    if description.label is not None:
        if is_predicting and description.label not in columns:
            return None
        return find_column(columns, (), source.name, description.label, "label")
    found = find_column(columns, (LABEL_NAME,), source.name)
    if found is None:
        if likely := suggest_label(columns):
            log.warning(
                "Column %r may hold the labels, but is used as a feature: to use it as labels, set label in graph.toml",
                likely,
            )
        return None
    values = identifier(found)
    fractions = f"count(*) FILTER (TRY_CAST(CAST({values} AS VARCHAR) AS DOUBLE) % 1 != 0)"
    query = f"SELECT count({values}), count(DISTINCT {values}), {fractions} FROM {source.relation}"
    with reading(source.name):
        known, distinct, quantities = tables.connection.execute(query).fetchall()[0]
    if known > MIN_NAMES and distinct > MAX_NAMES_SHARE * known > quantities:
        log.warning("Column %r of %s holds names rather than classes: it is not used as the label", found, source.name)
        return None
    return found


def _add_rows(table: pa.Table, column: str, new: pa.Array) -> pa.Table:
    """Add rows whose only value is the id."""
    place = table.column_names.index(column)
    table = table.set_column(place, column, table.column(column).cast(pa.string()))
    return pa.concat_tables([table, pa.table({column: new})], promote_options="default")
