"""Edges by SQL: join their ends to the ids of the nodes, symmetrise, merge duplicates and sort.

DuckDB does all of it and spills to disk when memory is short, so the same queries serve `read_graph` and
``featprop convert``. What comes out are the entries of the adjacency matrix in order of row and column.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from featprop.adjacency import describe_repairs
from featprop.errors import GraphError
from featprop.progress import tracked
from featprop.sources.arrays import Entries, write_adjacency
from featprop.sources.databases import identifier, reading
from featprop.sources.description import GraphDescription
from featprop.sources.naming import WEIGHT_NAMES, find_column, find_ends
from featprop.sources.tables import Source, Tables

log = logging.getLogger(__name__)

BATCH_ROWS = 1 << 20
SHOWN_ENDS = 5
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
FLOATS = ("FLOAT", "DOUBLE")
DECIMAL_COMMA = re.compile(r"\s*\d+,(\d{1,2}|\d{4,})\s*")
"""A number whose comma cannot separate thousands."""
BAD_WEIGHT = "w IS NULL OR w < 0 OR NOT isfinite(w)"


class EdgeReader:
    """The table of the edges, and the columns that the description names or that have usual names."""

    def __init__(self, tables: Tables, edges: Source, description: GraphDescription) -> None:
        self.connection, self.edges, self.description = tables.connection, edges, description
        self.decimal = description.decimal
        self.repairs: list[str] = []
        self.scale: float | None = 1.0
        self.n_entries = 0
        columns = list(edges.columns)
        self.source, self.target = find_ends(columns, edges.name, description.source, description.target)
        self.weight = None
        if description.weights != "none":
            self.weight = find_column(columns, WEIGHT_NAMES, edges.name, description.weight, "weight")

    def find_nodes(self) -> pa.Array:
        """Return the distinct ends as text, sorted: the nodes of a graph that has edges only."""
        numbers = "try_cast(id AS BIGINT)"
        return self._fetch_ends(f"WHERE id IS NOT NULL AND id <> '' ORDER BY {numbers} NULLS LAST, id")

    def find_unknown(self, ids: pa.Array) -> pa.Array:
        """Return the distinct ends that are not among the ids, as text."""
        self.connection.register("ids", pa.table({"key": ids}))
        return self._fetch_ends("ANTI JOIN (SELECT CAST(key AS VARCHAR) AS id FROM ids) USING (id) ORDER BY id")

    def _fetch_ends(self, selection: str) -> pa.Array:
        ends = " UNION ".join(
            f"SELECT {_text_of(self.edges, name)} AS id FROM {self.edges.relation}"
            for name in (self.source, self.target)
        )
        with reading(self.edges.name):
            table = self.connection.sql(f"SELECT id FROM ({ends}) {selection}").to_arrow_table()
        return table.column("id").combine_chunks()

    def join(self, ids: pa.Array) -> None:
        """Find the position of both ends of every edge among the ids, integers or text, and merge duplicates.

        Edges to unknown nodes are refused or dropped, weights that are no numbers of at least 0 are refused.
        """
        self.connection.register("ids", pa.table({"key": ids, "position": np.arange(len(ids), dtype=np.int32)}))
        is_number = pa.types.is_integer(ids.type)
        source, target = (_key_of(self.edges, name, is_number) for name in (self.source, self.target))
        with reading(self.edges.name):
            self.connection.execute(
                "CREATE OR REPLACE TEMP TABLE ends AS SELECT a.position AS a, b.position AS b, w FROM "
                f"(SELECT {source} AS s, {target} AS t, {self._weight_sql()} AS w FROM {self.edges.relation}) "
                "LEFT JOIN ids AS a ON s = a.key LEFT JOIN ids AS b ON t = b.key"
            )
            rows, unknown, bad, zeros, loops = self.connection.execute(
                f"SELECT count(*), count(*) FILTER (a IS NULL OR b IS NULL), count(*) FILTER ({BAD_WEIGHT}), "
                "count(*) FILTER (w = 0 AND a <> b), count(*) FILTER (a = b) FROM ends"
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
        duplicates = self.description.duplicates
        combined = {"max": "max(w)", "sum": "sum(w)", "count": "count(*)"}[duplicates]
        with reading(self.edges.name):
            self.connection.execute(
                "CREATE OR REPLACE TEMP TABLE pairs AS SELECT least(a, b) AS a, greatest(a, b) AS b, "
                f"({combined})::FLOAT AS w, bool_or(a < b) AS forward, bool_or(a > b) AS backward FROM ends "
                "WHERE a <> b AND w > 0 GROUP BY 1, 2"
            )
            self.connection.execute("DROP TABLE ends")
            pairs, both, low, high, mean = self.connection.execute(
                "SELECT count(*), count(*) FILTER (forward AND backward), min(w), max(w), favg(w) FROM pairs"
            ).fetchall()[0]
        self.n_entries = 2 * pairs
        merged = rows - unknown - zeros - loops - pairs - both
        self.repairs += describe_repairs(
            duplicates, unknown=unknown, loops=loops, zeros=zeros, duplicates=merged, one_way=pairs - both
        )
        if self.description.weights == "mean":
            self.scale = mean and float(np.float32(mean))
            if low != high:
                self.repairs.append(f"weights divided by their mean, {mean:.4g}")
        for repair in self.repairs:
            log.info("%s", repair)

    def adjacency(self, n_nodes: int, folder: Path | None = None) -> sp.csr_array:
        """Return the adjacency matrix: in memory, or mapped from the files that this writes to a folder."""
        entries = tracked(self._entries(), "sorting edges", -(-self.n_entries // BATCH_ROWS))
        return write_adjacency(folder, entries, n_nodes, self.n_entries)

    def _entries(self) -> Iterator[Entries]:
        """Yield the entries of the adjacency matrix in order, in batches."""
        query = "SELECT a, b, w FROM pairs UNION ALL SELECT b, a, w FROM pairs ORDER BY 1, 2"
        with reading(self.edges.name):
            for batch in self.connection.sql(query).to_arrow_reader(BATCH_ROWS):
                rows, columns, weights = (batch.column(place).to_numpy(zero_copy_only=False) for place in range(3))
                yield rows, columns, weights / np.float32(self.scale or 1.0)

    def _weight_sql(self) -> str:
        """Return SQL for the weight of an edge, NULL where it is not a number."""
        weight = "1.0"
        if self.weight is not None:
            name = identifier(self.weight)
            if self.edges.columns[self.weight] == "VARCHAR":
                if self.decimal == ",":
                    name = f"replace(replace({name}, '.', ''), ',', '.')"
                elif self.decimal == ".":
                    name = f"replace({name}, ',', '')"
            weight = f"try_cast({name} AS DOUBLE)"
        return f"try_cast({weight} AS FLOAT)"

    def _unknown_ends(self, ids: pa.Array, unknown: int, rows: int) -> GraphError:
        """Return the error about ends that are not nodes, and how many distinct ones there are."""
        ends = self.find_unknown(ids)
        first = ends.slice(0, SHOWN_ENDS).to_pylist()
        shown = ", ".join(map(repr, first)) + (", …" if len(ends) > SHOWN_ENDS else "")
        hint = 'Run `featprop init` to find the column of the ids, or set unknown = "drop" or "add" in graph.toml.'
        if all(re.fullmatch(r"\d+\.0+", str(end)) for end in first):
            hint = f"The ids were saved as decimals: write {str(first[0]).partition('.')[0]} for {first[0]}."
        name = self.edges.name
        message = f"Edges of {name} have ends that are not nodes ({unknown:,} of {rows:,} edges): {shown}."
        return GraphError(message, hint=hint, parameter="unknown", value=len(ends), path=name, node=first[0])

    def _bad_weights(self, bad: int) -> GraphError:
        """Return the error about weights that are not numbers of at least 0, with the first of them."""
        assert self.weight is not None
        name = self.edges.name
        columns = ", ".join(map(identifier, (self.source, self.target, self.weight)))
        weighted = f"SELECT *, {self._weight_sql()} AS w FROM {self.edges.relation}"
        with reading(name):
            query = f"SELECT {columns} FROM ({weighted}) WHERE {BAD_WEIGHT} LIMIT 1"
            source, target, value = self.connection.execute(query).fetchall()[0]
        hint = 'Correct these weights, drop the edges, or set weights = "none" under [graph] in graph.toml.'
        if isinstance(value, str) and "," in value and self.decimal is None:
            hint = 'Set decimal = "," or "." under [columns] in graph.toml to tell what the comma means.'
        message = f"{name} has {bad:,} weights in column {self.weight!r} that are not numbers of at least 0, such as "
        message += f"{value!r} from {source!r} to {target!r}."
        return GraphError(message, hint=hint, path=name, column=self.weight, value=value)


def _text_of(edges: Source, column: str) -> str:
    """Return SQL for an end as text, a whole number without a decimal point."""
    name = identifier(column)
    text = f"CAST({name} AS VARCHAR)"
    if edges.columns[column] in FLOATS:
        return f"CASE WHEN {name} = trunc({name}) THEN CAST(CAST({name} AS BIGINT) AS VARCHAR) ELSE {text} END"
    return text


def _key_of(edges: Source, column: str, is_number: bool) -> str:
    """Return SQL for an end as the ids are: 64-bit integers, where ``007`` is not 7, or text."""
    if is_number and edges.columns[column] in INTEGERS:
        return f"CAST({identifier(column)} AS BIGINT)"
    text = _text_of(edges, column)
    number = f"try_cast({text} AS BIGINT)"
    return f"CASE WHEN CAST({number} AS VARCHAR) = {text} THEN {number} END" if is_number else text
