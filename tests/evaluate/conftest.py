"""Graphs whose truth is known by construction, for the tests of estimates."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.graph import Graph


def _groups(noise: float, seed: int = 0, n: int = 300, n_classes: int = 3) -> tuple[Graph, list[str]]:
    generator = np.random.default_rng(seed)
    codes = generator.integers(n_classes, size=n)
    rows = np.eye(n_classes, 8)[codes] + noise * generator.normal(size=(n, 8))
    starts, ends = generator.integers(n, size=(2, 3 * n))
    kept = (codes[starts] == codes[ends]) | (generator.random(3 * n) < 0.2)
    edges = sp.coo_array((np.ones(kept.sum()), (starts[kept], ends[kept])), shape=(n, n))
    graph = Graph.from_scipy(sp.csr_array(edges + edges.T), rows.astype(np.float32))
    return graph, [f"class {code}" for code in codes]


@pytest.fixture(scope="session")
def groups() -> Callable[..., tuple[Graph, list[str]]]:
    """Return a maker of graphs: nodes of some classes around one centre each, mostly joined to their class."""
    return _groups
