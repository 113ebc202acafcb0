"""Edges by SQL: join their ends to the ids of the nodes, symmetrise, merge duplicates and sort.

DuckDB does all of it and spills to disk when memory is short, so the same queries serve `read_graph` and
``featprop convert``. What comes out are the entries of the adjacency matrix in order of row and column.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import MeanWeight, RawGraph, describe_repairs, index_type, symmetric_adjacency
from featprop.errors import FileError, GraphError
from featprop.memory import half_of_free
from featprop.sources.description import GraphDescription
from featprop.sources.naming import EDGE_TYPE_NAMES, END_NAMES, WEIGHT_NAMES, find_column
from featprop.sources.tables import ARROW_VIEW, PlainCsv, Source, Tables, identifier, quoted, reading

log = logging.getLogger(__name__)

BATCH_ROWS = 1 << 20
BYTES_PER_EDGE = 90
"""Memory that an edge takes while edges are merged in memory."""
EDGES_SHARE = 0.6
"""Share of a bound on memory that edges may take."""
MAX_SPREAD = 16
"""How many times further apart than their number ids may be for an array to look them up."""
SHOWN_ENDS = 5
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
FLOATS = ("FLOAT", "DOUBLE")

Entries = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]
"""Rows, columns and weights of some entries of the adjacency matrix."""
Ends = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32] | None]
"""Positions of both ends of some edges, and their weights."""


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
        columns, asked = list(edges.columns), description
        if (asked.source is None) != (asked.target is None):
            missing = "target" if asked.target is None else "source"
            raise FileError(
                "Only one end of the edges is named; name both, `source` and `target`, or neither.",
                parameter=missing,
                path=edges.name,
            )
        ends = _usual_ends(columns) if asked.source is None else (asked.source, asked.target)
        if ends is None and len(columns) >= 2 and not any(name.startswith("Unnamed: ") for name in columns[:2]):
            ends = (columns[0], columns[1]) if len(columns) == 2 else None
        if ends is None:
            raise FileError(
                f"{edges.name} has no columns that look like the two ends of an edge; it has {', '.join(columns[:8])}.",
                hint="Name them with `source` and `target`.",
                path=edges.name,
                parameter="source",
            )
        for name, parameter in zip(ends, ("source", "target"), strict=True):
            find_column(columns, (), edges.name, name, parameter)
        weight = None
        if asked.weights != "none":
            weight = find_column(columns, WEIGHT_NAMES, edges.name, asked.weight, "weight")
        edge_type = None
        if asked.edge_types or asked.edge_type:
            edge_type = find_column(columns, EDGE_TYPE_NAMES, edges.name, asked.edge_type, "edge_type")
            if edge_type is None:
                raise FileError(
                    f"{edges.name} has no column of edge types.", hint="Name it with `edge_type`.", path=edges.name
                )
        source, target = ends
        assert source is not None
        assert target is not None
        return cls(source, target, weight, edge_type)


def _usual_ends(columns: list[str]) -> tuple[str, str] | None:
    lower = {name.strip().casefold(): name for name in reversed(columns)}
    for source, target in END_NAMES:
        if source in lower and target in lower:
            return lower[source], lower[target]
    return None


@dataclass(frozen=True)
class PositionLookup:
    """Positions of integer ids by an array, where these are close enough together."""

    first: int
    positions: NDArray[np.int32]

    @classmethod
    def of(cls, ids: pa.Array) -> PositionLookup | None:
        """Return the lookup, None for text and for ids that are far apart."""
        if not pa.types.is_integer(ids.type):
            return None
        numbers = ids.to_numpy(zero_copy_only=False)
        first, last = int(numbers.min()), int(numbers.max())
        if last - first >= MAX_SPREAD * len(numbers) + BATCH_ROWS:
            return None
        positions = np.full(last - first + 1, -1, dtype=np.int32)
        positions[numbers - first] = np.arange(len(numbers), dtype=np.int32)
        return cls(first, positions)

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the position of each id, -1 for one that is not there."""
        offsets = keys - self.first
        is_inside = (keys >= self.first) & (offsets < len(self.positions))
        return np.where(is_inside, self.positions[np.where(is_inside, offsets, 0)], np.int32(-1))


