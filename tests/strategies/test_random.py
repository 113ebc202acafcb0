"""Random is uniform over the candidates, the last one included."""

import numpy as np
import scipy.sparse as sp

from featprop.graph import Graph
from featprop.strategies import QueryContext
from featprop.strategies.random import Random


def test_candidates_are_drawn_uniformly() -> None:
    graph = Graph.from_scipy(sp.csr_array((10, 10)), np.eye(10))
    context = QueryContext(graph, np.array([0]), np.arange(1, 10))
    generator = np.random.default_rng(0)
    drawn = np.concatenate([Random().select(context, 3, generator) for _ in range(3000)])
    counts = np.bincount(drawn, minlength=10)
    assert counts[0] == 0
    np.testing.assert_allclose(counts[1:], 1000, atol=120)
