"""Addresses of nodes, and the nodes that addresses and requests name."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any
from urllib.parse import quote

from featprop.errors import GraphError, ParameterError, shorten
from featprop.graph import Graph
from featprop.ids import from_jsonable, name_from_text, name_to_text

MAX_NAME_CHARS = 2000
"""Maximum length of a name as JSON."""


def node_address(node: Hashable) -> str:
    """Return the address of a node. Its id is written as JSON, so that 1 and "1" differ."""
    return f"/nodes/{quote(name_to_text(node), safe='')}"


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
    """Return the node that a text names, as JSON or else literally."""
    if len(text) <= MAX_NAME_CHARS:
        for name in (_from_json(text), text):
            try:
                return resolve_node(graph, name)
            except GraphError:
                continue
    raise _unknown_node(_from_json(text) if len(text) <= MAX_NAME_CHARS else text)


def decode_name(value: Any, field: str) -> Any:
    """Return the name that a JSON value of a request encodes."""
    text = json.dumps(value)
    try:
        if len(text) <= MAX_NAME_CHARS and value is not None:
            return from_jsonable(value)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ParameterError(
        f"`{field}` must be text, a number or the JSON of an id, not {shorten(text, 100)}.",
        hint="Send it the way /api/next returns it.",
        parameter=field,
        value=value,
    )


def _from_json(text: str) -> Any:
    try:
        return name_from_text(text)
    except (ValueError, KeyError, TypeError, RecursionError):
        return text


def _unknown_node(name: Any) -> GraphError:
    shown = f'"{shorten(name, 100)}"' if isinstance(name, str) else shorten(repr(name), 100)
    return GraphError(f"There is no node {shown} in this graph.", node=name)