def _positions(column: pa.Array, lookup: PositionLookup | None) -> NDArray[np.int32]:
    """Return positions of a batch, -1 where an end is unknown."""
    if lookup is None:
        return np.asarray(column.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int32)
    found = lookup.find(column.fill_null(0).to_numpy(zero_copy_only=False))
    return (
        np.where(column.is_valid().to_numpy(zero_copy_only=False), found, np.int32(-1)) if column.null_count else found
    )


def _plain_integers(text: pa.Array) -> NDArray[np.int64]:
    """Return text as integers of at least 0 that are written as Python does; raise `NotPlainError` for any other."""
    numbers: NDArray[np.int64] = text.cast(pa.int64()).to_numpy(zero_copy_only=False)
    if text.null_count or (len(numbers) and numbers.min() < 0):
        raise NotPlainError
    digits, bound, largest = len(numbers), 10, numbers.max(initial=0)
    while bound <= largest:
        digits += int(np.count_nonzero(numbers >= bound))
        bound *= 10
    if digits != (pc.sum(pc.binary_length(text)).as_py() or 0):  # leading zeros, spaces, a sign
        raise NotPlainError
    return numbers


class NotPlainError(Exception):
    """Raised about a CSV file that does not hold plain numbers only."""


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
        self.tables, self.edges, self.description = tables, edges, description
        self.columns = EdgeColumns.find(edges, description)
        self.repairs: list[str] = []
        self.scale: float | None = None
        self.n_entries = 0
        self.matrix: sp.csr_array | None = None
        self._is_weighted = False

    def find_nodes(self) -> pa.Array:
        """Return the distinct ends, sorted: the nodes of a graph that has edges only."""
        ends = " UNION ".join(
            f"SELECT {_text_of(self.edges, name)} AS id FROM {self.edges.relation}"
            for name in (self.columns.source, self.columns.target)
        )
        numbers = "try_cast(id AS BIGINT)"
        query = f"SELECT id FROM ({ends}) WHERE id IS NOT NULL AND id <> '' ORDER BY {numbers} NULLS LAST, id"
        with reading(self.edges.name):
            return self.tables.connection.execute(query).to_arrow_table().column("id").combine_chunks()

    def join(self, ids: pa.Array) -> None:
        """Find the position of both ends of every edge; refuse or drop edges to unknown nodes, and bad weights.

        Parameters
        ----------
        ids
            Ids of the nodes: 64-bit integers or text.
        """
        try:
            self._join(ids)
        except GraphError as error:
            if error.column is None or not self._has_decimal_commas(error.value):
                raise
            log.info("Weights of %s have a decimal comma", self.edges.name)
            self.description, self.repairs = replace(self.description, decimal=","), []
            self._join(ids)

    def _has_decimal_commas(self, weight: object) -> bool:
        """Return whether a weight that cannot be read has a comma that can only be a decimal mark."""
        is_ambiguous = self.description.decimal is not None or not isinstance(weight, str)
        return not is_ambiguous and re.fullmatch(r"\s*\d+,(\d{1,2}|\d{4,})\s*", str(weight)) is not None

    def _join(self, ids: pa.Array) -> None:
        connection, columns = self.tables.connection, self.columns
        connection.register("ids", pa.table({"key": ids, "position": np.arange(len(ids), dtype=np.int32)}))
        is_number = pa.types.is_integer(ids.type)
        source, target = (_key_of(self.edges, name, is_number) for name in (columns.source, columns.target))
        weight = self._weight()
        self._is_weighted = weight != "1"
        plain = f"SELECT {source} AS a, {target} AS b, {weight} AS w FROM {self.edges.relation}"
        joined = (
            f"SELECT a.position AS a, b.position AS b, w FROM (SELECT a AS s, b AS t, w FROM ({plain})) "
            "LEFT JOIN ids AS a ON s = a.key LEFT JOIN ids AS b ON t = b.key"
        )
        lookup = PositionLookup.of(ids)
        if not self._merge_in_memory(joined if lookup is None else plain, lookup, ids):
            in_files = not self.edges.relation.startswith(ARROW_VIEW)  # another cursor does not see tables in memory
            self._join_on_disk(self._looked_up(plain, lookup) if lookup is not None and in_files else joined)

    def _merge_in_memory(self, query: str, lookup: PositionLookup | None, ids: pa.Array) -> bool:
        """Join and merge with NumPy, which is faster; return False if there are too many edges for memory."""
        is_bare = self.columns.edge_type is None and self.description.decimal is None
        if lookup is not None and self.edges.csv is not None and is_bare:
            with suppress(pa.ArrowInvalid, NotPlainError):
                return self._join_in_memory(self._plain_batches(self.edges.csv, lookup), ids)
        return self._join_in_memory(self._batches(query, lookup), ids)

    def _batches(self, query: str, lookup: PositionLookup | None) -> Iterator[Ends]:
        """Yield the positions of both ends, -1 where one is unknown, and the weights of edges, in batches."""
        for batch in self.tables.connection.execute(query).to_arrow_reader(BATCH_ROWS):
            a, b = (_positions(batch.column(place), lookup) for place in (0, 1))
            yield a, b, batch.column(2).to_numpy(zero_copy_only=False).astype(np.float32) if self._is_weighted else None

    def _plain_batches(self, csv: PlainCsv, lookup: PositionLookup) -> Iterator[Ends]:
        """Yield the same for a CSV file of plain numbers, in half the time; raise `NotPlainError` about any other."""
        names = [name for name in (self.columns.source, self.columns.target, self.columns.weight) if name is not None]
        for batch in csv.batches(names):
            a, b = (lookup.find(_plain_integers(batch.column(place))) for place in (0, 1))
            weights = None
            if self._is_weighted:
                weights = batch.column(2).cast(pa.float64()).to_numpy(zero_copy_only=False).astype(np.float32)
                if not (np.isfinite(weights) & (weights >= 0)).all():
                    raise NotPlainError
            yield a, b, weights

    def _join_in_memory(self, batches: Iterator[Ends], ids: pa.Array) -> bool:
        room = int(EDGES_SHARE * (self.tables.max_memory or half_of_free())) // BYTES_PER_EDGE
        parts: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32] | None]] = []
        rows = strays = bad = 0
        with reading(self.edges.name):
            for a, b, weights in batches:
                rows += len(a)
                if rows > room:
                    return False
                known = (a >= 0) & (b >= 0)
                strays += len(a) - int(np.count_nonzero(known))
                if weights is not None:
                    bad += int(np.count_nonzero(~(np.isfinite(weights) & (weights >= 0))))
                    weights = weights[known]
                parts.append((a[known], b[known], weights))
        self._check(rows, strays, bad)
        a, b = (np.concatenate([part[place] for part in parts] or [np.empty(0, np.int32)]) for place in (0, 1))
        weights = np.concatenate([part[2] for part in parts]) if self._is_weighted and parts else None
        parts.clear()
        description = self.description
        raw = RawGraph(a, b, None, weights, scaled=description.weights == "mean", repeated=description.duplicates)
        self.repairs += describe_repairs(description.duplicates, unknown=strays)
        for repair in self.repairs:
            log.info("%s", repair)
        self.matrix, repairs, self.scale = symmetric_adjacency(raw, ids)
        self.repairs += repairs
        self.n_entries = self.matrix.nnz
        return True

    def _looked_up(self, query: str, lookup: PositionLookup) -> str:
        """Register the edges with their ends looked up on the way, and return the query for them."""
        schema = pa.schema([("a", pa.int32()), ("b", pa.int32()), ("w", pa.float32())])

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in self.tables.connection.cursor().execute(query).to_arrow_reader(BATCH_ROWS):
                ends = [_positions(batch.column(place), lookup) for place in (0, 1)]
                arrays = [pa.array(end, pa.int32(), mask=end < 0) for end in ends]
                yield pa.RecordBatch.from_arrays([*arrays, batch.column(2).cast(pa.float32())], schema=schema)

        self.tables.connection.register("looked_up", pa.RecordBatchReader.from_batches(schema, batches()))
        return "SELECT a, b, w FROM looked_up"

    def _check(self, rows: int, strays: int, bad: int) -> None:
        if rows == 0:
            log.info("%s has no edges", self.edges.name)
        if strays and self.description.unknown != "drop":
            raise self._unknown_ends(strays, rows)
        if bad:
            raise self._bad_weights(bad)

    def _join_on_disk(self, query: str) -> None:
        """Join and merge with tables of DuckDB, which spill when memory is short."""
        connection = self.tables.connection
        with reading(self.edges.name):
            connection.execute(f"CREATE OR REPLACE TEMP TABLE ends AS {query}")
            rows, strays, bad, zeros, loops = connection.execute(
                "SELECT count(*), count(*) FILTER (a IS NULL OR b IS NULL), "
                "count(*) FILTER (w IS NULL OR w < 0 OR NOT isfinite(w::FLOAT)), count(*) FILTER (w = 0 AND a <> b), "
                "count(*) FILTER (a = b) FROM ends"
            ).fetchall()[0]
        self._check(rows, strays, bad)
        kept = rows - strays - zeros - loops
        combined = {"max": "max(w)", "sum": "sum(w)", "count": "count(*)"}[self.description.duplicates]
        if not self._is_weighted:
            combined = "1" if self.description.duplicates == "max" else "count(*)"
        with reading(self.edges.name):
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE pairs AS SELECT least(a, b) AS a, greatest(a, b) AS b, "
                f"({combined})::FLOAT AS w, bool_or(a < b) AS forward, bool_or(a > b) AS backward FROM ends "
                "WHERE a <> b AND w > 0 GROUP BY 1, 2"
            )
            connection.execute("DROP TABLE ends")
            pairs, both = connection.execute(
                "SELECT count(*), count(*) FILTER (forward AND backward) FROM pairs"
            ).fetchall()[0]
        self.n_entries = 2 * pairs
        self.repairs += describe_repairs(
            self.description.duplicates,
            unknown=strays,
            loops=loops,
            zeros=zeros,
            duplicates=kept - pairs - both,
            one_way=pairs - both,
        )

    def entries(self) -> Iterator[Entries]:
        """Yield the entries of the adjacency matrix in order, in batches."""
        query = "SELECT a, b, w FROM pairs UNION ALL SELECT b, a, w FROM pairs ORDER BY 1, 2"
        with reading(self.edges.name):
            for batch in self.tables.connection.execute(query).to_arrow_reader(BATCH_ROWS):
                rows, columns, weights = (batch.column(place).to_numpy(zero_copy_only=False) for place in range(3))
                yield rows, columns, weights

    def finish(self, mean: MeanWeight) -> None:
        """Decide how weights are scaled, when `mean` has seen them all, and log what was repaired."""
        self.scale, told = mean.scale() if self.description.weights == "mean" else (1.0, None)
        self.repairs += [] if told is None else [told]
        for repair in self.repairs:
            log.info("%s", repair)

    def adjacency(self, n_nodes: int) -> sp.csr_array:
        """Return the adjacency matrix."""
        if self.matrix is not None:
            return self.matrix
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
        column, weight = self.columns.weight, "1"
        if column is not None:
            weight = f"try_cast({identifier(column)} AS DOUBLE)"
            if self.edges.columns[column] == "VARCHAR":
                mark = self.description.decimal
                cleaned = f"regexp_replace({identifier(column)}, '[\\s€$£¥]', '', 'g')"
                if mark == ",":
                    weight = f"try_cast(replace(replace({cleaned}, '.', ''), ',', '.') AS DOUBLE)"
                elif mark == ".":
                    weight = f"coalesce({weight}, try_cast(replace({cleaned}, ',', '') AS DOUBLE))"
                else:
                    weight = f"coalesce({weight}, try_cast({cleaned} AS DOUBLE))"
        if self.columns.edge_type is not None:
            kind = f"CAST({identifier(self.columns.edge_type)} AS VARCHAR)"
            cases = " ".join(
                f"WHEN {quoted(name)} THEN {float(each)!r}" for name, each in self.description.edge_types.items()
            )
            weight = f"{weight} * (CASE {kind} {cases} ELSE 1.0 END)" if cases else weight
        return weight

    def _unknown_ends(self, strays: int, rows: int) -> GraphError:
        """Return the error about ends that are not nodes, and how many distinct ones there are."""
        ends = self.find_unknown()
        first = ends.slice(0, SHOWN_ENDS).to_pylist()
        shown = ", ".join(map(repr, first))
        hint = 'Set unknown = "drop" or "add" under [graph] in graph.toml to drop these edges or add the nodes.'
        if first and all(re.fullmatch(r"\d+\.0+", str(end)) for end in first):
            hint = f"The ids were saved as decimals: write {str(first[0]).partition('.')[0]} for {first[0]}."
        return GraphError(
            f"{strays:,} of {rows:,} edges of {self.edges.name} have an end that is not a node: {shown}"
            f"{', …' if len(ends) > SHOWN_ENDS else ''}.",
            hint=hint,
            parameter="unknown",
            value=len(ends),
            path=self.edges.name,
            node=ends[0].as_py() if len(ends) else None,
        )

    def find_unknown(self) -> pa.Array:
        """Return the distinct ends that are not nodes, as text, after `join` registered the ids."""
        ends = " UNION ".join(
            f"SELECT {_text_of(self.edges, name)} AS id FROM {self.edges.relation}"
            for name in (self.columns.source, self.columns.target)
        )
        query = f"SELECT id FROM ({ends}) ANTI JOIN (SELECT CAST(key AS VARCHAR) AS id FROM ids) USING (id) ORDER BY id"
        with reading(self.edges.name):
            return self.tables.connection.execute(query).to_arrow_table().column("id").combine_chunks()

    def _bad_weights(self, bad: int) -> GraphError:
        column = self.columns.weight
        assert column is not None
        weight = self._weight()
        query = (
            f"SELECT {identifier(self.columns.source)}, {identifier(self.columns.target)}, {identifier(column)} "
            f"FROM (SELECT *, {weight} AS w FROM {self.edges.relation}) "
            "WHERE w IS NULL OR w < 0 OR NOT isfinite(w::FLOAT) LIMIT 1"
        )
        with reading(self.edges.name):
            source, target, value = self.tables.connection.execute(query).fetchall()[0]
        hint = 'Correct these weights, drop the edges, or set weights = "none" under [graph] in graph.toml.'
        if isinstance(value, str) and "," in value and self.description.decimal is None:
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
    name, kind = identifier(column), edges.columns[column]
    if kind in FLOATS:
        whole = f"CASE WHEN {name} = trunc({name}) THEN CAST({name} AS BIGINT) END"
        return f"coalesce(CAST({whole} AS VARCHAR), CAST({name} AS VARCHAR))"
    return f"CAST({name} AS VARCHAR)"


def _key_of(edges: Source, column: str, is_number: bool) -> str:
    """Return SQL for an end as the ids are: 64-bit integers, where ``007`` is not 7, or text."""
    name, kind = identifier(column), edges.columns[column]
    if not is_number:
        return _text_of(edges, column)
    if kind in INTEGERS:
        return f"CAST({name} AS BIGINT)"
    if kind in FLOATS:
        return f"CASE WHEN {name} = trunc({name}) THEN CAST({name} AS BIGINT) END"
    text = f"CAST({name} AS VARCHAR)"
    return f"CASE WHEN CAST(try_cast({text} AS BIGINT) AS VARCHAR) = {text} THEN try_cast({text} AS BIGINT) END"
