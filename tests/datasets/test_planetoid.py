"""Planetoid's files, small and by hand: the same graph as its older form, and as PyG reads it."""

import pickle
import shutil

import numpy as np
import pytest

from featprop.datasets.content import parts_of_content
from featprop.datasets.planetoid import parts_of_planetoid
from featprop.errors import FileError
from featprop.graph import Graph
from featprop.matrix import dense


def test_by_hand(small, tmp_path):
    graph = Graph.from_raw(parts_of_planetoid(small.write_ind(tmp_path)))
    assert np.array_equal(dense(graph.features), small.words)
    assert graph.labels.tolist() == small.classes.tolist()
    assert graph.n_edges == 7, "the self loop and the repeated edge are not counted"
    assert set(zip(*graph.adjacency.nonzero(), strict=True)) == {
        pair for a, b in small.edges if a != b for pair in ((a, b), (b, a))
    }
    assert graph.ids.tolist() == list(range(8))


def test_equals_pyg(many, tmp_path):
    """PyG calls the class of a node without one 0; everything else is equal."""
    pytest.importorskip("torch_geometric")
    from torch_geometric.datasets import Planetoid

    files = many.write_ind(tmp_path / "CiteSeer" / "raw", "citeseer")
    ours = Graph.from_raw(parts_of_planetoid(files)).to_pyg()
    theirs = Planetoid(str(tmp_path), "CiteSeer")[0]
    assert np.array_equal(ours.x.numpy(), theirs.x.numpy())
    assert sorted(ours.edge_index.T.tolist()) == sorted(theirs.edge_index.T.tolist())
    known = ours.y != -1
    assert int((~known).sum()) == 5
    assert ours.y[known].tolist() == theirs.y[known].tolist()


def test_both_forms_hold_the_same_graph(small, tmp_path, matching):
    ind = Graph.from_raw(parts_of_planetoid(small.write_ind(tmp_path)))
    content = Graph.from_raw(parts_of_content(small.write_content(tmp_path)))
    assert content.ids.tolist() == [77, 37, 7, 57, 17, 47, 27]
    assert content.classes == ("topic_a", "topic_b", "topic_c")
    seven = np.delete(np.arange(8), 6)
    part = Graph.from_scipy(ind.adjacency[seven][:, seven], small.words[seven], labels=ind.labels[seven])
    match = matching(part, content)
    assert match is not None
    assert (content.ids[match] // 10).tolist() == seven.tolist()
    pairs = {(code, content.classes[other]) for code, other in zip(part.labels, content.labels[match], strict=True)}
    assert pairs == {(0, "topic_c"), (1, "topic_a"), (2, "topic_b")}


def test_matching_sees_a_difference(small, tmp_path, matching):
    graph = Graph.from_raw(parts_of_content(small.write_content(tmp_path)))
    small.edges = (*small.edges[:-3], (1, 7))
    moved = Graph.from_raw(parts_of_content(small.write_content(tmp_path / "other")))
    assert moved.n_edges == graph.n_edges
    assert matching(graph, graph) is not None
    assert matching(graph, moved) is None


@pytest.mark.parametrize(
    ("part", "content", "says"),
    [
        ("x", b"", None),
        ("allx", pickle.dumps([1, 2]), "must hold a CSR matrix; found list"),
        ("ally", pickle.dumps([1, 2]), "must hold a matrix of classes; found list"),
        ("graph", pickle.dumps([1, 2]), "must hold the neighbours of each node"),
        ("graph", pickle.dumps({0: [1], 99: [0]}), "found node 99 of 8"),
        ("test.index", b"7\nfive\n", "must hold one number a line"),
        ("test.index", b"7\n" + b"9" * 40, "must hold one number a line"),
        ("graph", pickle.dumps({0: [10**30]}), "must hold the neighbours of each node"),
        ("test.index", b"7\n", "must hold ind.* files of one data set"),
        ("test.index", b"7\n7\n", "must hold ind.* files of one data set"),
        ("test.index", b"7\n2\n", "must hold ind.* files of one data set"),
        ("tx", b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR.", "os.system"),
    ],
)
def test_bad_files_are_named(part, content, says, small, tmp_path):
    files = small.write_ind(tmp_path)
    (tmp_path / f"ind.small.{part}").write_bytes(content)
    if says is None:
        parts_of_planetoid(files)
        return
    with pytest.raises(FileError) as caught:
        parts_of_planetoid(files)
    assert says in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("small.cites", lambda text: text + "77\t9999\n", "found paper 9999, which small.content has not"),
        ("small.cites", lambda text: text + "77\n", "must hold numbers"),
        ("small.content", lambda text: text.replace("\t1", "\tone", 1), "must hold numbers"),
        ("small.content", lambda text: text + "5\t1\n", "found rows of 2, 7 columns"),
        ("small.content", lambda text: "", "found rows of no columns"),
    ],
)
def test_bad_content_is_named(name, change, says, small, tmp_path):
    files = small.write_content(tmp_path)
    files[name].write_text(change(files[name].read_text()))
    with pytest.raises(FileError, match=says):
        parts_of_content(files)
    shutil.rmtree(tmp_path)
