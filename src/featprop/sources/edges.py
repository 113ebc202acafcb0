"""Edges by SQL: join their ends to the ids of the nodes, symmetrise, merge duplicates and sort.

DuckDB does all of it and spills to disk when memory is short, so the same queries serve `read_graph` and
``featprop convert``. What comes out are the entries of the adjacency matrix in order of row and column.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import MeanWeight, describe_repairs, index_type
from featprop.errors import FileError, GraphError
from featprop.sources.databases import identifier, quoted, reading
from featprop.sources.description import GraphDescription
from featprop.sources.naming import EDGE_TYPE_NAMES, END_NAMES, WEIGHT_NAMES, find_column
from featprop.sources.tables import Source, Tables

log = logging.getLogger(__name__)

BATCH_ROWS = 1 << 20
SHOWN_ENDS = 5
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
FLOATS = ("FLOAT", "DOUBLE")
DECIMAL_COMMA = re.compile(r"\s*\d+,(\d{1,2}|\d{4,})\s*")
"""A number whose comma cannot separate thousands."""

Entries = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]
"""Rows, columns and weights of some entries of the adjacency matrix."""


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of a table of edges that are used."""

    source: str
    target: str
    weight: str | None = None
    edge_type: str | None = None

    @classmethod
    def find(cls, edges: Source, description: GraphDescription) -> EdgeColumns:
        """Find the columns that the description names, or those with usual names."""
        columns, name = list(edges.columns), edges.name
        source, target = _find_ends(columns, name, description)
        weight = edge_type = None
        if description.weights != "none":
            weight = find_column(columns, WEIGHT_NAMES, name, description.weight, "weight")
        if description.edge_types or description.edge_type:
            edge_type = find_column(columns, EDGE_TYPE_NAMES, name, description.edge_type, "edge_type")
            if edge_type is None:
                raise FileError(f"{name} has no column of edge types.", hint="Name it with `edge_type`.", path=name)
        return cls(source, target, weight, edge_type)


def _find_ends(columns: list[str], name: str, description: GraphDescription) -> tuple[str, str]:
    source, target = description.source, description.target
    if (source is None) != (target is None):
        raise FileError(
            "Only one end of the edges is named; name both, `source` and `target`, or neither.",
            parameter="target" if target is None else "source",
            path=name,
        )
    if source is not None and target is not None:
        for column, parameter in ((source, "source"), (target, "target")):
            find_column(columns, (), name, column, parameter)
        return source, target
    spelled = {column.strip().casefold(): column for column in reversed(columns)}
    for usual in END_NAMES:
        if set(usual) <= set(spelled):
            return spelled[usual[0]], spelled[usual[1]]
    if len(columns) == 2 and not any(column.startswith("Unnamed: ") for column in columns):
        return columns[0], columns[1]
    raise FileError(
        f"{name} has no columns that look like the two ends of an edge; it has {', '.join(columns[:8])}.",
        hint="Name them with `source` and `target`.",
        path=name,
        parameter="source",
    )


