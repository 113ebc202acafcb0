"""Readers of the public forms."""

import gzip
import os
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.datasets import readers
from featprop.datasets.readers import is_published, read_content, read_files, read_npz, read_ogb, read_planetoid
from featprop.errors import FileError
from featprop.matrix import dense
from tests.helpers import raises

EDGES = "0,1\n1,2\n2,0\n0,1\n3,3\n"
FEATURES = "0.5,-1.25\n1.0,0\n0.0,2e-3\n-0.125,4\n"
LABELS = "2\n0\n0\n1\n"


def test_planetoid_by_hand(small, tmp_path):
    graph = read_files(read_planetoid, small.write_ind(tmp_path))
    assert np.array_equal(dense(graph.features), small.words)
    assert graph.labels.tolist() == small.classes.tolist()
    assert graph.n_edges == 7, "the self loop and the repeated edge are not counted"
    assert set(zip(*graph.adjacency.nonzero(), strict=True)) == {
        pair for a, b in small.edges if a != b for pair in ((a, b), (b, a))
    }
    assert graph.ids.tolist() == list(range(8))


def test_planetoid_equals_pyg(many, tmp_path):
    """PyG gives a node without a class class 0; everything else is equal."""
    pytest.importorskip("torch_geometric")
    from torch_geometric.datasets import Planetoid

    files = many.write_ind(tmp_path / "CiteSeer" / "raw", "citeseer")
    ours = read_files(read_planetoid, files).to_pyg()
    theirs = Planetoid(str(tmp_path), "CiteSeer")[0]
    assert np.array_equal(ours.x.numpy(), theirs.x.numpy())
    assert sorted(ours.edge_index.T.tolist()) == sorted(theirs.edge_index.T.tolist())
    known = ours.y != -1
    assert int((~known).sum()) == 5
    assert ours.y[known].tolist() == theirs.y[known].tolist()


def test_both_forms_of_cora_are_one_graph(small, tmp_path):
    ind = read_files(read_planetoid, small.write_ind(tmp_path))
    content = read_files(read_content, small.write_content(tmp_path))
    assert content.ids.tolist() == [77, 37, 7, 57, 17, 47, 27]
    order = content.ids // 10
    assert (ind.adjacency[order][:, order] != content.adjacency).nnz == 0
    assert np.array_equal(dense(ind.features)[order], dense(content.features))
    assert [f"topic_{'cab'[label]}" for label in ind.labels[order]] == content.class_names()


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("allx", pickle.dumps([1, 2])),
        ("ally", pickle.dumps([1, 2])),
        ("graph", pickle.dumps([1, 2])),
        ("graph", pickle.dumps({0: [1], 99: [0]})),
        ("graph", pickle.dumps({0: [10**30]})),
        ("test.index", b"7\nfive\n"),
        ("test.index", b"7\n" + b"9" * 40),
        ("test.index", b"7\n"),
        ("test.index", b"7\n7\n"),
        ("test.index", b"7\n2\n"),
    ],
)
def test_damaged_planetoid_files_are_named(part, content, small, tmp_path):
    files = small.write_ind(tmp_path)
    (tmp_path / f"ind.small.{part}").write_bytes(content)
    with raises(FileError, path=tmp_path) as caught:
        read_files(read_planetoid, files)
    assert "ind.small.allx" in str(caught.value)


def test_only_published_pickles_are_read(small, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "is_published", is_published)
    files = small.write_ind(tmp_path)
    target = tmp_path / "ran"
    (tmp_path / "ind.small.allx").write_bytes(b"cos\nsystem\n(V touch " + os.fsencode(target) + b"\ntR.")
    with raises(FileError, path=tmp_path / "ind.small.allx"):
        read_files(read_planetoid, files)
    np.savez(tmp_path / "g.npz", allow_pickle=True, **small.arrays(labels=np.array([{}] * 8, dtype=object)))
    with raises(FileError, path=tmp_path / "g.npz"):
        read_one(tmp_path / "g.npz")
    assert not target.exists()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("small.cites", lambda text: text + "77\t9999\n"),
        ("small.cites", lambda text: text + "77\n"),
        ("small.content", lambda text: text.replace("\t1", "\tone", 1)),
        ("small.content", lambda text: text + "5\t1\n"),
        ("small.content", lambda text: ""),
    ],
)
def test_damaged_content_files_are_named(name, change, small, tmp_path):
    files = small.write_content(tmp_path)
    files[name].write_text(change(files[name].read_text()))
    with raises(FileError, path=tmp_path) as caught:
        read_files(read_content, files)
    assert name in str(caught.value)


