"""The fields of what annotators send, with their limits, and the addresses of nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import AfterValidator, Field, StringConstraints

from featprop.ids import from_jsonable, name_to_text

MAX_KEY_CHARS, MAX_REASON_CHARS, MAX_NOTE_CHARS = 100, 1000, 10_000
MAX_CLASS_CHARS, MAX_DESCRIPTION_CHARS = 200, 1000
MAX_ADDRESS_CHARS = 2000
"""Longer ids are named in addresses by a digest."""
DIGEST = "digest-"


def _decode(value: Any) -> Any:
    """Return the id or class name that a JSON value encodes."""
    try:
        if value is not None:
            return from_jsonable(value)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ValueError("Send text, a number or the JSON of an id, as /api/next returns it")


Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS, description="Idempotency key, new for each action.")]
Node = Annotated[Any, AfterValidator(_decode), Field(description="Id of a node, as /api/next returns it.")]
Label = Annotated[Any, AfterValidator(_decode), Field(description="One of the classes.")]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_REASON_CHARS)]
Note = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NOTE_CHARS)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_CLASS_CHARS)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_DESCRIPTION_CHARS)]


def node_address(node: Hashable) -> str:
    """Return the address of a node. Its id is written as JSON, so that 1 and "1" differ."""
    name = quote(name_to_text(node), safe="")
    return f"/nodes/{name if len(name) <= MAX_ADDRESS_CHARS else address_digest(node)}"


def address_digest(node: Hashable) -> str:
    """Return what names a node in addresses if its id is too long."""
    return DIGEST + hashlib.blake2b(name_to_text(node).encode(), digest_size=16).hexdigest()
