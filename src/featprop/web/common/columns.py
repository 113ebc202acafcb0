"""Choose the columns that a card shows, once per graph.

The id is on every card and the class is what people are asked for, so neither is a column here. Columns that make no
feature are: a name or an e-mail address helps a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.interop.tables import LABELS
from featprop.tables.encoders.base import MANY, LeftOutError, text_of
from featprop.tables.encoders.date import DateEncoder, dates_in
from featprop.tables.encoders.number import NumberEncoder
from featprop.tables.kinds import Kind, kind_of
from featprop.tables.looks import plain_column
from featprop.tables.naming import ID_NAMES
from featprop.tables.numbers import numbers_in
from featprop.web.common.features import summarize_features

TITLES = (
    "title", "name", "full_name", "full name", "fullname", "display_name", "displayname", "label", "headline",
    "subject", "caption", "username", "user_name", "screen_name",
)  # fmt: skip
"""Usual names of the column with the names of the nodes, in lower case."""
TITLE_WORDS = frozenset({"name", "title"})
MAX_GROUP_COLUMNS = 12
"""Columns of a group that are shown one by one; larger groups are shown as features."""


@dataclass(frozen=True, eq=False)
class CardColumn:
    """A column of the node table.

    Attributes
    ----------
    name
        Column name.
    kind
        ``"text"``, ``"number"``, ``"date"``, ``"category"``, ``"flag"`` or ``"vector"``; ``"own"`` for short text or
        codes that are unique to nearly every node.
    is_constant
        Whether all nodes have the same value.
    shares
        For numbers and dates the share of nodes below each node, for categories and flags the share of nodes with the
        same value; NaN for missing values. None for other kinds.
    form
        Date format of a text column; empty for other columns.
    """

    name: str
    kind: str
    is_constant: bool = False
    shares: NDArray[np.float32] | None = None
    form: str = ""

    @property
    def is_own(self) -> bool:
        """Whether the value is unique to nearly every node."""
        return self.kind in ("own", "text")


@dataclass(frozen=True, eq=False)
class CardLayout:
    """What the cards of a graph show."""

    columns: tuple[CardColumn, ...]  # columns of the table, in its order
    title: str | None  # column with the names of the nodes; None if they go by their ids
    id: str  # name of the id column
    features: tuple[tuple[str, int, int], ...]  # feature ranges shown instead of columns: name, start and stop


def card_layout(graph: Graph) -> CardLayout:
    """Return what the cards of a graph show; computed once per graph."""
    found: CardLayout = graph.cache.get("columns a person reads", lambda: _compute_layout(graph))
    return found


def _compute_layout(graph: Graph) -> CardLayout:
    table, preparation = graph.table, graph.preparation
    whole = (("features", 0, graph.n_features),)
    if table is None:
        found = CardLayout((), None, "id", whole)
    else:
        options = None if preparation is None else preparation.options
        id_name = _find_column(table, (*ID_NAMES, ""), None if options is None else options.id)
        class_name = _find_column(table, LABELS, None if options is None else options.label)
        ranges, covered = _ranges(graph)
        names = [name for name in table.column_names if name not in {id_name, class_name, *covered}]
        columns = [column for name in names if (column := _profile_column(graph, name)) is not None]
        title = _title(columns, table)
        found = CardLayout(tuple(columns), title, id_name or "id", whole if preparation is None else ranges)
    for _, start, stop in found.features:
        summarize_features(graph, start, stop)
    return found


def _find_column(table: pa.Table, usual: Sequence[str], asked: str | None) -> str | None:
    """Return the column that was asked for, else the first with a usual name in any case."""
    if asked is not None:
        return asked if asked in table.column_names else None
    by_name = {name.strip().casefold(): name for name in reversed(table.column_names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def _ranges(graph: Graph) -> tuple[tuple[tuple[str, int, int], ...], set[str]]:
    """Return the feature ranges shown instead of columns, and the columns they replace."""
    ranges, covered, start = [], set[str](), 0
    there = set(graph.table.column_names) if graph.table is not None else set()
    for block in graph.preparation.blocks if graph.preparation is not None else ():
        stop = start + len(block.encoder.titles(block.title))
        many = block.encoder.kind == "columns" and (
            len(block.names) > MAX_GROUP_COLUMNS or not there.issuperset(block.names)
        )
        if many or (block.encoder.kind == "vector" and summarize_features(graph, start, stop).kind == "picture"):
            ranges.append((block.title, start, stop))
            covered.update(block.names)
        start = stop
    return tuple(ranges), covered


def _title(columns: Sequence[CardColumn], table: pa.Table) -> str | None:
    """Return the column with the names of the nodes, preferring usual names and unique values."""
    texts = [column for column in columns if not column.is_constant and _is_text(table.schema.field(column.name).type)]
    usual = [column for column in texts if column.name.strip().casefold() in TITLES]
    if usual:
        return min(usual, key=lambda each: (not each.is_own, TITLES.index(each.name.strip().casefold()))).name
    return next((each.name for each in texts if each.is_own and _words(each.name) & TITLE_WORDS), None)


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))


def _profile_column(graph: Graph, name: str) -> CardColumn | None:
    """Return what a card needs to know about a column; None if it is empty."""
    assert graph.table is not None
    values = plain_column(graph.table, name)
    encoder = (
        next((b.encoder for b in graph.preparation.blocks if b.names == (name,)), None) if graph.preparation else None
    )
    kind = (kind_of(name, values) if encoder is None or encoder.kind == "columns" else Kind(encoder.kind)).kind
    if kind == "out":
        missing, distinct = _count_values(values)
        if not distinct:
            return None
        is_constant = distinct == 1 and missing < MANY
        return CardColumn(name, "category", is_constant=True) if is_constant else CardColumn(name, "own")
    if kind == "number":
        comma = encoder.comma if isinstance(encoder, NumberEncoder) else None
        numbers = numbers_in(values, comma)
        return (
            CardColumn(name, "own") if numbers is None else CardColumn(name, kind, shares=_shares_below(numbers.values))
        )
    if kind == "date":
        dates = dates_in(values, encoder.form if isinstance(encoder, DateEncoder) else None)
        if dates is None:
            return CardColumn(name, "own")
        return CardColumn(name, kind, shares=_shares_below(dates[0]), form=dates[1])
    if kind in ("category", "flag"):
        return CardColumn(name, kind, shares=_shares_alike(values))
    return CardColumn(name, kind)


def _count_values(values: pa.Array) -> tuple[float, int]:
    """Return the share of missing values and the number of distinct others; 2 for types that have no text."""
    try:
        text = text_of(values)
    except LeftOutError:
        return 0.0, 2
    return text.null_count / max(1, len(text)), int(pc.count_distinct(pc.utf8_lower(text)).as_py())


def _shares_below(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the share of numbers below each number."""
    known = np.sort(values[~np.isnan(values)])
    shares = np.searchsorted(known, values) / max(1, known.size)
    return np.where(np.isnan(values), np.nan, shares).astype(np.float32)


def _shares_alike(values: pa.Array) -> NDArray[np.float32]:
    """Return the share of values equal to each value."""
    codes = text_of(values).dictionary_encode().indices
    there = codes.is_valid().to_numpy(zero_copy_only=False)
    known = codes.drop_null().to_numpy(zero_copy_only=False)
    shares = np.full(len(codes), np.nan, dtype=np.float32)
    shares[there] = np.bincount(known)[known] / max(1, known.size) if known.size else np.nan
    return shares
