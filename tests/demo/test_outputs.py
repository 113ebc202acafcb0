import csv

import numpy as np

import featprop as fp
from featprop.datasets import digits
from featprop.matrix import dense


def test_the_graph_reads_back_as_it_was(demonstration):
    graph, again = digits(), fp.read_graph(demonstration.folder / "graph")
    assert (graph.adjacency != again.adjacency).nnz == 0
    assert np.array_equal(dense(graph.features), dense(again.features))
    assert again.ids.tolist() == graph.ids.tolist()
    assert again.feature_names == tuple(f"p{pixel}" for pixel in range(64))
    assert again.labels is None


def test_the_true_labels_are_apart(demonstration):
    with (demonstration.folder / "graph-labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    graph = digits()
    assert [int(row["id"]) for row in rows] == graph.ids.tolist()
    assert [int(row["label"]) for row in rows] == graph.class_names()
