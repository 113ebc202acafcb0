"""The tables people get: the labelling sheet, labels, predictions.

A labelling sheet has one row a picked node, what there is to say of it, and an empty ``label`` column for a person to
fill. Any table with the columns ``id`` and ``label`` can be read as labels (`featprop.io.labels`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.interop.plain import as_array
from featprop.io.atomic import replacing_file
from featprop.io.overwriting import MADE_COLUMNS, check_may_write
from featprop.io.predictions import PREDICTION_COLUMNS, PROBABILITY

__all__ = ["RESERVED", "Place", "write_labels", "write_pick_table", "write_prediction_table"]

RESERVED = frozenset({"rank", "id", "label", *MADE_COLUMNS})
"""The names of a sheet's own columns."""

Place = Path | BinaryIO
"""A file to write, or an open stream such as standard output."""

PLAIN = (
    *(pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal),
    *(pa.types.is_date, pa.types.is_timestamp),
)
"""Types that a CSV file writes as people do."""


def write_pick_table(
    place: Place,
    nodes: NDArray[Any],
    columns: Mapping[str, pa.Array] = {},
    *,
    force: bool = False,
    first: Callable[[], None] | None = None,
) -> None:
    """Write the labelling sheet: one row a node, best first, with an empty label column at the end.

    Parameters
    ----------
    place
        Where to.
    nodes
        The ids.
    columns
        What else to say of them, by title; those that featprop does not make itself (`RESERVED`) are the user's.
    force
        Write over labels that a person typed.
    first
        What must have succeeded before the written sheet appears at its place, such as keeping who was asked for.
    """
    if isinstance(place, Path):
        check_may_write(place, force=force, shown=set(columns) - RESERVED)
    titles = ["rank", "id", *columns, "label"]
    cells = [pa.array(np.arange(1, len(nodes) + 1)), _cells(nodes.tolist()), *map(_readable, columns.values())]
    _write(place, titles, [*cells, pa.nulls(len(nodes), pa.string())], first)


def write_labels(path: Path, labels: Mapping[Hashable, Hashable], *, force: bool) -> None:
    """Write the label of each node: a sheet that `featprop.io.labels.read_labels` reads."""
    check_may_write(path, force=force)
    _write(path, ("id", "label"), [_cells(list(labels)), _cells(list(labels.values()))])


def write_prediction_table(
    place: Place,
    nodes: NDArray[Any],
    classes: Sequence[Hashable],
    probabilities: NDArray[np.float32],
    *,
    given: NDArray[np.intp] | None = None,
    distances: NDArray[Any] | None = None,
    isolated: NDArray[np.bool_] | None = None,
    force: bool = False,
) -> None:
    """Write the class of every node, how sure that is, and the probability of each class.

    Parameters
    ----------
    place
        Where to.
    nodes
        The ids.
    classes
        The class names.
    probabilities
        One row a node, one column a class.
    given
        The class that a person gave each node, an index into `classes`, -1 for none. It is the node's label whatever
        the model says; ``confidence`` is the model's probability of it, low where the model contradicts.
    distances
        How far each node is from the nearest one with a label.
    isolated
        Whether each node is without edges.
    force
        Write over what a person typed.
    """
    n = len(nodes)
    told = np.full(n, -1) if given is None else given
    ids, names = _cells(nodes.tolist()), _cells(list(classes))
    if isinstance(place, Path):
        check_may_write(place, force=force, given=set(map(str, nodes[told >= 0].tolist())))
    best = np.where(told >= 0, told, probabilities.argmax(axis=1))
    numbers = [probabilities[np.arange(n), best], *probabilities.T]
    confidence, *rounded = (pa.array(np.round(x.astype(np.float64), 4)).cast(pa.decimal128(5, 4)) for x in numbers)
    columns = [
        ids,
        names.take(pa.array(best)),
        confidence,
        names.take(pa.array(told, mask=told < 0)),
        pa.nulls(n, pa.float64()) if distances is None else significant(distances),
        pa.array(["yes" if alone else None for alone in ([False] * n if isolated is None else isolated)], pa.string()),
        *rounded,
    ]
    _write(place, [*PREDICTION_COLUMNS, *(f"{PROBABILITY}{name}" for name in classes)], columns)


def significant(numbers: NDArray[Any]) -> pa.Array:
    """Return numbers with as many digits as a person reads."""
    return pa.array([float(f"{number:.6g}") for number in numbers.tolist()], pa.float64())


def _cells(values: list[Any]) -> pa.Array:
    """Return ids or class names as a column: numbers if all are, text otherwise."""
    numbers = as_array(values)
    return pa.array([str(value) for value in values], pa.string()) if numbers.dtype == object else pa.array(numbers)


def _readable(values: pa.Array) -> pa.Array:
    """Return a column of any type as one that can be written as CSV: numbers and dates, all else as text."""
    if any(is_kind(values.type) for is_kind in PLAIN):
        return values
    return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())


def _write(
    place: Place, titles: Sequence[str], columns: list[pa.Array], first: Callable[[], None] | None = None
) -> None:
    if isinstance(place, Path):
        with replacing_file(place) as temporary:
            with temporary.open("wb") as file:
                _write_csv(file, titles, columns)
            if first is not None:
                first()
        return
    whole = io.BytesIO()
    _write_csv(whole, titles, columns)
    if first is not None:
        first()
    place.write(whole.getvalue())
    place.flush()


def _write_csv(file: BinaryIO, titles: Sequence[str], columns: list[pa.Array]) -> None:
    from pyarrow import csv as arrow_csv

    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(titles)
    file.write(header.getvalue().encode())
    table = pa.Table.from_arrays(columns, names=list(titles))
    arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=False))
