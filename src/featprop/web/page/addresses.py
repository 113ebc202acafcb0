"""Where a node is on the page, and which node an address or a request means."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any
from urllib.parse import quote

from featprop.errors import GraphError, ParameterError
from featprop.graph import Graph
from featprop.ids import from_jsonable, name_from_text, name_to_text

__all__ = ["name_in", "named", "node_address", "node_in", "node_of"]

LONGEST = 2000
"""Letters of a name, written as JSON, that are looked at."""


def node_address(node: Hashable) -> str:
    """Return the address of the card of a node: its name as JSON, so that 1 and "1" are two."""
    return f"/nodes/{quote(name_to_text(node), safe='')}"


def node_of(graph: Graph, name: Hashable) -> Hashable:
    """Return the id of a node as the graph has it; a name that is no node is an error.

    No names like it are looked for, which would take long in a large graph.
    """
    try:
        if not graph.has(name):
            raise _unknown(name)
    except TypeError:
        raise _unknown(name) from None
    position = graph.positions([name])[0]
    found: Hashable = graph.ids[[position]].tolist()[0]
    return found


def node_in(graph: Graph, text: str) -> Hashable:
    """Return the node that a text names: as JSON or, where that is no node, just as it is written."""
    if len(text) <= LONGEST:
        for name in (name_in(text), text):
            try:
                return node_of(graph, name)
            except GraphError:
                continue
    raise _unknown(text[:LONGEST])


def name_in(text: str) -> Any:
    """Return the name that a text is the JSON of, or the text itself if it is none."""
    try:
        return name_from_text(text)
    except (ValueError, KeyError, TypeError, RecursionError):
        return text


def named(value: Any, what: str) -> Any:
    """Return the name that a JSON value stands for."""
    try:
        if len(json.dumps(value)) <= LONGEST and value is not None:
            return from_jsonable(value)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    found = json.dumps(value)[:100]
    raise ParameterError(what, "must be text, a number or the JSON of a name", found, "send it as /api/next does")


def _unknown(name: object) -> GraphError:
    found = f"{name!r:.100}"
    return GraphError("node", "must be an id of the graph", f"{found} unknown", "take ids from /api/next")
