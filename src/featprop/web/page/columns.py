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

from featprop.features import Kind, Reason
from featprop.features.encoders import DateEncoder, NumberEncoder
from featprop.features.parsing import as_text, plain_array, read_dates, read_numbers
from featprop.features.profile import infer_kind
from featprop.graph import Graph
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
    found: Reading = graph.once("columns a person reads", lambda: _reading(graph))
    return found


def _reading(graph: Graph) -> Reading:
    table, preprocessor = graph.table, graph.preprocessor
    whole = (("features", 0, graph.n_features),)
    if table is None:
        found = Reading((), None, "id", whole)
    else:
        ranges, covered = _ranges(graph)
        names = [name for name in table.column_names if name not in covered]
        columns = [column for name in names if (column := _looked_at(graph, name)) is not None]
        found = Reading(tuple(columns), _title(columns, table), "id", whole if preprocessor is None else ranges)
    for _, start, stop in found.features:
        summary_of(graph, start, stop)
    return found


def _ranges(graph: Graph) -> tuple[tuple[tuple[str, int, int], ...], set[str]]:
    """Return the features that are seen in place of columns, and those columns."""
    ranges, covered, start = [], set[str](), 0
    there = set(graph.table.column_names) if graph.table is not None else set()
    for group in graph.preprocessor.groups if graph.preprocessor is not None else ():
        stop = start + len(group.feature_names)
        kind = group.encoder.kind
        many = kind == Kind.GROUP and (len(group.columns) > FEW or not there.issuperset(group.columns))
        if many or (kind == Kind.VECTOR and summary_of(graph, start, stop).kind == "picture"):
            ranges.append((group.name, start, stop))
            covered.update(group.columns)
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
    values = plain_array(graph.table.column(name))
    groups = graph.preprocessor.groups if graph.preprocessor is not None else ()
    encoder = next((group.encoder for group in groups if group.columns == (name,)), None)
    if encoder is None or encoder.kind == Kind.GROUP:
        kind, reason, _ = infer_kind(name, values)
        if reason == Reason.EMPTY:
            return None
        if reason == Reason.CONSTANT:
            return ReadColumn(name, "category", same=True)
    else:
        kind = encoder.kind
    if kind == Kind.NUMBER:
        decimal = encoder.decimal if isinstance(encoder, NumberEncoder) else None
        numbers = read_numbers(values, decimal, force=decimal is not None)
        if numbers is not None:
            return ReadColumn(name, kind, shares=_below(numbers.values))
    if kind == Kind.DATE:
        dates = read_dates(values, encoder.form if isinstance(encoder, DateEncoder) else None)
        if dates is not None:
            return ReadColumn(name, kind, shares=_below(dates.values), form=dates.form)
    if kind in (Kind.CATEGORY, Kind.FLAG):
        return ReadColumn(name, kind, shares=_alike(values))
    return ReadColumn(name, kind if kind in (Kind.TEXT, Kind.VECTOR) else "own")


def _below(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return for each number the share of numbers below it."""
    known = np.sort(values[~np.isnan(values)])
    shares = np.searchsorted(known, values) / max(1, known.size)
    return np.where(np.isnan(values), np.nan, shares).astype(np.float32)


def _alike(values: pa.Array) -> NDArray[np.float32]:
    """Return for each value the share of values like it."""
    text = as_text(values)
    codes = (pa.nulls(len(values), pa.string()) if text is None else text).dictionary_encode().indices
    there = codes.is_valid().to_numpy(zero_copy_only=False)
    known = codes.drop_null().to_numpy(zero_copy_only=False)
    shares = np.full(len(codes), np.nan, dtype=np.float32)
    shares[there] = np.bincount(known)[known] / max(1, known.size) if known.size else np.nan
    return shares
