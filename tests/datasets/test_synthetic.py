"""Synthetic graphs: exact counts, and the same graph from the same seed."""

import zlib

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.datasets import blockmodel, make, statistics, synthetic
from featprop.datasets.blockmodel import HUB
from featprop.errors import ParameterError
from featprop.sources import read_graph
from tests.helpers import raises

WANTED = {"nodes": 500, "edges": 2500, "classes": 5, "features": 16, "homophily": 0.7}


@pytest.mark.parametrize(("kind", "homophily"), [("gaussian", 0.0), ("words", 0.31), ("gaussian", 1.0)])
def test_counts_are_exact(kind, homophily, tmp_path):
    graph = make(tmp_path / "g", **WANTED | {"kind": kind, "homophily": homophily})
    counted = statistics(graph)
    assert (counted.nodes, counted.edges, counted.classes, counted.features) == (500, 2500, 5, 16)
    assert counted.homophily == pytest.approx(homophily, abs=1e-12)
    assert np.bincount(graph.labels).tolist() == [100] * 5
    adjacency = graph.adjacency
    adjacency.check_format(full_check=True)
    assert (adjacency != adjacency.T).nnz == 0
    assert adjacency.diagonal().sum() == 0
    fresh = sp.csr_array((adjacency.data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    assert fresh.has_canonical_format, "rows are sorted and nothing is repeated"
    assert sp.issparse(graph.features) == (kind == "words")
    assert [path.name for path in tmp_path.iterdir()] == ["g"], "temporary files are removed"
    assert graph.ids[:3].tolist() == [0, 1, 2]
    assert repr(read_graph(tmp_path / "g")) == repr(graph)


def test_many_chunks_and_files(tmp_path, monkeypatch):
    """Chunks of a hundred edges and files of fifty show what happens to large graphs."""
    monkeypatch.setattr(blockmodel, "EDGES_PER_CHUNK", 100)
    monkeypatch.setattr(blockmodel, "EDGES_PER_FILE", 50)
    monkeypatch.setattr(synthetic, "VALUES_PER_CHUNK", 160)
    for kind in ("gaussian", "words"):
        graph = make(tmp_path / kind, **WANTED, kind=kind)
        counted = statistics(graph)
        assert (counted.nodes, counted.edges, counted.homophily) == (500, 2500, 0.7)
        graph.adjacency.check_format(full_check=True)
        assert (graph.adjacency != graph.adjacency.T).nnz == 0
        if kind == "words":
            graph.features.check_format(full_check=True)
            assert np.diff(graph.features.indptr).min() >= 1


def test_degrees_have_a_heavy_tail(tmp_path):
    graph = make(tmp_path / "g", nodes=20_000, edges=200_000, classes=4, features=2)
    degrees = np.diff(graph.adjacency.indptr)
    assert degrees.mean() == 20
    assert np.median(degrees) < 17
    assert 300 < degrees.max() < 1.5 * 20 * np.sqrt(HUB) / 2
    tail = [np.count_nonzero(degrees > 20 * times) / len(degrees) for times in (2, 4)]
    assert 2.5 < tail[0] / tail[1] < 6, "twice the degree is four times as rare: exponent 3 of the density"
    assert abs(np.corrcoef(degrees, np.arange(len(degrees)))[0, 1]) < 0.05, "ids say nothing about degrees"


def test_published_graphs_are_reproduced(tmp_path):
    words = make(tmp_path / "words", **WANTED | {"nodes": 503, "kind": "words"}, random_state=3)
    parts = (words.labels, words.adjacency.indices, words.features.indices)
    assert [zlib.crc32(np.array(part, dtype=np.int64)) for part in parts] == [1755126996, 2997157959, 3500880569]
    points = make(tmp_path / "points", **WANTED)
    assert points.features[[0, 499], 0].tolist() == pytest.approx([0.758323, -0.070727], abs=1e-5)
    other = make(tmp_path / "points", **WANTED, random_state=1, force=True)
    assert (other.adjacency != points.adjacency).nnz > 0


@pytest.mark.parametrize("homophily", [0.0, 0.31])
def test_unequal_classes(homophily, tmp_path):
    """Every count is met; a node of a small class has as many neighbours of its class as one of a large class."""
    graph = make(tmp_path / "g", **WANTED | {"nodes": 700, "classes": 3, "smallest": 1 / 7, "homophily": homophily})
    counted = statistics(graph)
    assert np.bincount(graph.labels).tolist() == [400, 200, 100]
    assert (counted.edges, counted.homophily) == (2500, pytest.approx(homophily, abs=1e-12))
    theirs = graph.labels[graph.adjacency.indices]
    own = np.repeat(graph.labels, np.diff(graph.adjacency.indptr)) == theirs
    inside = np.bincount(theirs[own], minlength=3) / [400, 200, 100]
    assert inside == pytest.approx(homophily * 5000 / 700, rel=0.15)


@pytest.mark.parametrize("smallest", [None, 0.1])
def test_isolated_nodes(smallest, tmp_path):
    graph = make(tmp_path / "g", **WANTED | {"nodes": 1000, "edges": 10_000}, smallest=smallest, isolated=0.4)
    assert statistics(graph).isolated == 400, "at 33 edges a node, no other is without one by chance"
    assert (graph.n_edges, statistics(graph).homophily) == (10_000, 0.7)
    without = np.diff(graph.adjacency.indptr) == 0
    sizes = np.bincount(graph.labels)
    assert np.bincount(graph.labels[without]) == pytest.approx(0.4 * sizes, abs=1)
    assert 160 < np.count_nonzero(without[:500]) < 240, "random nodes, not the first ones"


@pytest.mark.parametrize("kind", ["gaussian", "words"])
def test_features_depend_on_the_class(kind, tmp_path):
    """The nearest class mean of half the nodes names the class of the other half, the better the more the signal."""
    right = []
    for signal in (0, 0.3, 1, 3):
        graph = make(tmp_path / f"{signal}", nodes=4000, edges=0, classes=4, features=64, kind=kind, signal=signal)
        rows = graph.features.toarray() if kind == "words" else graph.features
        half, labels = rows[:2000], graph.labels
        means = np.stack([half[labels[:2000] == c].mean(axis=0) for c in range(4)])
        nearest = ((rows[2000:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        right.append((nearest == labels[2000:]).mean())
    nothing, weak, default, strong = right
    assert nothing == pytest.approx(0.25, abs=0.05)
    assert nothing + 0.05 < weak < default - 0.05 < strong - 0.1
    assert 0.4 < default < 0.97, "neither useless nor solved without the edges"


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"nodes": 1}, "nodes"),
        ({"edges": -1}, "edges"),
        ({"classes": 501}, "classes"),
        ({"features": 0}, "features"),
        ({"homophily": float("nan")}, "homophily"),
        ({"smallest": 0.3}, "smallest"),
        ({"smallest": 0.5, "classes": 1, "homophily": 1}, "smallest"),
        ({"isolated": 1.1}, "isolated"),
        ({"random_state": -1}, "random_state"),
        ({"kind": "word"}, "kind"),
        ({"edges": 20_000}, "edges"),
    ],
)
def test_invalid_parameters(change, parameter, tmp_path):
    with raises(ParameterError, parameter=parameter):
        make(tmp_path / "g", **WANTED | change)
    assert list(tmp_path.iterdir()) == []
