"""`QueryContext`: what a strategy sees."""

import numpy as np
import pytest

from featprop.graph import Graph
from featprop.propagation import Propagation
from featprop.strategies import QueryContext


def test_a_context_is_frozen_and_has_no_labels(line: Graph) -> None:
    context = QueryContext(line.without_labels(), np.array([0]), np.array([1, 2, 3, 4]))
    assert context.graph.labels is None
    with pytest.raises(AttributeError):
        context.graph = line  # type: ignore[misc]
    with pytest.raises(TypeError):
        context.outputs["hidden"] = np.ones(1)  # type: ignore[index]


def test_contexts_of_one_graph_share_points(line: Graph) -> None:
    first = QueryContext(line.without_labels(), np.array([0]), np.array([1, 2, 3, 4]))
    second = QueryContext(line.without_labels(), np.array([0, 1]), np.array([2, 3, 4]))
    assert first.points(2) is second.points(2) is Propagation.of(line).points(2)
