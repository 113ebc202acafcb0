"""Node ids and class names: as plain Python objects, as JSON, and as people spell them.

**JSON.** Text, integers, finite floats, true, false and null stand for themselves. Other types are an object with one
entry, the type and its parts: ``{"tuple": [0, 1]}``, ``{"date": "2026-11-16"}``, ``{"float": "inf"}``.

**Spelling.** Case, spaces and zeros after a decimal point do not distinguish names for a person: ``OK`` and ``ok``,
``1`` and ``1.0``; nor does how Unicode encodes a character (NFKC) or a character that cannot be seen (zero-width and
bidirectional marks). Leading zeros do: ``007`` is not 7.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import difflib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.errors import GraphError, LabelError, ParameterError, first_five

if TYPE_CHECKING:
    import pandas as pd

DECIMAL = re.compile(r"(-?(?:0|[1-9][0-9]*))\.([0-9]+)")
MIN_SIMILARITY = 0.75
"""Least similarity of two names for one to be a misspelling of the other (`difflib`'s ratio)."""
MAX_COMPARED = 10_000
"""Names that are compared letter by letter at most."""

_READERS: dict[str, Callable[[Any], Hashable]] = {
    "tuple": lambda parts: tuple(from_jsonable(part) for part in parts),
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "float": float,
}


def is_a(instance: Any, package: str, name: str) -> bool:
    """Return whether an object is of the class `name` of a package, or of a subclass, without importing the package."""
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in type(instance).__mro__)


def package_of(instance: Any) -> str:
    """Return the name of the package that defines the class of an object."""
    return type(instance).__module__.split(".")[0]


