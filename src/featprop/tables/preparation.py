"""How the columns of a table became features: learnt once, kept with the model, done again by name.

A table is cut into **blocks**: a column each, but for columns that are parts of one thing (`featprop.tables.groups`),
which are one block. Each block becomes numbers by its kind (`featprop.tables.kinds`, `featprop.tables.encoders`) and is
multiplied so that the variance of its features adds up to what it counts:

    1              for a column that says one thing: a number, a flag, a date, a category
    1 + log2(d)    for a text, a list or a group of columns that span d dimensions, (Σv)² / Σv² of their variances v

So one flag is as loud as another, however rare or wide, and an embedding of 300 numbers counts as nine of them: more,
and drowns nothing.
A table of one block that is taken as it is, such as the words of a bag or one embedding, stays exactly as it is.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError, ParameterError, first_five
from featprop.matrix import Features, side_by_side
from featprop.progress import tracked
from featprop.tables.by_column import ByColumn
from featprop.tables.encoders import ENCODERS, Encoder, GroupEncoder, LeftOutError
from featprop.tables.encoders.number import NumberEncoder
from featprop.tables.groups import groups_in
from featprop.tables.kinds import Kind, kind_of, sample_of
from featprop.tables.looks import Column, described, missing_in, plain_column, values_in
from featprop.tables.numbers import decimal_comma, numbers_of
from featprop.tables.options import TableOptions

__all__ = ["Preparation"]

log = logging.getLogger(__name__)

STRIP = 16
"""Columns of a matrix that are looked at together."""

LEFT_OUT = "–"
"""The kind of a column that is not used."""


@dataclass(frozen=True, eq=False)
class _Block:
    names: tuple[str, ...]
    encoder: Encoder
    scale: float

    @property
    def title(self) -> str:
        return self.names[0] if len(self.names) == 1 else f"{self.names[0]} … {self.names[-1]}"

    def tell_unread(self, columns: Sequence[pa.Array | None]) -> None:
        unread = self.encoder.unread(columns)
        if unread:
            log.warning("Column %s: %s: %s", self.title, self.encoder.unread_are, first_five(unread))

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # of a damaged model: who takes features refuses infinite ones
            return self.scaled(self.encoder.apply(columns, rows))

    def scaled(self, matrix: Features) -> Features:
        return matrix if self.scale == 1 else (matrix * np.float32(self.scale)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Preparation:
    """How a table became features.

    Attributes
    ----------
    options
        What the user said of the tables.
    columns
        What was found of each column, for people.
    """

    options: TableOptions
    blocks: tuple[_Block, ...]
    columns: tuple[Column, ...] = field(default=(), repr=False)

    @classmethod
    def learn(
        cls, table: ByColumn, options: TableOptions, own: Sequence[str] = (), what: str = "nodes"
    ) -> tuple[Self, Features]:
        """Look at every column; return what was learnt and the features of this table.

        Parameters are those of `learn_blocks`.
        """
        preparation, blocks = cls.learn_blocks(table, options, own, what)
        return preparation, side_by_side(blocks)

    @classmethod
    def learn_blocks(
        cls,
        table: ByColumn,
        options: TableOptions,
        own: Sequence[str] = (),
        what: str = "nodes",
        keep: Callable[[Features], Features] = lambda matrix: matrix,
    ) -> tuple[Self, list[Features]]:
        """Look at every column; return what was learnt and the features of this table, as matrices side by side.

        Parameters
        ----------
        table
            The nodes.
        options
            What the user said.
        own
            The columns that are no features: id and label.
        what
            The table, for messages.
        keep
            Puts some features where they are kept, and returns them there.
        """
        possible = [name for name in table.column_names if name not in own]
        wanted = possible if options.features is None else _matching(possible, options.features, what)
        for name in options.columns:
            if name not in wanted:
                raise _no_column(name, wanted, what)
        if options.raw:
            found = cls._as_it_is(table, options, wanted, what)
            (block,) = found.blocks
            arrays = _Several(_Columns(table, block.names), block.names)
            return found, [keep(matrix) for matrix in block.encoder.parts(arrays, table.num_rows)]
        learner = _Learner(table, options, what, keep)
        learner.learn(wanted)
        if not learner.blocks:
            learner.constant(wanted)
        if not learner.blocks:
            found_columns = [f"{column.name}: {column.becomes}" for column in learner.columns[:5]]
            cure = "add a column, or say what one is with --column NAME=KIND"
            rule = "must have at least one column that can be a feature"
            raise GraphError(f"{what}", rule, "; ".join(found_columns) or "no column", cure)
        return cls(options, tuple(learner.blocks), tuple(learner.columns)), learner.matrices

    @classmethod
    def _as_it_is(cls, table: ByColumn, options: TableOptions, wanted: Sequence[str], what: str) -> Self:
        """Take the numeric columns as they are, or one column of lists."""
        arrays = _Columns(table, wanted)
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
        block = _Block(names, _learnt(kind, _Several(arrays, names), names, what), 1.0)
        return cls(options, (block,), (described(names, block.encoder, 0.0, len(names), "as they are"),))

    def apply(self, column: Callable[[str], pa.Array | None], rows: int) -> tuple[Features, tuple[str, ...] | None]:
        """Return the features of a table and their names; a lone list column has none.

        Parameters
        ----------
        column
            Returns a column by its name, None if there is none: it then counts as missing everywhere, and the log
            says so.
        rows
            How many nodes there are.
        """
        found = [[column(name) for name in block.names] for block in self.blocks]
        names = [name for block in self.blocks for name in block.names]
        arrays = [values for block in found for values in block]
        gone = [name for name, values in zip(names, arrays, strict=True) if values is None]
        if len(gone) == len(names):
            rule = "must have the columns that the model learnt from"
            raise GraphError("The nodes", rule, f"none of {first_five(gone)}", "use tables with these columns")
        if gone:
            log.warning("Columns that are gone count as missing everywhere: %s", first_five(gone))
        comma = any(values is not None and decimal_comma(sample_of(values)) for values in arrays)
        matrices = [self._applied(block, values, rows, comma) for block, values in zip(self.blocks, found, strict=True)]
        return side_by_side(matrices), self.feature_names

    def _applied(self, block: _Block, values: list[pa.Array | None], rows: int, comma: bool) -> Features:
        """Return the features of one block, and say what of it cannot be read."""
        if comma and isinstance(block.encoder, NumberEncoder):
            block = replace(block, encoder=replace(block.encoder, comma=True))
        try:
            block.tell_unread(values)
            return block.apply(values, rows)
        except LeftOutError as error:
            log.warning("Column %s counts as missing everywhere: it is %s", block.title, error)
            return block.apply([None] * len(values), rows)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features; a lone list column has none."""
        return None if len(self.blocks) == 1 and self.blocks[0].encoder.kind == "vector" else self.titles

    @property
    def takes_numbers_as_they_are(self) -> bool:
        """Whether there is one block, which is not changed at all."""
        return len(self.blocks) == 1 and self.blocks[0].encoder.kind in ("columns", "vector")

    @classmethod
    def of_plain_columns(cls, names: Sequence[str]) -> Self:
        """Return the preparation that takes numeric columns of these names as they are."""
        return cls(TableOptions(raw=True), (_Block(tuple(names), GroupEncoder(tuple(names)), 1.0),))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The name of each feature."""
        return tuple(title for block in self.blocks for title in block.encoder.titles(block.title))

    def in_short(self) -> str:
        """Say in a line what the columns are and which are left out."""
        names: dict[str, list[str]] = {}
        for column in self.columns:
            names.setdefault(column.kind, []).append(column.name)
        left = [
            f"{column.name} ({column.becomes.removeprefix('left out: ')})"
            for column in self.columns
            if not column.features
        ]
        kinds = [f"{kind} {first_five(found)}" for kind, found in names.items() if kind != LEFT_OUT]
        return "; ".join([f"Columns: {', '.join(kinds)}", *([f"left out {first_five(left)}"] if left else [])])

    @property
    def as_it_is(self) -> frozenset[str]:
        """The columns that are features themselves, unchanged, of a table of one block."""
        lone = len(self.blocks) == 1 and isinstance(self.blocks[0].encoder, GroupEncoder)
        return frozenset(self.blocks[0].names if lone else ())

    @cached_property
    def fingerprint(self) -> str:
        """What is the same for preparations that do the same only."""
        return json.dumps([_block_to_jsonable(block) for block in self.blocks], sort_keys=True)

    def to_jsonable(self) -> dict[str, Any]:
        """Return it as `json` writes it."""
        blocks = [_block_to_jsonable(block) for block in self.blocks]
        columns = [asdict(column) for column in self.columns]
        return {"options": self.options.to_jsonable(), "blocks": blocks, "columns": columns}

    @classmethod
    def from_jsonable(cls, said: dict[str, Any]) -> Self:
        """Return the preparation that `to_jsonable` wrote so; what is wrong is a ValueError, TypeError or KeyError."""
        blocks = tuple(_block_from_jsonable(block) for block in said["blocks"])
        if not blocks:
            raise ValueError("a preparation of no column")
        try:
            columns = tuple(Column.from_jsonable(column) for column in said.get("columns", ()))
            return cls(TableOptions.from_jsonable(said["options"]), blocks, columns)
        except ParameterError as error:
            raise ValueError(str(error)) from error


class _Columns(Mapping[str, pa.Array]):
    """The columns of a table, each made one array when it is asked for: never all of them at once."""

    def __init__(self, table: ByColumn, names: Sequence[str]) -> None:
        self.table, self.names = table, tuple(names)

    def __getitem__(self, name: str) -> pa.Array:
        return plain_column(self.table, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class _Several(Sequence[pa.Array]):
    """Some columns in a row, each made one array when its turn comes."""

    def __init__(self, columns: Mapping[str, pa.Array], names: Sequence[str]) -> None:
        self.columns, self.names = columns, names

    def __getitem__(self, place: Any) -> Any:
        return self.columns[self.names[place]]

    def __len__(self) -> int:
        return len(self.names)


class _Learner:
    """Goes through the columns of a table once, and remembers what it saw."""

    def __init__(self, table: ByColumn, options: TableOptions, what: str, keep: Callable[[Features], Features]) -> None:
        self.table, self.options, self.what, self.keep = table, options, what, keep
        self.columns: list[Column] = []
        self.blocks: list[_Block] = []
        self.matrices: list[Features] = []
        self.comma = False
        self.arrays = _Columns(table, ())

    def learn(self, wanted: Sequence[str]) -> None:
        self.arrays = _Columns(self.table, wanted)
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
            block = _Block(part.names, part.encoder, 1.0 if lone else _scale(part))
            self.blocks.append(block)
            as_they_are = block.scale == 1
            self.matrices += part.matrices if as_they_are else [self.keep(block.scaled(each)) for each in part.matrices]
            block.tell_unread(_Several(self.arrays, part.names))

    def constant(self, wanted: Sequence[str]) -> None:
        """Take numbers that are the same everywhere as they are, where there is nothing else: edges may tell enough."""
        numeric = [name for name in wanted if numbers_of(self.arrays[name]) is not None]
        same = [name for name in numeric if not missing_in(self.arrays[name])]
        if not same or any(column.becomes != "left out: the same everywhere" for column in self.columns):
            return
        names, arrays = tuple(same), _Several(self.arrays, same)
        encoder = GroupEncoder.learn(arrays, names)
        self.columns[:] = [described(names, encoder, 0.0, len(names), values_in(arrays[0]))]
        self.blocks.append(_Block(names, encoder, 1.0))
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
        arrays = _Several(self.arrays, names)
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


def _learnt(kind: type[Encoder], arrays: Sequence[pa.Array], names: tuple[str, ...], what: str) -> Encoder:
    try:
        return kind.learn(arrays, names)
    except LeftOutError as error:
        found, cure = f"{error}", "give every node as many features"
        raise GraphError(f"Feature column {names[0]!r} of {what}", "must be usable as it is", found, cure) from error


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


def _matching(columns: list[str], wanted: Sequence[str], what: str) -> list[str]:
    """Return the columns that are named or fit a pattern; several with commas between, unless one is called so."""
    patterns: list[str] = []
    for each in wanted:
        patterns += [each] if _fits(columns, each) else [part.strip() for part in each.split(",")]
    for pattern in patterns:
        if not _fits(columns, pattern):
            raise _no_column(pattern, columns, what)
    return [name for name in columns if any(_fits([name], pattern) for pattern in patterns)]


def _fits(columns: Sequence[str], pattern: str) -> bool:
    """Say whether any column is called so or fits the pattern."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in columns)


def _no_column(name: str, columns: list[str], what: str) -> GraphError:
    found = f"the columns {', '.join(columns[:8])}{', …' if len(columns) > 8 else ''}"
    return GraphError(f"{what}", f"must have a feature column {name!r}", found, "name one of them")


def _block_to_jsonable(block: _Block) -> dict[str, Any]:
    return {
        "columns": list(block.names),
        "kind": block.encoder.kind,
        "scale": block.scale,
        "settings": block.encoder.settings(),
    }


def _block_from_jsonable(said: dict[str, Any]) -> _Block:
    names, settings = tuple(said["columns"]), dict(said["settings"])
    if not names or any(not isinstance(name, str) for name in names):
        raise ValueError("a block of no columns")
    if said["kind"] == GroupEncoder.kind:
        settings["names"] = names
    elif len(names) > 1:
        raise ValueError(f"{len(names)} columns that are one {said['kind']}")
    scale = float(said["scale"])
    if not (scale > 0 and np.isfinite(scale)):
        raise ValueError(f"a scale of {scale}")
    return _Block(names, ENCODERS[said["kind"]].restored(settings), scale)
