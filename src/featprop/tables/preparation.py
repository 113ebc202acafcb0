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
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import pyarrow as pa

from featprop.errors import GraphError, ParameterError, first_five
from featprop.matrix import Features, side_by_side
from featprop.tables.block import Block
from featprop.tables.by_column import ByColumn
from featprop.tables.columns import Columns, Several
from featprop.tables.encoders import GroupEncoder, LeftOutError
from featprop.tables.encoders.number import NumberEncoder
from featprop.tables.kinds import sample_of
from featprop.tables.learning import LEFT_OUT, Learner, learn_as_it_is
from featprop.tables.looks import Column
from featprop.tables.numbers import decimal_comma
from featprop.tables.options import TableOptions
from featprop.tables.wanted import matching, no_column

__all__ = ["Preparation"]

log = logging.getLogger(__name__)


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
    blocks: tuple[Block, ...]
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
        wanted = possible if options.features is None else matching(possible, options.features, what)
        for name in options.columns:
            if name not in wanted:
                raise no_column(name, wanted, what)
        if options.raw:
            block, column = learn_as_it_is(table, options, wanted, what)
            found = cls(options, (block,), (column,))
            arrays = Several(Columns(table, block.names), block.names)
            return found, [keep(matrix) for matrix in block.encoder.parts(arrays, table.num_rows)]
        learner = Learner(table, options, what, keep)
        learner.learn(wanted)
        if not learner.blocks:
            learner.constant(wanted)
        if not learner.blocks:
            found_columns = [f"{column.name}: {column.becomes}" for column in learner.columns[:5]]
            cure = "add a column, or say what one is with --column NAME=KIND"
            rule = "must have at least one column that can be a feature"
            raise GraphError(f"{what}", rule, "; ".join(found_columns) or "no column", cure)
        return cls(options, tuple(learner.blocks), tuple(learner.columns)), learner.matrices

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

    def _applied(self, block: Block, values: list[pa.Array | None], rows: int, comma: bool) -> Features:
        """Return the features of one block, and say what of it cannot be read."""
        if comma and isinstance(block.encoder, NumberEncoder):
            block = replace(block, encoder=replace(block.encoder, comma=True))
        try:
            block.tell_unread(values)
            block.tell_units(values)
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
        return cls(TableOptions(raw=True), (Block(tuple(names), GroupEncoder(tuple(names)), 1.0),))

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
        return json.dumps([block.to_jsonable() for block in self.blocks], sort_keys=True)

    def to_jsonable(self) -> dict[str, Any]:
        """Return it as `json` writes it."""
        blocks = [block.to_jsonable() for block in self.blocks]
        columns = [asdict(column) for column in self.columns]
        return {"options": self.options.to_jsonable(), "blocks": blocks, "columns": columns}

    @classmethod
    def from_jsonable(cls, said: dict[str, Any]) -> Self:
        """Return the preparation that `to_jsonable` wrote so; what is wrong is a ValueError, TypeError or KeyError."""
        blocks = tuple(Block.from_jsonable(block) for block in said["blocks"])
        if not blocks:
            raise ValueError("a preparation of no column")
        try:
            columns = tuple(Column.from_jsonable(column) for column in said["columns"])
            return cls(TableOptions.from_jsonable(said["options"]), blocks, columns)
        except ParameterError as error:
            raise ValueError(str(error)) from error
