"""Writing a table of predictions, a block of nodes at a time: CSV, or Parquet for many."""

from __future__ import annotations

import io
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.files import replacing_file
from featprop.io.overwriting import PREDICTION_SUFFIXES, make_way
from featprop.io.predictions import PREDICTION_COLUMNS, PROBABILITY
from featprop.io.sheets import Place, cells, significant, write_header, write_rows

__all__ = ["write_prediction_table"]


def write_prediction_table(
    place: Place,
    nodes: NDArray[Any],
    classes: Sequence[Hashable],
    probabilities: Iterable[NDArray[np.float32]],
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
        Where to: a stream or a ``.csv``, in which probabilities have four digits, or a ``.parquet``.
    nodes
        The ids.
    classes
        The class names.
    probabilities
        Blocks, in the order of the nodes, of one row a node and one column a class.
    given
        The class that a person gave each node, an index into `classes`, -1 for none. It is the node's label whatever
        the model says; ``confidence`` is the model's probability of it, low where the model contradicts.
    distances
        How far each node is from the nearest one with a label.
    isolated
        Whether each node is without edges.
    force
        Write over what a person typed; the table with it is kept beside it (`make_way`).
    """
    told = np.full(len(nodes), -1) if given is None else given
    if isinstance(place, Path):
        kept = set(map(str, nodes[told >= 0].tolist()))
        make_way(place, force=force, given=kept, suffixes=PREDICTION_SUFFIXES)
    titles = [*PREDICTION_COLUMNS, *(f"{PROBABILITY}{name}" for name in classes)]
    exact = isinstance(place, Path) and place.suffix.lower() == ".parquet"
    with _writing(place, titles, exact=exact) as write:
        start = 0
        for block in probabilities:
            here = slice(start, start + len(block))
            columns = [
                cells(nodes[here].tolist(), text=nodes.dtype == object),
                *_said(told[here], classes, block, exact=exact),
                pa.nulls(len(block), pa.float64()) if distances is None else _measured(distances[here], exact=exact),
                _yes(np.zeros(len(block), dtype=bool) if isolated is None else isolated[here]),
                *(_number(column, exact=exact) for column in block.T),
            ]
            write(pa.Table.from_arrays(columns, names=titles))
            start += len(block)


def _said(
    given: NDArray[np.intp], classes: Sequence[Hashable], probabilities: NDArray[np.float32], *, exact: bool
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return the label of each node, how sure it is, and what a person gave."""
    names = cells(list(classes))
    label = np.where(given >= 0, given, probabilities.argmax(axis=1)) if len(classes) else given
    sure = probabilities[np.arange(len(label)), label]
    return names.take(pa.array(label)), _number(sure, exact=exact), names.take(pa.array(given, mask=given < 0))


def _number(values: NDArray[np.float32], *, exact: bool) -> pa.Array:
    """Return probabilities as they are, or with four digits."""
    if exact:
        return pa.array(np.ascontiguousarray(values, dtype=np.float32))
    return pa.array(np.round(values.astype(np.float64), 4)).cast(pa.decimal128(5, 4))


def _measured(distances: NDArray[Any], *, exact: bool) -> pa.Array:
    return pa.array(np.asarray(distances, dtype=np.float64)) if exact else significant(distances)


def _yes(isolated: NDArray[np.bool_]) -> pa.Array:
    return pc.if_else(pa.array(isolated), pa.scalar("yes"), pa.scalar(None, pa.string()))


@contextmanager
def _writing(place: Place, titles: Sequence[str], *, exact: bool) -> Iterator[Callable[[pa.Table], None]]:
    """Yield what writes further rows; a file appears when all are written, a stream gets all of them at once."""
    if not isinstance(place, Path):
        whole = io.BytesIO()
        write_header(whole, titles)
        yield lambda table: write_rows(whole, table)
        place.write(whole.getvalue())
        place.flush()
        return
    with replacing_file(place) as temporary:
        if exact:
            with _parquet(temporary) as write:
                yield write
        else:
            with temporary.open("wb") as file:
                write_header(file, titles)
                yield lambda table: write_rows(file, table)


@contextmanager
def _parquet(path: Path) -> Iterator[Callable[[pa.Table], None]]:
    from pyarrow import parquet

    writer: parquet.ParquetWriter | None = None

    def write(table: pa.Table) -> None:
        nonlocal writer
        if writer is None:
            writer = parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
