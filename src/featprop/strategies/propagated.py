"""The propagated features of a graph in the forms that strategies ask for, each computed once."""

from __future__ import annotations

from collections.abc import Mapping

from featprop.clustering.points import Points
from featprop.graph import Graph
from featprop.matrix import Features, unit_rows
from featprop.propagation import propagate

__all__ = ["Propagated"]


class Propagated:
    """S^K X, as rows and as points. Situations on the same graph may share one.

    Parameters
    ----------
    graph
        The graph.
    rows
        S^K X by K, as far as they are known.
    """

    def __init__(self, graph: Graph, rows: Mapping[int, Features] | None = None) -> None:
        self._graph = graph
        self._rows = dict(rows or {})
        self._points: dict[tuple[int, bool], Points] = {}

    def rows(self, layers: int) -> Features:
        """Return S^K X for K = `layers`."""
        if layers not in self._rows:
            self._rows[layers] = propagate(self._graph, layers)
        return self._rows[layers]

    def points(self, layers: int, unit: bool = False) -> Points:
        """Return the rows of S^K X as points, scaled to length 1 if `unit`; a row of zeros stays one."""
        if (layers, unit) not in self._points:
            rows = self.rows(layers)
            self._points[layers, unit] = Points(unit_rows(rows) if unit else rows)
        return self._points[layers, unit]
