"""Graphs and contexts small enough to solve by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from featprop.strategies import QueryContext
from tests.graphs import edge_graph

MakeContext = Callable[..., QueryContext]


@pytest.fixture
def make_context() -> MakeContext:
    """Return a function that builds a context; nodes that are not labelled are candidates."""

    def make(
        n: int,
        edges: list[tuple[int, int]] | None = None,
        features: Any = None,
        labelled: list[int] | None = None,
        labels: list[int] | None = None,
        **outputs: Any,
    ) -> QueryContext:
        graph = edge_graph(n, edges or [], features)
        known = np.array(labelled or [], dtype=np.intp)
        rows = {name: np.asarray(values, dtype=np.float32) for name, values in outputs.items()}
        codes = np.array(labels or [], dtype=np.int64)
        classes = tuple(range(int(codes.max()) + 1)) if codes.size else ()
        return QueryContext(graph, known, np.setdiff1d(np.arange(n), known), codes, classes, rows)

    return make
