"""What the columns of a table become is learnt: one look at each, then how much each block of them counts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError, first_five
from featprop.matrix import Features
from featprop.progress import tracked
from featprop.tables.block import Block
from featprop.tables.by_column import ByColumn
from featprop.tables.columns import Columns, Several
from featprop.tables.encoders import ENCODERS, Encoder, GroupEncoder, LeftOutError
from featprop.tables.groups import groups_in
from featprop.tables.kinds import Kind, kind_of, sample_of
from featprop.tables.looks import Column, described, missing_in, values_in
from featprop.tables.numbers import decimal_comma, numbers_of
from featprop.tables.options import TableOptions
from featprop.tables.units import unit_in

__all__ = ["LEFT_OUT", "Learner", "learn_as_it_is"]

log = logging.getLogger(__name__)

STRIP = 16
"""Columns of a matrix that are looked at together."""

LEFT_OUT = "–"
"""The kind of a column that is not used."""


class Learner:
    """Goes through the columns of a table once, and remembers what it saw."""

    def __init__(self, table: ByColumn, options: TableOptions, what: str, keep: Callable[[Features], Features]) -> None:
        self.table, self.options, self.what, self.keep = table, options, what, keep
        self.columns: list[Column] = []
        self.blocks: list[Block] = []
        self.matrices: list[Features] = []
        self.comma = False
        self.arrays = Columns(table, ())

    def learn(self, wanted: Sequence[str]) -> None:
        """Look at the columns that are wanted."""
        self.arrays = Columns(self.table, wanted)
        self.comma = any(decimal_comma(sample_of(values)) for values in self.arrays.values())
        kinds = {name: self._kind(name) for name in wanted}
        groups = groups_in(kinds, self.arrays)
        grouped = {name: group for group in groups for name in group}
        parts: list[_Part] = []
        for name in tracked(wanted, "preparing columns", len(wanted)):
            if name in grouped and grouped[name][0] != name:
                continue
            names = grouped.get(name, (name,))
            part = self._part(names, Kind("columns") if name in grouped else kinds[name])
            if part is not None:
                parts.append(part)
        lone = len(parts) == 1 and parts[0].encoder.kind in ("columns", "vector")
        while parts:
            part = parts.pop(0)
            is_number = part.encoder.kind in ("number", "columns")
            unit = unit_in(self.arrays[part.names[0]]) if is_number else None
            block = Block(part.names, part.encoder, 1.0 if lone else _scale(part), unit)
            self.blocks.append(block)
            as_they_are = block.scale == 1
            self.matrices += part.matrices if as_they_are else [self.keep(block.scaled(each)) for each in part.matrices]
            block.tell_unread(Several(self.arrays, part.names))

    def constant(self, wanted: Sequence[str]) -> None:
        """Take numbers that are the same everywhere as they are, where there is nothing else: edges may tell enough."""
        numeric = [name for name in wanted if numbers_of(self.arrays[name]) is not None]
        same = [name for name in numeric if not missing_in(self.arrays[name])]
        if not same or any(column.becomes != "left out: the same everywhere" for column in self.columns):
            return
        names, arrays = tuple(same), Several(self.arrays, same)
        encoder = GroupEncoder.learn(arrays, names)
        self.columns[:] = [described(names, encoder, 0.0, len(names), values_in(arrays[0]))]
        self.blocks.append(Block(names, encoder, 1.0))
        self.matrices += map(self.keep, encoder.parts(arrays, self.table.num_rows))

    def _kind(self, name: str) -> Kind:
        """Return what the user says a column is, else what a look says; one asked for by its name is not left out."""
        if name in self.options.columns:
            return Kind(self.options.columns[name], "as asked for")
        found = kind_of(name, self.arrays[name])
        is_own = found.kind == "out" and found.reason == "nearly every node has its own"
        if is_own and name in self.options.asked_for:
            return Kind("category" if pa.types.is_string(self.arrays[name].type) else "number")
        return found

    def _part(self, names: tuple[str, ...], kind: Kind) -> _Part | None:
        arrays = Several(self.arrays, names)
        missing = float(np.mean([missing_in(array) for array in arrays]))
        values = values_in(arrays[0])
        try:
            if kind.kind == "out":
                raise LeftOutError(kind.reason)
            hint = {"comma": True} if kind.kind == "number" and self.comma else {}
            encoder = ENCODERS[kind.kind].learn(arrays, names, **hint)
            part = _Part(names, encoder, [], [])
            for matrix in encoder.parts(arrays, self.table.num_rows):
                part.variances.extend(_variances(matrix))
                part.matrices.append(self.keep(matrix))
            if encoder.kind not in ("columns", "vector") and not any(part.variances):
                raise LeftOutError("the same everywhere")
        except LeftOutError as error:
            if self.options.columns.get(names[0], "out") != "out":
                what, rule = f"Column {names[0]!r} of {self.what}", f"must be a {kind.kind} as --column says"
                raise GraphError(what, rule, f"{error}, such as {values}", "name another kind") from error
            self.columns.append(Column(names[0], LEFT_OUT, values, missing, f"left out: {error}", 0))
            return None
        self.columns.append(described(names, encoder, missing, len(part.variances), values))
        return part


class _Part(NamedTuple):
    """What was learnt of a block before all are known: its features, not yet scaled, and the variance of each."""

    names: tuple[str, ...]
    encoder: Encoder
    matrices: list[Features]
    variances: list[float]


def _variances(matrix: Features) -> NDArray[np.float64]:
    """Return the variance of each column, which does not depend on the columns beside it."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not sp.issparse(matrix):
            some = (np.ascontiguousarray(matrix[:, at : at + STRIP].T) for at in range(0, matrix.shape[1], STRIP))
            return np.array([column.var(dtype=np.float64) for strip in some for column in strip])
        wide = sp.csc_array(matrix, dtype=np.float64)
        means = np.asarray(wide.mean(axis=0))
        wide.data -= np.repeat(means, np.diff(wide.indptr))
        empty = 1 - np.diff(wide.indptr) / max(1, wide.shape[0])
        return np.asarray(np.asarray(wide.power(2).mean(axis=0)) + empty * means**2)


