"""pandas: data frames as Arrow tables, and what a series says of nodes. pandas itself is never imported."""

from __future__ import annotations

import logging
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from featprop.errors import FileError, GraphError, LabelError, first_five, quote_error
from featprop.ids import is_a

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Frame", "is_series", "known_of", "naming_arguments", "table_of"]

Frame = Any
"""A pandas data frame or an Arrow table; pandas need not be there to name its type."""

log = logging.getLogger(__name__)

SCALARS = (str, bytes, bool, int, float)


def table_of(frame: Frame, what: str = "nodes", id_names: Sequence[str] = ()) -> pa.Table:
    """Return a data frame as an Arrow table; an Arrow table is returned as it is.

    Types stay: categories, missing integers, dates. A column of numbers and text mixed becomes text, as in a CSV file.
    An index without a name that counts the rows from 0 is left out.

    Parameters
    ----------
    frame
        A pandas `DataFrame`, an Arrow table or any object that hands out Arrow data.
    what
        What messages call it.
    id_names
        What the column of the ids may be called. If there is none, any other index is that column, under its own name
        if it is one of these, else under the first. Where there is one already, or ids are not looked for, an index
        with a name is a column like any other, and one without is left out.
    """
    if isinstance(frame, pa.Table):
        return frame
    if is_a(frame, "pandas", "DataFrame"):
        return _from_pandas(frame, what, id_names)
    if hasattr(frame, "__arrow_c_stream__") and not is_series(frame):
        return pa.table(frame)
    found = "None" if frame is None else f"an object of type {type(frame).__name__}"
    raise GraphError(what, "must be a pandas DataFrame or a PyArrow table", found, "pass one with a row each")


@contextmanager
def naming_arguments() -> Iterator[None]:
    """Call what errors about tables name as options of the command line by the names of the arguments."""
    try:
        yield
    except (FileError, GraphError) as error:
        if not hasattr(error, "rule"):
            raise
        parts = (error.rule, str(error.found), error.cure)
        raise type(error)(error.what, *(_with_arguments(part) for part in parts)) from error


def _with_arguments(text: str) -> str:
    text = text.replace("--column NAME=KIND", 'columns={"NAME": "KIND"}').replace("--weights none", 'weights="none"')
    return re.sub(r"--(id|label|source|target|weights?|features|column|raw)\b", r"\1", text)


def is_series(thing: Any) -> bool:
    """Say whether the object is a pandas series."""
    return is_a(thing, "pandas", "Series")


def known_of(series: pd.Series[Any], n_nodes: int, asked: Iterable[Hashable]) -> dict[Hashable, Hashable]:
    """Return the values of a series by its index, the ids of nodes, without the missing ones.

    Whole numbers that pandas keeps as floats, as some are missing, are whole numbers again. An index that numbers the
    rows although these are neither all the nodes nor those asked for was nobody's choice, and is an error.

    Parameters
    ----------
    series
        The series.
    n_nodes
        The number of nodes there are.
    asked
        The nodes that were asked for.
    """
    index = series.index
    is_default = index.nlevels == 1 and index.name is None and _counts_rows(index)
    if is_default and len(index) != n_nodes and not set(index) <= set(asked):
        found = f"a Series whose index numbers its rows, 0 to {len(index) - 1:,}"
        cure = "pass pd.Series(labels, index=picks.nodes)"
        raise LabelError("Labels told", "must have the ids of nodes as their index", found, cure)
    there = series[series.notna() & (series != "").fillna(True).astype(bool)]
    if not there.index.is_unique:
        repeated = [repr(node) for node in there.index[there.index.duplicated()].unique().tolist()]
        raise LabelError("Labels told", "must name a node once", f"{first_five(repeated)} repeated", "keep one of each")
    values = there.tolist()
    if all(isinstance(value, float) and value.is_integer() for value in values):
        values = [int(value) for value in values]
    return dict(zip(there.index.tolist(), values, strict=True))


def _from_pandas(frame: pd.DataFrame, what: str, id_names: Sequence[str]) -> pa.Table:
    names = [str(name) for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise GraphError(what, "must have distinct columns", f"{first_five(repeated)} repeated", "rename them")
    index = frame.index
    if index.nlevels > 1:
        found = f"an index of {index.nlevels} levels"
        raise GraphError(what, "must have one name a row", found, "call reset_index() and name the id column")
    columns = [_column(frame.iloc[:, place], name, what) for place, name in enumerate(names)]
    has_ids = any(name.strip().lower() in id_names or name in id_names for name in names)
    name = _name_of_index(index, id_names if not has_ids else ())
    if name is None and id_names and not has_ids and "" not in names:
        found = f"the columns {', '.join(names[:8])}{', …' if len(names) > 8 else ''}, and rows that are only counted"
        cure = f"pass id='column', or {what}.rename_axis('id') where the ids are 0, 1, 2, …"
        raise GraphError(what, "must have an id column or ids as their index", found, cure)
    if name is not None and name not in names:
        names, columns = [name, *names], [_column(index.to_series(), name, what), *columns]
    return pa.Table.from_arrays(columns, names=names)


def _name_of_index(index: pd.Index[Any], id_names: Sequence[str]) -> str | None:
    """Return the name of the column that an index becomes, or None if it becomes none."""
    own = None if index.name is None else str(index.name)
    if own is None and (_counts_rows(index) or not id_names):
        return None
    return own if own is not None and (not id_names or own.strip().lower() in id_names) else id_names[0]


def _counts_rows(index: pd.Index[Any]) -> bool:
    return index.dtype.kind in "iu" and index.tolist() == list(range(len(index)))


def _column(series: pd.Series[Any], name: str, what: str) -> pa.Array:
    if is_a(series.dtype, "pandas", "SparseDtype"):
        series = series.sparse.to_dense()
    try:
        column = pa.Array.from_pandas(series)
    except (pa.ArrowException, TypeError, ValueError) as error:
        if not all(isinstance(value, SCALARS) for value in series[series.notna()]):
            found, cure = f"this: {quote_error(error)}", "convert it to numbers or text, or drop it"
            raise GraphError(f"Column {name!r} of {what}", "must hold values of one kind", found, cure) from error
        log.info("Column %r of %s holds values of several types and is read as text", name, what)
        return _as_text(series)
    return _as_text(series) if isinstance(column.type, pa.ExtensionType) else column


def _as_text(series: pd.Series[Any]) -> pa.Array:
    missing = series.isna().tolist()
    return pa.array([None if gone else str(value) for value, gone in zip(series, missing, strict=True)], pa.string())
