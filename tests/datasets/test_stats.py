"""Statistics of a small graph."""

import math

import numpy as np
import scipy.sparse as sp

import featprop
from featprop.datasets import CATALOGUE, homophily, statistics
from featprop.datasets.stats import NOTES
from featprop.graph import Graph


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


def test_without_labels():
    graph = Graph.from_scipy(sp.coo_array((2, 2)), np.eye(2))
    assert math.isnan(statistics(graph).homophily)
    assert statistics(graph).labelled == 0


def test_notes_describe_the_printed_table():
    cora, citeseer = CATALOGUE["cora"], CATALOGUE["citeseer"]
    assert (cora.printed.features, citeseer.printed.features) == (citeseer.features, cora.features)
    full = CATALOGUE["corafull"]
    assert full.printed.edges == 2 * full.edges
    for name in ("cora", "citeseer", "pubmed"):
        entry = CATALOGUE[name]
        assert entry.printed.edges > entry.edges
        assert f"{entry.printed.edges:,}" in NOTES[0]
        assert (entry.printed.nodes, entry.printed.classes) == (entry.nodes, entry.classes)


def test_datasets_are_an_attribute_of_the_package():
    assert featprop.datasets.load("digits").n_nodes == 1797
