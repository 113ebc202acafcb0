"""Objects of NumPy, pandas, Arrow, PyTorch and NetworkX, recognised and unwrapped without importing their packages."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.errors import GraphError, LabelError, first_five

if TYPE_CHECKING:
    import pandas as pd


def is_a(thing: Any, package: str, name: str) -> bool:
    """Return whether an object is of the class of that name in that package, or of a subclass."""
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in type(thing).__mro__)


def package_of(thing: Any) -> str:
    """Return the package that the class of an object is from."""
    return type(thing).__module__.split(".")[0]


def is_series(thing: Any) -> bool:
    """Return whether an object is a pandas series."""
    return is_a(thing, "pandas", "Series")


def sorted_classes(names: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the distinct class names, sorted by type and then by value."""
    distinct = set(names)
    try:
        return tuple(sorted(distinct, key=lambda name: (type(name).__name__, name)))
    except TypeError:
        return tuple(sorted(distinct, key=repr))


def is_missing(name: object) -> bool:
    """Return whether a class name means that the class is unknown: None, empty text, NaN or pandas's NA and NaT."""
    if name is None or type(name).__name__ in ("NAType", "NaTType"):
        return True
    return name == "" or (isinstance(name, float) and name != name)


def plain(values: Iterable[Any]) -> list[Any]:
    """Return ids or class names as Python objects; a missing value of a pandas series or index is None."""
    if is_a(values, "pandas", "DataFrame"):
        raise GraphError(
            "Ids and class names must be one column, not a DataFrame.",
            hint="Pass one of its columns, such as frame['id'].",
        )
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values.to_pylist())
    listed = values.tolist() if hasattr(values, "tolist") else values
    isna = getattr(values, "isna", None)
    missing = repeat(False) if isna is None else isna()
    return [
        None if gone else value.item() if isinstance(value, np.generic) else value
        for value, gone in zip(listed, missing, strict=False)
    ]


def as_array(values: Sequence[Hashable]) -> NDArray[Any]:
    """Return ids or class names as an array: of 64-bit integers if all are, of objects otherwise."""
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        with contextlib.suppress(OverflowError):
            return np.array(values, dtype=np.int64)
    return np.fromiter(values, dtype=object, count=len(values))


def labels_of_series(series: pd.Series[Any], n_nodes: int, asked: Iterable[Hashable]) -> dict[Hashable, Hashable]:
    """Return the labels of a series by its index, the ids of nodes, without the missing ones.

    Whole numbers that pandas keeps as floats because some are missing become whole numbers again. An index that only
    numbers the rows, although these are neither all nodes nor the nodes asked for, is an error.

    Parameters
    ----------
    series
        The series.
    n_nodes
        Number of nodes of the graph.
    asked
        Nodes that were asked for.
    """
    index = series.index
    is_default = index.nlevels == 1 and index.name is None and counts_rows(index)
    if is_default and len(index) != n_nodes and not set(index) <= set(asked):
        raise LabelError(
            f"The index of the labels numbers their rows, 0 to {len(index) - 1:,}, instead of naming nodes.",
            hint="Pass pd.Series(labels, index=picks.nodes).",
        )
    there = series[series.notna() & (series != "").fillna(True).astype(bool)]
    if not there.index.is_unique:
        repeated = [repr(node) for node in there.index[there.index.duplicated()].unique().tolist()]
        raise LabelError(
            f"The labels name {first_five(repeated)} nodes more than once.", hint="Keep one label per node."
        )
    values = there.tolist()
    if all(isinstance(value, float) and value.is_integer() for value in values):
        values = [int(value) for value in values]
    return dict(zip(there.index.tolist(), values, strict=True))


def labels_in_order(nodes: Any, labels: Any, ids: Any) -> list[Any]:
    """Return the labels of nodes as Python objects: those of a mapping by node, all others by position.

    A series whose index names the same nodes in another order is refused, because it is read by position.

    Parameters
    ----------
    nodes
        Nodes as they were given.
    labels
        Their labels.
    ids
        Ids of these nodes.
    """
    if isinstance(labels, Mapping):
        wanted = plain(ids)
        missing = [repr(node) for node in wanted if node not in labels]
        if missing:
            raise LabelError(
                f"`labels` has no class for {first_five(missing)} of the nodes.", hint="Pass only nodes that have one."
            )
        return plain([labels[node] for node in wanted])
    if is_series(labels) and not (is_series(nodes) and nodes.index.equals(labels.index)):
        index, wanted = labels.index.tolist(), plain(ids)
        if len(index) == len(wanted) and index != wanted and set(index) == set(wanted):
            raise LabelError(
                "`labels` is a Series whose index names the nodes in another order.", hint="Pass labels.loc[nodes]."
            )
    return plain(labels)


def counts_rows(index: pd.Index[Any]) -> bool:
    """Return whether a pandas index only numbers the rows from 0."""
    return index.dtype.kind in "iu" and index.tolist() == list(range(len(index)))
