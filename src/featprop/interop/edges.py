"""The table of the edges, whoever made it, read piece by piece: ids of its two ends, and what it weighs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, first_five
from featprop.interop.positions import Positions
from featprop.tables.index_columns import index_columns
from featprop.tables.looks import plain_column
from featprop.tables.naming import find_column, names
from featprop.tables.near import did_you_mean
from featprop.tables.numbers import Writing, numbers_of
from featprop.tables.options import TableOptions
from featprop.tables.pieces import Pieces
from featprop.tables.thousands import DECIMAL_POINT, dots_in

__all__ = ["EdgeTable", "Edges"]

log = logging.getLogger(__name__)

ENDS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("source_id", "target_id"), ("from_id", "to_id"),
    ("src_id", "dst_id"), ("source_node", "target_node"), ("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"),
    ("id_1", "id_2"), ("sender", "receiver"), ("head", "tail"), ("start", "end"), ("node_from", "node_to"),
)  # fmt: skip
"""What the two columns of an edge are usually called."""
WEIGHT = ("weight",)
UNKNOWN = 1 << 20
"""Unknown ends that are counted one by one, of each column."""

Result = TypeVar("Result")


class Edges(NamedTuple):
    """Some edges, by the positions of their ends; None for weights of 1."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weights: NDArray[np.float64] | None