def _scale(part: _Part) -> float:
    """Return what a block is multiplied by, so that its variance is what it counts."""
    variances = np.array(part.variances)
    total = float(variances.sum())
    if total == 0 or not np.isfinite(total):
        return 1.0
    counts = 1 + np.log2(total**2 / float((variances**2).sum())) if part.encoder.says_much else 1.0
    return float(f"{np.sqrt(counts / max(total, part.encoder.least_variance)):.9g}")


def learn_as_it_is(table: ByColumn, options: TableOptions, wanted: Sequence[str], what: str) -> tuple[Block, Column]:
    """Return a block that takes the numeric columns as they are, or one column of lists, and what to say of it."""
    arrays = Columns(table, wanted)
    numeric = [name for name, values in arrays.items() if numbers_of(values) is not None]
    lists = [name for name, values in arrays.items() if kind_of(name, values).kind == "vector"]
    others = [name for name in wanted if name not in numeric and name not in lists]
    if options.features is not None and others:
        found = f"{others[0]!r} of the type {arrays[others[0]].type}"
        raise GraphError(f"Feature columns of {what}", "must be numeric with --raw", found, "leave --raw out")
    if len(lists) + bool(numeric) != 1:
        found = ", ".join([*lists, *numeric][:8]) or f"the columns {', '.join(table.column_names[:8])}"
        rule = "must be numeric columns or one list column with --raw"
        raise GraphError(f"Features of {what}", rule, found, "name the ones to use with --features")
    if others:
        log.info("columns that are not numeric ignored: %s", first_five(others))
    for name in numeric:
        values = np.asarray(numbers_of(arrays[name]))
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            first = values[bad[0]]
            found = "NaN or an empty cell" if np.isnan(first) else f"{first}"
            found += f" in row {bad[0] + 1:,} ({bad.size:,} in all)"
            cure = "fill or drop them, or leave --raw out"
            raise GraphError(f"Feature {name!r} of {what}", "must be finite numbers with --raw", found, cure)
    names = tuple(lists or numeric)
    kind: type[Encoder] = ENCODERS["vector"] if lists else GroupEncoder
    block = Block(names, _learnt(kind, Several(arrays, names), names, what), 1.0, None if lists else "")
    return block, described(names, block.encoder, 0.0, len(names), "as they are")


def _learnt(kind: type[Encoder], arrays: Sequence[pa.Array], names: tuple[str, ...], what: str) -> Encoder:
    try:
        encoder = kind.learn(arrays, names)
        if unread := encoder.unread(arrays):
            raise LeftOutError(first_five(unread))
    except LeftOutError as error:
        found, cure = f"{error}", "give every node as many features"
        raise GraphError(f"Feature column {names[0]!r} of {what}", "must be usable as it is", found, cure) from error
    return encoder