class EdgeReader:
    """The edges of a graph.

    Parameters
    ----------
    tables
        The connection.
    edges
        The table.
    description
        What the user says about it.
    """

    def __init__(self, tables: Tables, edges: Source, description: GraphDescription) -> None:
        self.connection, self.edges, self.description = tables.connection, edges, description
        self.columns = EdgeColumns.find(edges, description)
        self.decimal = description.decimal
        self.repairs: list[str] = []
        self.scale: float | None = None
        self.n_entries = 0

    def find_nodes(self) -> pa.Array:
        """Return the distinct ends as text, sorted: the nodes of a graph that has edges only."""
        numbers = "try_cast(id AS BIGINT)"
        return self._fetch_ids(f"WHERE id IS NOT NULL AND id <> '' ORDER BY {numbers} NULLS LAST, id")

    def find_unknown(self, ids: pa.Array) -> pa.Array:
        """Return the distinct ends that are not among the ids, as text."""
        self.connection.register("ids", pa.table({"key": ids}))
        return self._fetch_ids("ANTI JOIN (SELECT CAST(key AS VARCHAR) AS id FROM ids) USING (id) ORDER BY id")

    def _fetch_ids(self, selection: str) -> pa.Array:
        ends = " UNION ".join(
            f"SELECT {_text_of(self.edges, name)} AS id FROM {self.edges.relation}"
            for name in (self.columns.source, self.columns.target)
        )
        with reading(self.edges.name):
            table = self.connection.execute(f"SELECT id FROM ({ends}) {selection}").to_arrow_table()
        return table.column("id").combine_chunks()

    def join(self, ids: pa.Array) -> None:
        """Find the position of both ends of every edge, and merge duplicates.

        Edges to unknown nodes are refused or dropped, weights that are no numbers of at least 0 are refused.

        Parameters
        ----------
        ids
            Ids of the nodes: 64-bit integers or text.
        """
        connection, columns = self.connection, self.columns
        connection.register("ids", pa.table({"key": ids, "position": np.arange(len(ids), dtype=np.int32)}))
        is_number = pa.types.is_integer(ids.type)
        source, target = (_key_of(self.edges, name, is_number) for name in (columns.source, columns.target))
        with reading(self.edges.name):
            connection.execute(
                "CREATE OR REPLACE TEMP TABLE ends AS SELECT a.position AS a, b.position AS b, w FROM "
                f"(SELECT {source} AS s, {target} AS t, {self._weight()} AS w FROM {self.edges.relation}) "
                "LEFT JOIN ids AS a ON s = a.key LEFT JOIN ids AS b ON t = b.key"
            )
            rows, unknown, bad, zeros, loops = connection.execute(
                "SELECT count(*), count(*) FILTER (a IS NULL OR b IS NULL), "
                "count(*) FILTER (w IS NULL OR w < 0 OR NOT isfinite(w)), count(*) FILTER (w = 0 AND a <> b), "
                "count(*) FILTER (a = b) FROM ends"
            ).fetchall()[0]
        if rows == 0:
            log.info("%s has no edges", self.edges.name)
        if unknown and self.description.unknown != "drop":
            raise self._unknown_ends(ids, unknown, rows)
        if bad:
            error = self._bad_weights(bad)
            if self.decimal is not None or not DECIMAL_COMMA.fullmatch(str(error.value)):
                raise error
            log.info("Weights of %s have a decimal comma", self.edges.name)
            self.decimal = ","
            self.join(ids)
            return
        self._merge(rows, unknown, zeros, loops)

    def _merge(self, rows: int, unknown: int, zeros: int, loops: int) -> None:
        """Merge duplicate edges and both directions of an edge."""
        duplicates = self.description.duplicates
        combined = {"max": "max(w)", "sum": "sum(w)", "count": "count(*)"}[duplicates]
        with reading(self.edges.name):
            self.connection.execute(
                "CREATE OR REPLACE TEMP TABLE pairs AS SELECT least(a, b) AS a, greatest(a, b) AS b, "
                f"({combined})::FLOAT AS w, bool_or(a < b) AS forward, bool_or(a > b) AS backward FROM ends "
                "WHERE a <> b AND w > 0 GROUP BY 1, 2"
            )
            self.connection.execute("DROP TABLE ends")
            pairs, both = self.connection.execute(
                "SELECT count(*), count(*) FILTER (forward AND backward) FROM pairs"
            ).fetchall()[0]
        self.n_entries = 2 * pairs
        self.repairs += describe_repairs(
            duplicates,
            unknown=unknown,
            loops=loops,
            zeros=zeros,
            duplicates=rows - unknown - zeros - loops - pairs - both,
            one_way=pairs - both,
        )

    def entries(self) -> Iterator[Entries]:
        """Yield the entries of the adjacency matrix in order, in batches."""
        query = "SELECT a, b, w FROM pairs UNION ALL SELECT b, a, w FROM pairs ORDER BY 1, 2"
        with reading(self.edges.name):
            for batch in self.connection.execute(query).to_arrow_reader(BATCH_ROWS):
                rows, columns, weights = (batch.column(place).to_numpy(zero_copy_only=False) for place in range(3))
                yield rows, columns, weights

    def finish(self, mean: MeanWeight) -> None:
        """Decide how weights are scaled, when `mean` has seen them all, and log what was repaired."""
        self.scale, rescaled = mean.scale() if self.description.weights == "mean" else (1.0, None)
        self.repairs += [] if rescaled is None else [rescaled]
        for repair in self.repairs:
            log.info("%s", repair)

    def adjacency(self, n_nodes: int) -> sp.csr_array:
        """Return the adjacency matrix."""
        kind = index_type(n_nodes, self.n_entries)
        indices, data = np.empty(self.n_entries, kind), np.empty(self.n_entries, np.float32)
        counts, start, mean = np.zeros(n_nodes + 1, np.int64), 0, MeanWeight()
        for rows, columns, weights in self.entries():
            stop = start + len(rows)
            indices[start:stop], data[start:stop] = columns, weights
            counts[1:] += np.bincount(rows, minlength=n_nodes)
            mean.add(weights)
            start = stop
        self.finish(mean)
        if self.scale not in (1.0, None):
            data = mean.divided(data)
        matrix = sp.csr_array((n_nodes, n_nodes), dtype=np.float32)
        matrix.indptr, matrix.indices, matrix.data = np.cumsum(counts).astype(kind), indices, data
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix

    def _weight(self) -> str:
        """Return SQL for the weight of an edge, NULL where it is not a number."""
        column, weight = self.columns.weight, "1.0"
        if column is not None:
            weight = f"try_cast({identifier(column)} AS DOUBLE)"
            if self.edges.columns[column] == "VARCHAR":
                cleaned = f"regexp_replace({identifier(column)}, '[\\s€$£¥]', '', 'g')"
                if self.decimal == ",":
                    weight = f"try_cast(replace(replace({cleaned}, '.', ''), ',', '.') AS DOUBLE)"
                else:
                    cleaned = f"replace({cleaned}, ',', '')" if self.decimal == "." else cleaned
                    weight = f"coalesce({weight}, try_cast({cleaned} AS DOUBLE))"
        if self.columns.edge_type is not None:
            kind = f"CAST({identifier(self.columns.edge_type)} AS VARCHAR)"
            cases = " ".join(
                f"WHEN {quoted(name)} THEN {float(each)!r}" for name, each in self.description.edge_types.items()
            )
            weight = f"{weight} * (CASE {kind} {cases} ELSE 1.0 END)" if cases else weight
        return f"try_cast({weight} AS FLOAT)"

    def _unknown_ends(self, ids: pa.Array, unknown: int, rows: int) -> GraphError:
        """Return the error about ends that are not nodes, and how many distinct ones there are."""
        ends = self.find_unknown(ids)
        first = ends.slice(0, SHOWN_ENDS).to_pylist()
        shown = ", ".join(map(repr, first))
        hint = 'Set unknown = "drop" or "add" under [graph] in graph.toml to drop these edges or add the nodes.'
        if all(re.fullmatch(r"\d+\.0+", str(end)) for end in first):
            hint = f"The ids were saved as decimals: write {str(first[0]).partition('.')[0]} for {first[0]}."
        return GraphError(
            f"Edges of {self.edges.name} have ends that are not nodes ({unknown:,} of {rows:,} edges): {shown}"
            f"{', …' if len(ends) > SHOWN_ENDS else ''}.",
            hint=hint,
            parameter="unknown",
            value=len(ends),
            path=self.edges.name,
            node=first[0],
        )

    def _bad_weights(self, bad: int) -> GraphError:
        column = self.columns.weight
        assert column is not None
        query = (
            f"SELECT {identifier(self.columns.source)}, {identifier(self.columns.target)}, {identifier(column)} "
            f"FROM (SELECT *, {self._weight()} AS w FROM {self.edges.relation}) "
            "WHERE w IS NULL OR w < 0 OR NOT isfinite(w) LIMIT 1"
        )
        with reading(self.edges.name):
            source, target, value = self.connection.execute(query).fetchall()[0]
        hint = 'Correct these weights, drop the edges, or set weights = "none" under [graph] in graph.toml.'
        if isinstance(value, str) and "," in value and self.decimal is None:
            hint = (
                'If the comma is a decimal mark, set decimal = "," under [columns] in graph.toml; else decimal = ".".'
            )
        return GraphError(
            f"{self.edges.name} has {bad:,} weights in column {column!r} that are not numbers of at least 0, such as "
            f"{value!r} from {source!r} to {target!r}.",
            hint=hint,
            path=self.edges.name,
            column=column,
            value=value,
        )


def _text_of(edges: Source, column: str) -> str:
    """Return SQL for an end as text, a whole number without a decimal point."""
    name = identifier(column)
    if edges.columns[column] in FLOATS:
        whole = f"CASE WHEN {name} = trunc({name}) THEN CAST({name} AS BIGINT) END"
        return f"coalesce(CAST({whole} AS VARCHAR), CAST({name} AS VARCHAR))"
    return f"CAST({name} AS VARCHAR)"


def _key_of(edges: Source, column: str, is_number: bool) -> str:
    """Return SQL for an end as the ids are: 64-bit integers, where ``007`` is not 7, or text."""
    if is_number and edges.columns[column] in INTEGERS:
        return f"CAST({identifier(column)} AS BIGINT)"
    text = _text_of(edges, column)
    number = f"try_cast({text} AS BIGINT)"
    return f"CASE WHEN CAST({number} AS VARCHAR) = {text} THEN {number} END" if is_number else text
