"""What is in a column, for a person to read."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from featprop.tables.by_column import ByColumn
from featprop.tables.encoders import Encoder
from featprop.tables.encoders.vector import lists_in
from featprop.tables.missing import is_blank, is_missing
from featprop.tables.numbers import infinite_in, numbers_in

log = logging.getLogger(__name__)

__all__ = ["Column", "column_of", "described", "missing_in", "plain_column", "values_in"]


@dataclass(frozen=True)
class Column:
    """What was found of one column, or of a group of columns, and what becomes of it.

    Attributes
    ----------
    name
        Its name, or those of the group.
    kind
        What it is.
    values
        What there is in it, in a few words.
    missing
        The share of values that are missing.
    becomes
        What becomes of it, in a few words.
    features
        How many features that is.
    """

    name: str
    kind: str
    values: str
    missing: float
    becomes: str
    features: int

    @classmethod
    def from_jsonable(cls, said: dict[str, Any]) -> Self:
        """Return the column that `asdict` wrote so."""
        found = cls(**said)
        texts = (found.name, found.kind, found.values, found.becomes)
        if not all(isinstance(text, str) for text in texts) or not isinstance(found.features, int):
            raise TypeError("a column of other types")
        return replace(found, missing=float(found.missing))


def plain_column(table: ByColumn, name: str) -> pa.Array:
    """Return a column as one array, text as the one type of text, and others as types that Arrow computes with."""
    values = table.column(name)
    if values.num_chunks == 1:
        array = values.chunk(0)
    else:
        array = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_decimal(array.type) and array.type.bit_width < 128:
        return array.cast(pa.decimal128(array.type.precision, array.type.scale))
    if pa.types.is_binary_view(array.type):
        return array.cast(pa.binary())
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return array


def column_of(table: ByColumn, name: str) -> pa.Array | None:
    """Return a column by its name, or by that name in other letters, which is said; None if there is none."""
    if name in table.column_names:
        return plain_column(table, name)
    alike = [other for other in table.column_names if other.strip().casefold() == name.strip().casefold()]
    if len(alike) != 1:
        return None
    log.warning("Column %s is taken for %s", alike[0], name)
    return plain_column(table, alike[0])


def missing_in(values: pa.Array) -> float:
    """Return the share of values that are missing."""
    if not len(values):
        return 0.0
    if pa.types.is_string(values.type):
        are_numbers = numbers_in(values[:1000]) is not None
        words = is_missing(values) if are_numbers else is_blank(values)
        infinite = len(infinite_in(values)) if are_numbers else 0
        return (float(pc.sum(words).as_py()) + infinite) / len(values)
    missing = float(pc.sum(values.is_null(nan_is_null=True)).as_py() or 0)
    return (missing + len(infinite_in(values))) / len(values)


def values_in(values: pa.Array) -> str:
    """Say in a few words what is in a column."""
    if pa.types.is_string(values.type):
        values = values.filter(pc.invert(is_blank(values)))
    known = values.drop_null()
    if pa.types.is_float32(values.type) or pa.types.is_float64(values.type):
        known = known.filter(pc.is_finite(known))
    if not len(known):
        return "nothing"
    if pa.types.is_nested(values.type):
        return "lists" if lists_in(values) is not None else str(values.type)
    if not pa.types.is_string(values.type):
        if not _has_order(values.type):
            return str(values.type)
        try:
            ends = pc.min_max(known.cast(pa.string()) if pa.types.is_boolean(values.type) else known).as_py()
        except (OverflowError, ValueError):
            return str(values.type)
        low, high = (f"{end:,.6g}" if isinstance(end, float) else f"{end}" for end in (ends["min"], ends["max"]))
        return low if low == high else f"{low} to {high}"
    counts = pc.value_counts(known)
    order = pc.sort_indices(counts.field("counts"), sort_keys=[("", "descending")])
    first = counts.field("values").take(order[:3]).to_pylist()
    shown = ", ".join(value if len(value) <= 20 else f"{value[:19]}…" for value in first)
    return f"{len(counts):,}: {shown}{', …' if len(counts) > 3 else ''}"


def described(names: tuple[str, ...], encoder: Encoder, missing: float, features: int, values: str) -> Column:
    """Say what was found of a block and what becomes of it."""
    if len(names) == 1:
        return Column(names[0], encoder.kind, values, missing, encoder.words, features)
    title = f"{names[0]} … {names[-1]}"
    return Column(title, encoder.kind, f"{len(names):,} columns of numbers", missing, encoder.words, features)


def _has_order(kind: pa.DataType) -> bool:
    """Say whether Arrow can tell the smallest and the largest of such values, and Python read them."""
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(
        (is_number and not pa.types.is_float16(kind)) or pa.types.is_boolean(kind) or pa.types.is_temporal(kind)
    ) and not (pa.types.is_duration(kind) or pa.types.is_interval(kind))
