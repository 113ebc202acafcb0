"""Choose the columns that a card shows, once per graph.

The id is on every card and the class is what people are asked for, so neither is a column here. Columns that make no
feature are: a name or an e-mail address helps a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.stats import rankdata

from featprop.features import Kind, Reason
from featprop.features.encoders import DateEncoder, NumberEncoder
from featprop.features.parsing import as_text, plain_array, read_dates, read_numbers
from featprop.features.profile import infer_kind
from featprop.graph import Graph
from featprop.web.common.features import summarize_features

if TYPE_CHECKING:
    from featprop.features.preprocessor import FeatureGroup

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
    """A column of the node table."""

    name: str
    kind: str  # `Kind`, or ``"code"`` for short text or codes that are unique to nearly every node
    is_constant: bool = False  # whether all nodes have the same value
    shares: NDArray[np.float32] | None = None  # of nodes below each number or date, or with the same category or flag
    values: NDArray[np.float64] | None = None  # numbers, or seconds since 1970 of dates

    @property
    def is_unique(self) -> bool:
        """Whether the value is unique to nearly every node."""
        return self.kind in ("code", "text")


class FeatureRange(NamedTuple):
    """Features that are shown instead of columns."""

    name: str
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class CardLayout:
    """What the cards of a graph show."""

    columns: tuple[CardColumn, ...] = ()  # columns of the table, in its order
    title: str | None = None  # column with the names of the nodes; None if they go by their ids
    features: tuple[FeatureRange, ...] = ()


def card_layout(graph: Graph) -> CardLayout:
    """Return what the cards of a graph show; computed once per graph."""
    found: CardLayout = graph.cache.get("columns a person reads", lambda: _compute_layout(graph))
    return found


def _compute_layout(graph: Graph) -> CardLayout:
    table, groups = graph.table, () if graph.preprocessor is None else graph.preprocessor.groups
    whole = (FeatureRange("features", 0, graph.n_features),)
    if table is None:
        return CardLayout(features=whole)
    summarized = dict(_summarized_groups(graph, groups))
    covered = {name for group in summarized.values() for name in group.columns}
    encoders = {group.name: group.encoder for group in groups if group.encoder.kind != Kind.GROUP}
    columns = []
    for name in table.column_names:
        if name not in covered:
            values = plain_array(table.column(name))
            encoder = encoders.get(name)
            kind, reason = (encoder.kind, None) if encoder is not None else infer_kind(name, values)
            if reason == Reason.CONSTANT:
                columns.append(CardColumn(name, "category", is_constant=True))
            elif reason != Reason.EMPTY:
                columns.append(_read_column(name, kind, values, encoder))
    shown = whole if graph.preprocessor is None else tuple(summarized)
    return CardLayout(tuple(columns), _title(columns, table), shown)


def _summarized_groups(graph: Graph, groups: Sequence[FeatureGroup]) -> Iterator[tuple[FeatureRange, FeatureGroup]]:
    """Yield the groups of columns that are shown as features."""
    there = set(graph.table.column_names) if graph.table is not None else set()
    start = 0
    for group in groups:
        stop = start + len(group.feature_names)
        kind = group.encoder.kind
        many = kind == Kind.GROUP and (len(group.columns) > MAX_GROUP_COLUMNS or not there.issuperset(group.columns))
        if many or (kind == Kind.VECTOR and summarize_features(graph, start, stop).kind == "picture"):
            yield FeatureRange(group.name, start, stop), group
        start = stop


def _title(columns: Sequence[CardColumn], table: pa.Table) -> str | None:
    """Return the column with the names of the nodes, preferring usual names and unique values."""
    texts = [each for each in columns if not each.is_constant and _is_text(table.schema.field(each.name).type)]
    usual = [each for each in texts if each.name.strip().casefold() in TITLES]
    if usual:
        return min(usual, key=lambda each: (not each.is_unique, TITLES.index(each.name.strip().casefold()))).name
    return next((each.name for each in texts if each.is_unique and _words(each.name) & TITLE_WORDS), None)


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))


def _read_column(name: str, kind: Kind, values: pa.Array, encoder: object) -> CardColumn:
    if kind == Kind.NUMBER:
        decimal = encoder.decimal if isinstance(encoder, NumberEncoder) else None
        numbers = read_numbers(values, decimal, force=decimal is not None)
        return CardColumn(name, kind, shares=_shares_below(numbers.values), values=numbers.values)
    if kind == Kind.DATE:
        dates = read_dates(values, encoder.form if isinstance(encoder, DateEncoder) else None)
        return CardColumn(name, kind, shares=_shares_below(dates.values), values=dates.values)
    if kind in (Kind.CATEGORY, Kind.FLAG):
        return CardColumn(name, kind, shares=_shares_alike(values))
    return CardColumn(name, kind if kind in (Kind.TEXT, Kind.VECTOR) else "code")


def _shares_below(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the share of numbers below each number."""
    below = rankdata(values, method="min", nan_policy="omit") - 1
    return np.asarray(below / max(1, np.count_nonzero(~np.isnan(values))), dtype=np.float32)


def _shares_alike(values: pa.Array) -> NDArray[np.float32] | None:
    """Return the share of values equal to each value; None for nested types."""
    text = as_text(values)
    if text is None:
        return None
    codes = pc.fill_null(text.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes[codes >= 0])
    return np.asarray(np.append(counts / max(1, counts.sum()), np.nan)[codes], dtype=np.float32)
