"""Ids and class names as plain Python objects, whatever NumPy, pandas or Arrow wrap them in."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.errors import GraphError
from featprop.interop.recognise import is_a

__all__ = ["as_array", "is_missing", "plain", "sorted_classes"]


def sorted_classes(names: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the distinct class names, sorted by type and then by value."""
    distinct = set(names)
    try:
        return tuple(sorted(distinct, key=lambda name: (type(name).__name__, name)))
    except TypeError:
        return tuple(sorted(distinct, key=repr))


def is_missing(name: object) -> bool:
    """Return whether a class name says that the class is not known: None, empty text, NaN or what pandas has for it."""
    if name is None or type(name).__name__ in ("NAType", "NaTType"):
        return True
    return name == "" or (isinstance(name, float) and name != name)


def plain(values: Iterable[Any]) -> list[Any]:
    """Return ids or class names as Python objects, where NumPy, pandas or Arrow hide them in scalars or an array.

    What is missing in a pandas series or index is None.
    """
    if is_a(values, "pandas", "DataFrame"):
        rule, found = "must be one column", "a DataFrame"
        raise GraphError("Ids and class names", rule, found, "pass one of its columns, such as frame['id']")
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
