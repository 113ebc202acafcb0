"""What the catalogue says, and statistics of a small graph."""

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.datasets import CATALOGUE, homophily, statistics
from featprop.datasets.catalogue import NOTES
from featprop.graph import Graph

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda entry: entry.name)
def test_every_data_set_is_in_the_docs(entry):
    counts = [f"{entry.nodes:,}", f"{entry.edges:,}", f"{entry.classes}", f"{entry.features:,}"]
    homophily = "?" if entry.homophily is None else f"{entry.homophily:.2f}"
    assert f"| {' | '.join([f'`{entry.name}`', *counts, homophily, entry.licence])} |" in PAGE


def test_statistics_of_a_small_graph():
    edges = np.array([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)]).T
    adjacency = sp.coo_array((np.ones(5), tuple(edges)), shape=(6, 6))
    graph = Graph.from_scipy(adjacency, np.eye(6)[:, :5], labels=["a", "a", "b", "b", None, "a"])
    counted = statistics(graph)
    assert (counted.nodes, counted.edges, counted.classes, counted.features) == (6, 5, 2, 5)
    assert (counted.labelled, counted.isolated) == (5, 1)
    assert counted.homophily == 2 / 4, "the edge to the node without a label does not count"
    assert counted.density == 5 / 30
    assert [homophily(graph, rows) for rows in (1, 2, 4, 100)] == [0.5] * 4
    assert math.isnan(homophily(graph.without_labels()))


def test_notes_describe_the_printed_table():
    cora, citeseer, full = CATALOGUE["cora"], CATALOGUE["citeseer"], CATALOGUE["corafull"]
    assert (cora.printed.features, citeseer.printed.features) == (citeseer.features, cora.features)
    assert full.printed.edges == 2 * full.edges
    for entry in (cora, citeseer, CATALOGUE["pubmed"]):
        assert entry.printed.edges > entry.edges
        assert f"{entry.printed.edges:,}" in NOTES[0]
