"""The table of the nodes: its ids, its labels, and the columns that may become features."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, first_five
from featprop.features import check_target, suggest_label
from featprop.features.parsing import is_no_class
from featprop.graph import UNKNOWN
from featprop.ids import sorted_classes
from featprop.progress import tracked
from featprop.sources.databases import identifier, reading
from featprop.sources.description import GraphDescription
from featprop.sources.edges import EdgeReader
from featprop.sources.feature_files import join_features
from featprop.sources.naming import ID_NAMES, LABEL_NAME, find_column, name_of, names_in, shown_columns
from featprop.sources.native import TABLE, writing_table
from featprop.sources.tables import Source, Tables

log = logging.getLogger(__name__)

BATCH_ROWS = 1 << 16
FIT_ROWS = 1 << 18
"""Rows that the preprocessor learns from; of more, as many at equal steps."""
MAX_NAMES_SHARE = 0.5
"""A column called label whose values are distinct in more than this share of its rows holds names, not classes."""
MIN_NAMES = 20


@dataclass(frozen=True)
class NodeRows:
    """The rows of the nodes, in memory as `table` unless only DuckDB holds them, and what their columns mean.

    `id` and `label` name columns, `ids` and `labels` are their values.
    """

    tables: Tables
    source: Source
    table: pa.Table | None
    id: str
    ids: pa.Array
    label: str | None
    labels: pa.ChunkedArray | None

    @property
    def columns(self) -> list[str]:
        """The columns that may become features."""
        return [name for name in self.source.columns if name not in (self.id, self.label)]

    def sample(self) -> pa.Table:
        """Return at most `FIT_ROWS` rows, evenly spaced."""
        step = max(1, -(-len(self.ids) // FIT_ROWS))
        if self.table is None:
            return self.tables.fetch(self.source, self.columns, where=f"rowid % {step} = 0")
        chosen = self.table.select(self.columns)
        return chosen if step == 1 else chosen.take(np.arange(0, len(self.ids), step))

    def batches(self, folder: Path | None, kept: list[str]) -> Iterator[pa.RecordBatch | pa.Table]:
        """Yield the rows, and write the columns to keep to the folder as they pass; rows in memory are one batch."""
        if self.table is not None:
            yield self.table.select(self.columns)
            return
        assert folder is not None
        chosen = ", ".join(map(identifier, self.columns))
        with reading(self.source.name):
            query = f"SELECT {chosen} FROM {self.source.relation}"
            batches = self.tables.connection.sql(query).to_arrow_reader(BATCH_ROWS)
            schema = pa.schema([batches.schema.field(name) for name in kept])
            n_batches = -(-len(self.ids) // BATCH_ROWS)
            with writing_table(folder / TABLE, schema) if kept else nullcontext() as write:
                for batch in tracked(batches, "encoding columns", n_batches):
                    if write is not None:
                        write(batch.select(kept))
                    yield batch

    def encode_labels(self) -> tuple[NDArray[np.int64] | None, tuple[Hashable, ...]]:
        """Return the class code of each node, -1 where it is unknown, and the classes.

        Words for a missing value are no classes.
        """
        if self.label is None or self.labels is None:
            return None, ()
        check_target(self.labels, self.label)
        words = names_in(self.labels, self.label, self.source.name, typed=self.source.typed).dictionary_encode()
        names = list(words.dictionary.to_pylist())
        if not pa.types.is_integer(words.type.value_type):
            names = [None if is_no_class(name) else name if self.source.typed else name_of(name) for name in names]
        classes = sorted_classes(name for name in names if name is not None)
        code_of = dict(zip(classes, range(len(classes)), strict=True))
        codes = np.array([*(code_of.get(name, UNKNOWN) for name in names), UNKNOWN], dtype=np.int64)
        return codes[words.indices.fill_null(len(names)).to_numpy()], classes


def load_nodes(
    tables: Tables,
    description: GraphDescription,
    nodes: Source,
    reader: EdgeReader | None,
    *,
    in_memory: bool,
    is_predicting: bool,
) -> NodeRows:
    """Read the table of the nodes: into memory, or into DuckDB unless rows or columns from elsewhere join it."""
    name, typed = nodes.name, nodes.typed
    id_column = _find_id(nodes, description.id)
    label = _find_label(list(nodes.columns), description, name, is_predicting=is_predicting)
    named = [each for each in (id_column, label) if each is not None]
    where = "true" if typed else _not_empty(nodes)
    adds_nodes = description.unknown == "add" and reader is not None
    if in_memory or adds_nodes or description.features is not None or set(nodes.columns) == set(named):
        table, source = tables.fetch(nodes, where=where), nodes
    else:
        source = tables.store(nodes, where, integers=None if typed or description.only else id_column)
        table = tables.fetch(source, named)
    if table.num_rows == 0:
        raise GraphError(f"{name} has no nodes.", hint="Add a row for each node.", path=name)
    ids = _distinct_ids(tables, table, id_column, name, typed=typed)
    if source is nodes:
        if adds_nodes and reader is not None and len(new := reader.find_unknown(ids).drop_null()):
            reader.repairs.append(f"added {len(new):,} node{'s' * (len(new) > 1)} that only the edges name")
            table = _add_rows(table, id_column, new)
            ids = names_in(table.column(id_column), id_column, name, typed=pa.types.is_string(ids.type))
        if description.features is not None:
            table = join_features(tables, table, ids, description)
    labels = None if label is None else table.column(label)
    if label is not None and description.label is None and _are_names(labels):
        log.warning("Column %r of %s holds names rather than classes: it is not used as the label", label, name)
        label = labels = None
    if source is nodes:
        return NodeRows(tables, tables.arrow(table, name, typed=typed), table, id_column, ids, label, labels)
    return NodeRows(tables, source, None, id_column, ids, label, labels)


def _distinct_ids(tables: Tables, table: pa.Table, column: str, name: str, *, typed: bool) -> pa.Array:
    """Return the ids of the nodes; each must be there once."""
    ids = names_in(table.column(column), column, name, typed=typed)
    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))[0]) + 1
        message = f"{name} has {ids.null_count:,} rows without an id in column {column!r}, the first is row {row:,}."
        raise FileError(message, hint="Give every node an id.", path=name, column=column, row=row)
    tables.connection.register("ids", pa.table({"key": ids, "position": np.arange(len(ids))}))
    query = "SELECT key FROM ids GROUP BY key HAVING count(*) > 1 ORDER BY min(position)"
    repeated = [row[0] for row in tables.connection.execute(query).fetchall()]
    if repeated:
        message = f"Node ids must be distinct, but column {column!r} of {name} repeats {first_five(repeated)}."
        raise GraphError(message, hint="Keep one row per node.", path=name, column=column, node=repeated[0])
    return ids


def _not_empty(nodes: Source) -> str:
    """Return the SQL condition of a row that is not empty: spreadsheets write empty rows after a table."""
    cells = ", ".join(f"CAST({identifier(name)} AS VARCHAR)" for name in nodes.columns)
    return f"coalesce({cells}) IS NOT NULL"


def _add_rows(table: pa.Table, column: str, new: pa.Array) -> pa.Table:
    """Add rows whose only value is the id."""
    place = table.column_names.index(column)
    table = table.set_column(place, column, table.column(column).cast(pa.string()))
    return pa.concat_tables([table, pa.table({column: new})], promote_options="default")


def _find_label(columns: list[str], description: GraphDescription, name: str, *, is_predicting: bool) -> str | None:
    """Return the column of the labels, if there is one."""
    asked = description.label
    if asked is not None and is_predicting and asked not in columns:
        return None
    found = find_column(columns, (LABEL_NAME,), name, asked, "label")
    if found is None and (likely := suggest_label(columns)):
        log.warning(
            "Column %r may hold the labels, but is used as a feature: to use it as labels, set label in graph.toml",
            likely,
        )
    return found


def _are_names(values: pa.ChunkedArray) -> bool:
    """Return whether a column called label holds names of nodes: most are distinct, and few are fractions."""
    known = len(values) - values.null_count
    if pa.types.is_nested(values.type) or known <= MIN_NAMES:
        return False
    text = values.drop_null().cast(pa.string())
    fractions = pc.sum(pc.match_substring_regex(text, r"^-?\d*\.\d*[1-9]")).as_py()
    return bool(pc.count_distinct(text).as_py() > MAX_NAMES_SHARE * known > fractions)


def _find_id(source: Source, asked: str | None) -> str:
    """Return the column of the ids."""
    columns = list(source.columns)
    found = find_column(columns, ID_NAMES, source.name, asked, "id")
    if found is None and columns and (columns[0] == "Unnamed: 0" or len(columns) == 1):
        found = columns[0]
    if found is None:
        raise no_id_column(source, columns)
    return found


def no_id_column(source: Source, likely: list[str]) -> FileError:
    """Return the error about a table without a recognisable id column."""
    return FileError(
        f"Cannot tell which column of {source.name} has the ids; its columns are {shown_columns(source.columns)}.",
        hint="Run `featprop init`, which compares them with the ends of the edges, or name it with `id`.",
        path=source.name,
        parameter="id",
        choices=likely[:8],
    )
