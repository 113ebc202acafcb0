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
from numpy.typing import NDArray

from featprop.features import Kind, Reason
from featprop.features.encoders import DateEncoder, NumberEncoder
from featprop.features.parsing import as_text, plain_array, read_dates, read_numbers
from featprop.features.profile import infer_kind
from featprop.graph import Graph
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
    table, preprocessor = graph.table, graph.preprocessor
    whole = (("features", 0, graph.n_features),)
    if table is None:
        found = CardLayout((), None, graph.id_name, whole)
    else:
        ranges, covered = _ranges(graph)
        names = [name for name in table.column_names if name not in covered]
        columns = [column for name in names if (column := _profile_column(graph, name)) is not None]
        shown = whole if preprocessor is None else ranges
        found = CardLayout(tuple(columns), _title(columns, table), graph.id_name, shown)
    for _, start, stop in found.features:
        summarize_features(graph, start, stop)
    return found


def _ranges(graph: Graph) -> tuple[tuple[tuple[str, int, int], ...], set[str]]:
    """Return the feature ranges shown instead of columns, and the columns they replace."""
    ranges, covered, start = [], set[str](), 0
    there = set(graph.table.column_names) if graph.table is not None else set()
    for group in graph.preprocessor.groups if graph.preprocessor is not None else ():
        stop = start + len(group.feature_names)
        kind = group.encoder.kind
        many = kind == Kind.GROUP and (len(group.columns) > MAX_GROUP_COLUMNS or not there.issuperset(group.columns))
        if many or (kind == Kind.VECTOR and summarize_features(graph, start, stop).kind == "picture"):
            ranges.append((group.name, start, stop))
            covered.update(group.columns)
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
    values = plain_array(graph.table.column(name))
    groups = graph.preprocessor.groups if graph.preprocessor is not None else ()
    encoder = next((group.encoder for group in groups if group.columns == (name,)), None)
    if encoder is None or encoder.kind == Kind.GROUP:
        kind, reason, _ = infer_kind(name, values)
        if reason == Reason.EMPTY:
            return None
        if reason == Reason.CONSTANT:
            return CardColumn(name, "category", is_constant=True)
    else:
        kind = encoder.kind
    if kind == Kind.NUMBER:
        decimal = encoder.decimal if isinstance(encoder, NumberEncoder) else None
        numbers = read_numbers(values, decimal, force=decimal is not None)
        return CardColumn(name, kind, shares=_shares_below(numbers.values))
    if kind == Kind.DATE:
        dates = read_dates(values, encoder.form if isinstance(encoder, DateEncoder) else None)
        return CardColumn(name, kind, shares=_shares_below(dates.values), form=dates.form)
    if kind in (Kind.CATEGORY, Kind.FLAG):
        return CardColumn(name, kind, shares=_shares_alike(values))
    return CardColumn(name, kind if kind in (Kind.TEXT, Kind.VECTOR) else "own")


def _shares_below(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the share of numbers below each number."""
    known = np.sort(values[~np.isnan(values)])
    shares = np.searchsorted(known, values) / max(1, known.size)
    return np.where(np.isnan(values), np.nan, shares).astype(np.float32)


def _shares_alike(values: pa.Array) -> NDArray[np.float32]:
    """Return the share of values equal to each value."""
    text = as_text(values)
    codes = (pa.nulls(len(values), pa.string()) if text is None else text).dictionary_encode().indices
    there = codes.is_valid().to_numpy(zero_copy_only=False)
    known = codes.drop_null().to_numpy(zero_copy_only=False)
    shares = np.full(len(codes), np.nan, dtype=np.float32)
    shares[there] = np.bincount(known)[known] / max(1, known.size) if known.size else np.nan
    return shares
