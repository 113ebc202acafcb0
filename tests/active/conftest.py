"""A graph small enough to solve by hand."""

import pytest

from featprop.graph import Graph
from tests.graphs import edgeless


@pytest.fixture
def islands() -> Graph:
    """Make three pairs of isolated nodes, whose features propagation keeps."""
    return edgeless([[0], [1], [50], [51], [90], [92]], ids=list("abcdef"), labels=list("xxyyzz"))
