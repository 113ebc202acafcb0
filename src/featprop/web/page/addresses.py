"""Addresses of nodes, and the nodes that addresses and requests name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from typing import Any
from urllib.parse import quote

from featprop.errors import GraphError, ParameterError, shorten
from featprop.graph import Graph
from featprop.ids import from_jsonable, name_from_text, name_to_text

MAX_LABEL_CHARS = 2000
"""Maximum length of a label as JSON."""
MAX_ADDRESS_CHARS = 2000
"""Longer ids are named in addresses by a digest."""
DIGEST = "digest-"


def node_address(node: Hashable) -> str:
    """Return the address of a node. Its id is written as JSON, so that 1 and "1" differ."""
    name = quote(name_to_text(node), safe="")
    return f"/nodes/{name if len(name) <= MAX_ADDRESS_CHARS else _digest(node)}"


def resolve_node(graph: Graph, name: Hashable) -> Hashable:
    """Return the id of a node as the graph has it; an unknown name is an error."""
    try:
        if not graph.has(name):
            raise _unknown_node(name)
    except TypeError:
        raise _unknown_node(name) from None
    position = graph.positions([name])[0]
    node: Hashable = graph.ids[[position]].tolist()[0]
    return node


def find_node(graph: Graph, text: str) -> Hashable:
    """Return the node that a text names, as JSON, literally, or by the digest of a long id."""
    for name in (_from_json(text), text):
        try:
            return resolve_node(graph, name)
        except GraphError:
            continue
    if text.startswith(DIGEST):
        for node in graph.ids.tolist():
            if isinstance(node, str) and len(node) > MAX_ADDRESS_CHARS // 12 and _digest(node) == text:
                return node
    raise _unknown_node(_from_json(text))


def decode_name(value: Any, field: str) -> Any:
    """Return the name that a JSON value of a request encodes."""
    try:
        if value is not None and (field == "node" or len(json.dumps(value)) <= MAX_LABEL_CHARS):
            return from_jsonable(value)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ParameterError(
        f"`{field}` must be text, a number or the JSON of an id, not {shorten(json.dumps(value), 100)}.",
        hint="Send it the way /api/next returns it.",
        parameter=field,
        value=value,
    )


def _digest(node: Hashable) -> str:
    return DIGEST + hashlib.blake2b(name_to_text(node).encode(), digest_size=16).hexdigest()


def _from_json(text: str) -> Any:
    try:
        return name_from_text(text)
    except (ValueError, KeyError, TypeError, RecursionError):
        return text


def _unknown_node(name: Any) -> GraphError:
    shown = f'"{shorten(name, 100)}"' if isinstance(name, str) else shorten(repr(name), 100)
    return GraphError(f"There is no node {shown} in this graph.", node=name)