def plain(values: Iterable[Any]) -> list[Any]:
    """Return ids or class names as Python objects instead of NumPy, pandas or Arrow scalars.

    Missing values of a pandas series or index become None.
    """
    if is_a(values, "pandas", "DataFrame"):
        raise GraphError(
            "Ids and class names must be one column, not a DataFrame.", hint="Pass a column, such as frame['id']."
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
    """Return ids or class names as an array: of 64-bit integers if all are integers, of objects otherwise."""
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        with contextlib.suppress(OverflowError):
            return np.array(values, dtype=np.int64)
    return np.fromiter(values, dtype=object, count=len(values))


def is_series(instance: Any) -> bool:
    """Return whether an object is a pandas series."""
    return is_a(instance, "pandas", "Series")


def counts_rows(index: pd.Index[Any]) -> bool:
    """Return whether a pandas index only numbers the rows from 0."""
    return index.dtype.kind in "iu" and index.tolist() == list(range(len(index)))


def labels_of_series(series: pd.Series[Any], n_nodes: int, asked: Iterable[Hashable]) -> dict[Hashable, Hashable]:
    """Return the labels of a series by its index, the ids of nodes, without the missing ones.

    Whole numbers that pandas keeps as floats because some are missing become whole numbers again. An index that only
    numbers the rows, although these are neither all nodes nor the nodes `asked` for, is an error.
    """
    index = series.index
    is_default = index.nlevels == 1 and index.name is None and counts_rows(index)
    if is_default and len(index) != n_nodes and not set(index) <= set(asked):
        message = f"The index of `labels` numbers its rows, 0 to {len(index) - 1:,}, instead of naming nodes."
        raise LabelError(message, hint="Pass pd.Series(labels, index=picks.nodes).", parameter="labels")
    there = series[series.notna() & (series != "").fillna(True).astype(bool)]
    if not there.index.is_unique:
        repeated = there.index[there.index.duplicated()].unique().tolist()
        message = f"The index of `labels` names {first_five(list(map(repr, repeated)))} more than once."
        raise LabelError(message, hint="Keep one label per node.", parameter="labels", node=repeated[0])
    values = there.tolist()
    if all(isinstance(value, float) and value.is_integer() for value in values):
        values = [int(value) for value in values]
    return dict(zip(there.index.tolist(), values, strict=True))


def match_labels(nodes: Any, labels: Any, ids: Any) -> list[Any]:
    """Return the label of each node as a plain Python object: those of a mapping by node, all others by position.

    A pandas series is matched by position, so one whose index names the same nodes in another order is an error.
    `nodes` is what the user passed, `ids` are their ids.
    """
    if isinstance(labels, Mapping):
        wanted = plain(ids)
        missing = [node for node in wanted if node not in labels]
        if missing:
            message = f"`labels` has no entry for {first_five(list(map(repr, missing)))} of the nodes."
            raise LabelError(message, parameter="labels", node=missing[0])
        return plain([labels[node] for node in wanted])
    if is_series(labels) and not (is_series(nodes) and nodes.index.equals(labels.index)):
        index, wanted = labels.index.tolist(), plain(ids)
        if len(index) == len(wanted) and index != wanted and set(index) == set(wanted):
            message = "The index of `labels` names the nodes in another order than `nodes`."
            raise LabelError(message, hint="Pass labels.loc[nodes].", parameter="labels")
    return plain(labels)


def is_missing(name: object) -> bool:
    """Return whether a class name means that the class is unknown: None, empty text, NaN or pandas' NA and NaT."""
    if name is None or type(name).__name__ in ("NAType", "NaTType"):
        return True
    return name == "" or (isinstance(name, float) and name != name)


def sorted_classes(names: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the distinct class names, sorted by type and then by value."""
    distinct = set(names)
    try:
        return tuple(sorted(distinct, key=lambda name: (type(name).__name__, name)))
    except TypeError:
        return tuple(sorted(distinct, key=repr))


def to_jsonable(name: Any) -> Any:
    """Return a name as an object that `json` can write."""
    if hasattr(name, "item") and not isinstance(name, dict):
        name = name.item()
    if name is None or isinstance(name, str | bool | int):
        return name
    if isinstance(name, float):
        return name if math.isfinite(name) else {"float": str(name)}
    if isinstance(name, tuple):
        return {"tuple": [to_jsonable(part) for part in name]}
    if isinstance(name, dt.date):
        return {"datetime" if isinstance(name, dt.datetime) else "date": name.isoformat()}
    raise ParameterError(
        f"Cannot write {name!r} as JSON: ids and class names of type {type(name).__name__} are not supported.",
        hint="Use text, numbers, dates or tuples.",
        value=name,
    )


def from_jsonable(value: Any) -> Any:
    """Return the name that `to_jsonable` wrote."""
    if isinstance(value, dict):
        ((kind, parts),) = value.items()
        return _READERS[kind](parts)
    if isinstance(value, list):
        raise ValueError("a list where a name was expected")
    return value


def name_to_text(name: Any) -> str:
    """Return a name as one line of JSON: equal names of one type have equal texts, others have different ones."""
    return json.dumps(to_jsonable(name), ensure_ascii=False, sort_keys=True)


def name_from_text(text: str) -> Any:
    """Return the name that `name_to_text` wrote."""
    return from_jsonable(json.loads(text))


def normalize_label(name: object) -> str:
    """Return what all spellings of a name have in common."""
    return _normalize(str(name))


@lru_cache(maxsize=10_000)
def _normalize(text: str) -> str:
    text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = " ".join(text.replace("’", "'").replace("‘", "'").split())
    number = DECIMAL.fullmatch(text)
    if number is None:
        return text
    decimals = number[2].rstrip("0")
    return f"{number[1]}.{decimals}" if decimals else number[1]


def is_visible(name: object) -> bool:
    """Return whether a name has at least one visible character."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in normalize_label(name))


def closest(name: object, others: Iterable[Hashable], cutoff: float = MIN_SIMILARITY) -> Hashable | None:
    """Return the one of `others` that is spelled most like `name`; None if none is similar."""
    by_form: dict[str, Hashable] = {}
    for other in others:
        by_form.setdefault(normalize_label(other), other)
    form = normalize_label(name)
    if form in by_form:
        return by_form[form]
    found = difflib.get_close_matches(form, list(by_form)[:MAX_COMPARED], n=1, cutoff=cutoff)
    return by_form[found[0]] if found else None