class EdgeTable:
    """A table of edges: which of its columns say what, and the edges.

    Parameters
    ----------
    pieces
        The table.
    options
        What the user says of it.
    what
        What to call it in messages.
    typed
        Whether text is meant to be text: a CSV file has no types to keep.
    """

    def __init__(self, pieces: Pieces, options: TableOptions, what: str, *, typed: bool) -> None:
        self.pieces, self.what, self.typed = pieces, what, typed
        keep = [name for name in (options.source, options.target, options.weight) if name]
        dropped = index_columns(pieces.column_names, pieces.values, keep)
        self.column_names = [name for name in pieces.column_names if name not in dropped]
        self.ends = self._find_ends(options)
        self.are_named = options.source is not None or _usual_ends(self.column_names) is not None
        self.weight = self._find_weight(options)
        self.writing: Writing | None = None
        others = [name for name in self.column_names if name not in (*self.ends, self.weight)]
        told = f"Edges of {what}: {self.ends[0]!r} and {self.ends[1]!r}"
        told += f", weighted by {self.weight!r}" if self.weight is not None else ""
        hint = "" if self.weight is not None or options.weights == "none" else " (--weight COLUMN names the weights)"
        log.info("%s%s", told, f"; ignored: {first_five(others)}{hint}" if others else "")
        if self.weight is not None and pieces.semicolons:
            self.writing = self._thousands(self.weight)

    @property
    def wanted(self) -> list[str]:
        """The columns that are read."""
        return [*self.ends, *([] if self.weight is None else [self.weight])]

    def read(self, positions: Positions, take: Callable[[Iterator[Edges]], Result]) -> Result:
        """Return what `take` makes of all edges.

        It is called a second time, and has to begin anew, where late weights show how earlier ones are written.

        Parameters
        ----------
        positions
            The nodes.
        take
            Called with the edges, piece by piece.
        """
        self._check_header(positions)
        try:
            return take(self._edges(positions))
        except _WrittenOtherwiseError:
            return take(self._edges(positions))

    def _edges(self, positions: Positions) -> Iterator[Edges]:
        rows = strays = missing = 0
        odd: tuple[int, object] | None = None
        first_missing: tuple[int, object] | None = None
        for table in self.pieces.read(self.wanted):
            source, target = self.positions_in(table, positions)
            astray = np.count_nonzero((source < 0) | (target < 0))
            weights = None
            if self.weight is not None and odd is None:
                weights, odd = self.weights_in(table, rows)
            if weights is not None and np.isnan(weights).any():
                places = np.flatnonzero(np.isnan(weights))
                value = _as_told(plain_column(table, self.wanted[-1])[int(places[0])])
                first_missing = first_missing or (rows + int(places[0]), value)
                missing += len(places)
            rows, strays = rows + table.num_rows, strays + int(astray)
            if not strays and odd is None:
                yield Edges(source, target, weights)
        if strays:
            raise self._unknown_ends(positions, strays, rows)
        if odd is not None:
            raise self.odd_weight(*odd)
        if first_missing is not None:
            raise self.odd_weight(*first_missing, missing)

    def positions_in(self, table: pa.Table, positions: Positions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of both ends of some edges, -1 where an end is no node."""
        first, second = (names(table, end, self.what, typed=True) for end in self.ends)
        return positions.of(first), positions.of(second)

    def weights_in(
        self, table: pa.Table, before: int = 0
    ) -> tuple[NDArray[np.float64] | None, tuple[int, object] | None]:
        """Return the weights of some edges, or the row and the value of the first that is none.

        Parameters
        ----------
        before
            How many rows there are before these.
        """
        assert self.weight is not None
        values = plain_column(table, self.weight)
        if self.writing is None or not len(values):
            plain = _plain_weights(values)
            if plain is not None:
                return plain, None
        if self.writing is None:
            self.writing = Writing.of(plain_column(piece, self.weight) for piece in self.pieces.read([self.weight]))
            if self.writing is None:
                return None, (0, _as_told(next(self.pieces.values(self.weight))[0]))
            if before and (self.writing.comma or self.writing.percent):
                raise _WrittenOtherwiseError
        found = self.writing.numbers(values)
        assert found is not None
        if found.odd.size:
            return None, (before + int(found.odd[0]), values[int(found.odd[0])].as_py())
        return found.values, None

    def plain(self, table: pa.Table, positions: Positions) -> Edges | None:
        """Return some edges; None if it takes all of them to tell what they are, or what is wrong with them."""
        source, target = self.positions_in(table, positions)
        if (source < 0).any() or (target < 0).any() or self._begins_with_an_edge(positions):
            return None
        if self.weight is None:
            return Edges(source, target, None)
        if self.writing is None:
            weights = _plain_weights(plain_column(table, self.weight))
        else:
            weights, _ = self.weights_in(table)
        return None if weights is None or np.isnan(weights).any() else Edges(source, target, weights)

    def _thousands(self, weight: str) -> Writing | None:
        """Return how weights with dots between thousands are written, and say so; None if there are none."""
        dots = dots_in(self.pieces.values(weight))
        if dots is None or not dots.settle(weight, self.what, has_points=self._has_points_beside(weight)):
            return None
        return Writing(None, comma=True, units=None, percent=False, currency=None)

    def _has_points_beside(self, weight: str) -> bool:
        """Say whether other columns of text have decimal points, as far as the first piece tells."""
        others = [name for name in self.pieces.column_names if name not in (*self.ends, weight)]
        first = next(self.pieces.read(others), None) if others else None
        texts = [column for column in first.columns if pa.types.is_string(column.type)] if first is not None else []
        return any(pc.any(pc.match_substring_regex(column, DECIMAL_POINT)).as_py() for column in texts)

    def odd_weight(self, row: int, value: object, count: int | None = None) -> GraphError:
        """Return the error about a weight that is no number.

        Parameters
        ----------
        row, value
            The first.
        count
            How many there are, if that is known.
        """
        rule, cure = "must be numeric", "write a number in every row, or pass --weights none"
        found = "an empty cell" if value in (None, "") else repr(value)
        if unit := self._other_unit(value):
            rule, cure = f"must have one unit, {unit} as most weights", "convert the others, or pass --weights none"
        found += f" in row {row + 1:,}" + ("" if count is None else f" ({count:,} in all)")
        return GraphError(f"Column {self.weight!r} of {self.what}", rule, found, cure)

    def _other_unit(self, value: object) -> str | None:
        """Return the currency or percent of the weights if a weight is a number of another; None if it is not."""
        own = Writing.of([pa.array([value])]) if isinstance(value, str) else None
        if own is None or self.writing is None or own.sign is None or self.writing.sign in (None, own.sign):
            return None
        return self.writing.sign

    def _begins_with_an_edge(self, positions: Positions) -> bool:
        """Say whether a table of text has two ids where the names of its columns should be."""
        return not self.typed and not self.are_named and bool((positions.of(pa.array(self.ends)) >= 0).all())

    def _check_header(self, positions: Positions) -> None:
        """Refuse a table without a header, whose first edge would be lost; pandas calls its columns 0 and 1."""
        if not self._begins_with_an_edge(positions):
            return
        found = f"the nodes {self.ends[0]!r} and {self.ends[1]!r}"
        if self.ends != ("0", "1"):
            cure = "add the header source,target before the first edge"
            raise FileError(self.what, "must begin with the names of its columns", found, cure)
        log.warning(
            "%s begins with %s, taken for names of columns: if this is an edge, add the header source,target",
            self.what,
            found,
        )

    def _unknown_ends(self, positions: Positions, strays: int, rows: int) -> GraphError:
        """Return the error about ends that are no nodes, with what was probably meant."""
        strange: dict[object, None] = {}
        more = False
        for end in self.ends:
            found: dict[object, None] = {}
            all_numbers = True
            for table in self.pieces.read([end]):
                ends = names(table, end, self.what, typed=self.typed)
                all_numbers = all_numbers and pa.types.is_integer(ends.type)
                unknown = ends.filter(pa.array(positions.of(ends) < 0)).cast(pa.string())
                if len(found) < UNKNOWN:
                    found.update(dict.fromkeys(unknown.to_pylist()))
            more = more or len(found) >= UNKNOWN
            strange.update({int(str(name)) if all_numbers and name is not None else name: None for name in found})
        unknown = first_five(["an empty cell" if name is None else repr(name) for name in strange])
        told = f"{'more than ' if more else ''}{unknown} unknown in {strays:,} of {rows:,} edges"
        cure = did_you_mean(list(strange), positions.ids.to_pylist()) or "add those nodes or drop the edges"
        return GraphError(f"Edges of {self.what}", "must join ids of the nodes", told, cure)

    def _find_ends(self, options: TableOptions) -> tuple[str, str]:
        """Return the columns of the two ends: those asked for, those of usual names, or the only two."""
        there, what = self.column_names, self.what
        if options.source is not None or options.target is not None:
            if options.source is None or options.target is None:
                one = "--source" if options.target is None else "--target"
                raise FileError(what, "must be read with --source and --target", f"only {one}", "name both columns")
            found = [find_column(self, (), what, options.source, "source")]
            found.append(find_column(self, (), what, options.target, "target"))
            if options.source == options.target:
                rule, cure = "must have two columns of ends", "name another with --target"
                raise FileError(what, rule, f"{options.source!r} twice", cure)
            return str(found[0]), str(found[1])
        usual = _usual_ends(there)
        if usual is not None:
            return usual
        lower = {name.strip().lower() for name in there}
        if len(there) == 2 and (options.weights == "none" or not lower & set(WEIGHT)):
            return there[0], there[1]
        cure = "say with --source and --target which two join the nodes" if len(there) > 2 else "add the other one"
        raise FileError(what, "must have the columns source and target", ", ".join(there[:8]) or "none", cure)

    def _find_weight(self, options: TableOptions) -> str | None:
        """Return the column of the weights: the one asked for, or that of the usual name if it is no end."""
        if options.weights == "none":
            return None
        found = find_column(self, WEIGHT, self.what, options.weight, "weight")
        if found in self.ends and options.weight is not None:
            rule, cure = "must have a column of weights beside those of the ends", "name another with --weight"
            raise FileError(self.what, rule, f"{found!r} for both", cure)
        return None if found in self.ends else found


class _WrittenOtherwiseError(Exception):
    """Weights show that earlier ones, which were read already, are not written as they seemed to be."""


def _usual_ends(names: list[str]) -> tuple[str, str] | None:
    """Return the columns that are called as ends usually are."""
    lower = {name.strip().lower(): name for name in reversed(names)}
    return next(((lower[one], lower[other]) for one, other in ENDS if one in lower and other in lower), None)


def _as_told(value: pa.Scalar) -> object:
    """Return a value for a message; that of a moment outside the calendar is its type."""
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return f"{value.type}"


def _plain_weights(values: pa.Array) -> NDArray[np.float64] | None:
    """Return numbers, or text if all of it is digits with at most a decimal point; None otherwise."""
    if not len(values):
        return np.zeros(0)
    plain = numbers_of(values)
    if plain is not None:
        return np.where(np.isfinite(plain), plain, np.nan)
    if not pa.types.is_string(values.type) or values.null_count:
        return None
    try:
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return numbers if np.isfinite(numbers).all() else None
