"""What a strategy sees."""

import numpy as np
import pytest

from featprop.graph import Graph
from featprop.propagation import Propagation
from featprop.strategies import Situation


def test_it_is_frozen_and_holds_no_label(line: Graph) -> None:
    situation = Situation(line.without_labels(), np.array([0]), np.array([1, 2, 3, 4]))
    assert situation.graph.labels is None
    with pytest.raises(AttributeError):
        situation.graph = line  # type: ignore[misc]
    with pytest.raises(TypeError):
        situation.outputs["hidden"] = np.ones(1)  # type: ignore[index]


def test_points_are_those_of_the_graph_whoever_asks(line: Graph) -> None:
    first = Situation(line.without_labels(), np.array([0]), np.array([1, 2, 3, 4]))
    second = Situation(line.without_labels(), np.array([0, 1]), np.array([2, 3, 4]))
    assert first.points(2) is second.points(2) is Propagation.of(line).points(2)