@pytest.fixture
def parts():
    texts = {
        "edge.csv.gz": EDGES,
        "node-feat.csv.gz": FEATURES,
        "node-label.csv.gz": LABELS,
        "num-node-list.csv.gz": "4\n",
    }
    return {name: gzip.compress(text.encode()) for name, text in texts.items()}


def archive(path, parts):
    with zipfile.ZipFile(path, "w") as writer:
        for name, content in parts.items():
            writer.writestr(f"arxiv/raw/{name}", content)
        writer.writestr("arxiv/split/time/train.csv.gz", gzip.compress(b"0\n"))
        writer.writestr("../../evil", b"x")
    return {path.name: path}


def test_ogb_archive(parts, tmp_path):
    graph = read_files(read_ogb, archive(tmp_path / "arxiv.zip", parts))
    assert np.allclose(graph.features, [[0.5, -1.25], [1, 0], [0, 0.002], [-0.125, 4]])
    assert graph.labels.tolist() == [2, 0, 0, 1]
    assert graph.n_edges == 3
    assert [path.name for path in tmp_path.iterdir()] == ["arxiv.zip"], "nothing is unpacked"


@pytest.mark.parametrize(
    "change",
    [
        {"edge.csv.gz": None},
        {"edge.csv.gz": b"no gzip"},
        {"edge.csv.gz": gzip.compress(b"0,1,2\n")},
        {"node-feat.csv.gz": gzip.compress(b"a,b\n1,2\n")},
        {"node-label.csv.gz": gzip.compress(b"")},
    ],
)
def test_bad_ogb_archives(change, parts, tmp_path):
    changed = {name: content for name, content in (parts | change).items() if content is not None}
    with raises(FileError, path=tmp_path / "arxiv.zip"):
        read_files(read_ogb, archive(tmp_path / "arxiv.zip", changed))


def read_one(path):
    return read_files(read_npz, {path.name: path})


def check(graph, small):
    assert np.array_equal(dense(graph.features), small.words)
    assert graph.labels.tolist() == small.classes.tolist()
    assert graph.n_edges == 7
    assert set(graph.adjacency.data.tolist()) == {1.0}, "edges have no weights"


def test_sparse_npz_with_object_arrays(small, tmp_path):
    """The official files have names in object arrays, which are ignored."""
    names = {"idx_to_node": np.array({0: "a"}, dtype=object), "node_names": np.array(["a", None], dtype=object)}
    np.savez(tmp_path / "g.npz", allow_pickle=True, **small.arrays(**names))
    check(read_one(tmp_path / "g.npz"), small)


def test_sparse_npz_of_pickled_matrices(small, tmp_path):
    arrays = small.arrays()
    matrices = {
        name: sp.csr_matrix(
            tuple(arrays[f"{part}_{piece}"] for piece in ("data", "indices", "indptr")), tuple(arrays[f"{part}_shape"])
        )
        for name, part in (("adj_matrix", "adj"), ("node_attr", "attr"))
    }
    np.savez(tmp_path / "g.npz", allow_pickle=True, node_label=small.classes, **matrices)
    check(read_one(tmp_path / "g.npz"), small)


def test_heterophilous(small, tmp_path):
    splits = np.ones((10, 8), dtype=bool)
    np.savez(
        tmp_path / "g.npz",
        node_features=small.words,
        node_labels=small.classes,
        edges=np.array(small.edges),
        train_masks=splits,
    )
    check(read_one(tmp_path / "g.npz"), small)
