"""Names of nodes and classes as JSON, with their types: what goes in as ``(0, 1)`` or ``1.0`` comes back as that.

Text, whole numbers, finite floats, true, false and null are themselves in JSON. What JSON does not have is an object of
one entry, its type and its parts: ``{"tuple": [0, 1]}``, ``{"date": "2026-11-16"}``, ``{"float": "inf"}``.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Hashable
from typing import Any

from featprop.errors import ParameterError

__all__ = ["from_jsonable", "name_from_text", "name_to_text", "to_jsonable"]

_READERS: dict[str, Callable[[Any], Hashable]] = {
    "tuple": lambda parts: tuple(from_jsonable(part) for part in parts),
    "frozenset": lambda parts: frozenset(from_jsonable(part) for part in parts),
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
    "float": float,
    "bytes": bytes.fromhex,
}


def to_jsonable(name: Any) -> Any:
    """Return a name as what `json` writes; an object of any other type is an error."""
    if hasattr(name, "item") and not isinstance(name, dict):
        name = name.item()
    if name is None or isinstance(name, str | bool | int):
        return name
    if isinstance(name, float):
        return name if math.isfinite(name) else {"float": str(name)}
    if isinstance(name, tuple):
        return {"tuple": [to_jsonable(part) for part in name]}
    if isinstance(name, frozenset):
        return {"frozenset": sorted((to_jsonable(part) for part in name), key=json.dumps)}
    for kind in (dt.datetime, dt.date, dt.time):
        if isinstance(name, kind):
            return {kind.__name__: name.isoformat()}
    if isinstance(name, bytes):
        return {"bytes": name.hex()}
    found = f"{name!r} of type {type(name).__name__}"
    raise ParameterError("Names of nodes and classes", "must be text, numbers, dates or tuples", found, "rename them")


def from_jsonable(value: Any) -> Any:
    """Return the name that `to_jsonable` wrote so."""
    if isinstance(value, dict):
        ((kind, parts),) = value.items()
        return _READERS[kind](parts)
    if isinstance(value, list):
        raise ValueError("a list where a name was expected")
    return value


def name_to_text(name: Any) -> str:
    """Return a name as one line of JSON: equal names have equal texts, names of other types have others."""
    return json.dumps(to_jsonable(name), ensure_ascii=False, sort_keys=True)


def name_from_text(text: str) -> Any:
    """Return the name that `name_to_text` wrote so."""
    return from_jsonable(json.loads(text))
