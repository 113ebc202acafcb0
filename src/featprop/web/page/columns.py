"""What the columns of the nodes are to a reader: looked at once a graph, so that a card costs next to nothing.

The id and the class are not among them: the id is on every card, and the class is what people are asked for. Columns
that make no feature are: a name or an e-mail address tells a person much.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.interop.tables import LABELS
from featprop.tables.encoders.base import text_of
from featprop.tables.encoders.date import DateEncoder, dates_in
from featprop.tables.encoders.number import NumberEncoder
from featprop.tables.kinds import Kind, kind_of
from featprop.tables.looks import plain_column
from featprop.tables.naming import ID_NAMES
from featprop.tables.numbers import numbers_in
from featprop.web.page.features import summary_of

__all__ = ["ReadColumn", "Reading", "reading_of"]

TITLES = (
    "title", "name", "full_name", "full name", "fullname", "display_name", "displayname", "label", "headline",
    "subject", "caption", "username", "user_name", "screen_name",
)  # fmt: skip
"""What the column that a person calls nodes by is usually named, in small letters."""
TITLE_WORDS = frozenset({"name", "title"})
FEW = 12
"""Columns that are parts of one thing, up to this many, are read one by one."""
SAME = "the same everywhere"


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """A column of the nodes' table.

    Attributes
    ----------
    name
        Its name.
    kind
        ``"text"``, ``"number"``, ``"date"``, ``"category"``, ``"flag"`` or ``"vector"``; ``"own"`` for short text or
        codes of which nearly every node has its own.
    same
        Whether all nodes have the same.
    shares
        Of numbers and dates the share of nodes below each node, of categories and flags the share of nodes with the
        same; NaN where there is no value. None for other kinds.
    form
        How dates are written in text, empty for any other column.
    """

    name: str
    kind: str
    same: bool = False
    shares: NDArray[np.float32] | None = None
    form: str = ""

    @property
    def is_own(self) -> bool:
        """Whether nearly every node has its own."""
        return self.kind in ("own", "text")


@dataclass(frozen=True, eq=False)
class Reading:
    """What there is to read of a graph's nodes.

    Attributes
    ----------
    columns
        The columns of the table, in its order.
    title
        The one to call nodes by, None if that is the id.
    id
        What the column of ids is called.
    features
        Features that stand for columns which are many or not there: their name and where they start and stop.
    """

    columns: tuple[ReadColumn, ...]
    title: str | None
    id: str
    features: tuple[tuple[str, int, int], ...]


def reading_of(graph: Graph) -> Reading:
    """Look at the columns of a graph: the first time, and remember it."""
    found: Reading = graph.cache.get("columns a person reads", lambda: _reading(graph))
    return found


def _reading(graph: Graph) -> Reading:
    table, preparation = graph.table, graph.preparation
    whole = (("features", 0, graph.n_features),)
    if table is None:
        found = Reading((), None, "id", whole)
    else:
        options = None if preparation is None else preparation.options
        id_name = _named(table, (*ID_NAMES, ""), None if options is None else options.id)
        class_name = _named(table, LABELS, None if options is None else options.label)
        ranges, covered = _ranges(graph)
        names = [name for name in table.column_names if name not in {id_name, class_name, *covered}]
        columns = [column for name in names if (column := _looked_at(graph, name)) is not None]
        title = _title(columns, table)
        found = Reading(tuple(columns), title, id_name or "id", whole if preparation is None else ranges)
    for _, start, stop in found.features:
        summary_of(graph, start, stop)
    return found


def _named(table: pa.Table, usual: Sequence[str], asked: str | None) -> str | None:
    """Return the column that was asked for, else the first of a usual name, in letters of any size."""
    if asked is not None:
        return asked if asked in table.column_names else None
    by_name = {name.strip().casefold(): name for name in reversed(table.column_names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def _ranges(graph: Graph) -> tuple[tuple[tuple[str, int, int], ...], set[str]]:
    """Return the features that are seen in place of columns, and those columns."""
    ranges, covered, start = [], set[str](), 0
    there = set(graph.table.column_names) if graph.table is not None else set()
    for block in graph.preparation.blocks if graph.preparation is not None else ():
        stop = start + len(block.encoder.titles(block.title))
        many = block.encoder.kind == "columns" and (len(block.names) > FEW or not there.issuperset(block.names))
        if many or (block.encoder.kind == "vector" and summary_of(graph, start, stop).kind == "picture"):
            ranges.append((block.title, start, stop))
            covered.update(block.names)
        start = stop
    return tuple(ranges), covered


def _title(columns: Sequence[ReadColumn], table: pa.Table) -> str | None:
    """Return the column to call nodes by: text of a usual name, rather of each node's own, or so named and its own."""
    texts = [column for column in columns if not column.same and _is_text(table.schema.field(column.name).type)]
    usual = [column for column in texts if column.name.strip().casefold() in TITLES]
    if usual:
        return min(usual, key=lambda each: (not each.is_own, TITLES.index(each.name.strip().casefold()))).name
    return next((each.name for each in texts if each.is_own and _words(each.name) & TITLE_WORDS), None)


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))


def _looked_at(graph: Graph, name: str) -> ReadColumn | None:
    """Look at one column; None if nothing is in it."""
    assert graph.table is not None
    values = plain_column(graph.table, name)
    encoder = (
        next((b.encoder for b in graph.preparation.blocks if b.names == (name,)), None) if graph.preparation else None
    )
    found = kind_of(name, values) if encoder is None or encoder.kind == "columns" else Kind(encoder.kind)
    kind = found.kind
    if found.reason == "empty":
        return None
    if found.reason == SAME:
        return ReadColumn(name, "category", same=True)
    if kind == "out":
        return ReadColumn(name, "own")
    if kind == "number":
        comma = encoder.comma if isinstance(encoder, NumberEncoder) else None
        numbers = numbers_in(values, comma)
        return ReadColumn(name, "own") if numbers is None else ReadColumn(name, kind, shares=_below(numbers.values))
    if kind == "date":
        dates = dates_in(values, encoder.form if isinstance(encoder, DateEncoder) else None)
        return (
            ReadColumn(name, "own") if dates is None else ReadColumn(name, kind, shares=_below(dates[0]), form=dates[1])
        )
    if kind in ("category", "flag"):
        return ReadColumn(name, kind, shares=_alike(values))
    return ReadColumn(name, kind)


def _below(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return for each number the share of numbers below it."""
    known = np.sort(values[~np.isnan(values)])
    shares = np.searchsorted(known, values) / max(1, known.size)
    return np.where(np.isnan(values), np.nan, shares).astype(np.float32)


def _alike(values: pa.Array) -> NDArray[np.float32]:
    """Return for each value the share of values like it."""
    codes = text_of(values).dictionary_encode().indices
    there = codes.is_valid().to_numpy(zero_copy_only=False)
    known = codes.drop_null().to_numpy(zero_copy_only=False)
    shares = np.full(len(codes), np.nan, dtype=np.float32)
    shares[there] = np.bincount(known)[known] / max(1, known.size) if known.size else np.nan
    return shares
