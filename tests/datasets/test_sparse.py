"""The one-file layouts: sparse .npz, with and without pickles, and the heterophilous .npz."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.datasets.sparse import parts_of_sparse
from featprop.errors import FileError
from featprop.graph import Graph
from featprop.matrix import dense


def read(path, reader=parts_of_sparse):
    return Graph.from_raw(reader({path.name: path}))


def check(graph, small):
    assert np.array_equal(dense(graph.features), small.words)
    assert graph.labels.tolist() == small.classes.tolist()
    assert graph.n_edges == 7
    assert set(graph.adjacency.data.tolist()) == {1.0}, "an entry says that there is an edge, whatever its number"


def test_official_layout_with_object_arrays(small, tmp_path):
    """The official files carry names in object arrays, which nobody needs."""
    names = {"idx_to_node": np.array({0: "a"}, dtype=object), "node_names": np.array(["a", None], dtype=object)}
    np.savez(tmp_path / "g.npz", allow_pickle=True, **small.arrays(**names))
    check(read(tmp_path / "g.npz"), small)


def test_layout_of_pickled_matrices(small, tmp_path):
    arrays = small.arrays()
    matrices = {
        name: sp.csr_matrix(
            tuple(arrays[f"{part}_{piece}"] for piece in ("data", "indices", "indptr")), tuple(arrays[f"{part}_shape"])
        )
        for name, part in (("adj_matrix", "adj"), ("node_attr", "attr"))
    }
    np.savez(tmp_path / "g.npz", allow_pickle=True, node_label=small.classes, **matrices)
    check(read(tmp_path / "g.npz"), small)


def test_object_array_where_a_matrix_is_needed(small, tmp_path):
    np.savez(tmp_path / "g.npz", allow_pickle=True, **small.arrays(attr_data=np.array([{}, None], dtype=object)))
    with pytest.raises(FileError):
        read(tmp_path / "g.npz")


def test_heterophilous(small, tmp_path):
    splits = np.ones((10, 8), dtype=bool)
    np.savez(
        tmp_path / "g.npz",
        node_features=small.words,
        node_labels=small.classes,
        edges=np.array(small.edges),
        train_masks=splits,
    )
    check(read(tmp_path / "g.npz", parts_of_sparse), small)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"node_features": np.eye(3), "node_labels": np.arange(3)}, "edges"),
        ({"node_features": np.eye(3), "node_labels": np.arange(3), "edges": np.zeros((4, 3), int)}, "shape"),
        ({"node_features": np.eye(3), "node_labels": np.arange(3), "edges": np.zeros((2, 2))}, "float64"),
    ],
)
def test_bad_heterophilous_files(arrays, says, tmp_path):
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(FileError):
        read(tmp_path / "g.npz", parts_of_sparse)


def test_no_npz_at_all(tmp_path):
    (tmp_path / "g.npz").write_text("<html>404</html>")
    for reader in (parts_of_sparse, parts_of_sparse):
        with pytest.raises(FileError):
            read(tmp_path / "g.npz", reader)


SHARED = os.environ.get("FEATPROP_DATA")


@pytest.mark.parametrize("name", ["coauthor-cs", "dblp", "cora-ml", "acm"])
def test_shared_graphs(name, monkeypatch):
    """The real files load by name with the counts of the catalogue, to the edge."""
    from featprop.datasets import find, load
    from featprop.datasets.routes import placed
    from featprop.datasets.stats import statistics

    entry = find(name)
    if SHARED:
        monkeypatch.setenv("FEATPROP_DATA", SHARED)
    if not SHARED or not placed(entry):
        pytest.skip(f"FEATPROP_DATA holds no {entry.forms[0].files[0].name}")
    counted = statistics(load(name))
    expected = (entry.nodes, entry.edges, entry.classes, entry.features)
    assert (counted.nodes, counted.edges, counted.classes, counted.features) == expected
    assert round(counted.homophily, 2) == entry.homophily
