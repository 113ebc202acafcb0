"""What another tool can show of a node: the columns of its table, as text."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pyarrow as pa

from featprop.errors import shorten
from featprop.graph import Graph
from featprop.sources.naming import ID_NAMES

__all__ = ["Description"]

LONGEST = 2_000
"""Characters of a cell that are shown."""
MOST = 50
"""Columns that are shown."""
LOOKED_AT = 200
"""Values by which it is decided whether a column is text."""
WORDS = 4
"""Words that the values of a text have in the mean."""


class Description:
    """What there is to read of the nodes of a graph; without a graph, their ids.

    The column of the labels is left out, so that nobody copies them.
    """

    def __init__(self, graph: Graph | None) -> None:
        self.graph = graph
        self._texts: list[str] = []
        self._position_of = {} if graph is None else {name: place for place, name in enumerate(graph.ids.tolist())}
        self._columns: dict[str, Any] = {}
        if graph is not None and graph.table is not None:
            titles = [name for name in graph.table.column_names if not _is_own(name, set())][:MOST]
            self._columns = {name: graph.column(name) for name in titles}
            self._texts = [name for name, values in self._columns.items() if _is_text(values)]

    def text(self, node: Hashable) -> str:
        """Return the texts of a node, or its id if it has none."""
        cells = [self._cell(name, node) for name in self._texts]
        return "\n".join(filter(None, cells)) or str(node)

    def attributes(self, node: Hashable) -> dict[str, str]:
        """Return what else there is of a node, and how many neighbours it has."""
        if self.graph is None:
            return {"id": str(node)}
        position = self._position_of[node]
        cells = {name: self._cell(name, node) for name in self._columns if name not in self._texts}
        pointers = self.graph.adjacency.indptr
        neighbours = f"{int(pointers[position + 1] - pointers[position]):,}"
        return {"id": str(node), **{name: cell for name, cell in cells.items() if cell}, "neighbours": neighbours}

    def _cell(self, name: str, node: Hashable) -> str:
        value = self._columns[name][self._position_of[node]].as_py()
        text = "" if value is None else str(value)
        return shorten(text, LONGEST)


def _is_text(values: pa.Array) -> bool:
    """Say whether a column is one to read rather than to look up: several words, by its first values."""
    if not pa.types.is_string(values.type):
        return False
    first = [value for value in values[:LOOKED_AT].to_pylist() if value]
    return bool(first) and sum(len(value.split()) for value in first) >= WORDS * len(first)


def _is_own(name: str, own: set[str]) -> bool:
    """Say whether a column names the node or its class."""
    plain = name.strip().casefold()
    return name in own or plain == "label" or plain in ID_NAMES
