"""The native format: what is written comes back the same, mapped, and a damaged folder is said to be one."""

import errno
import json
import logging
import shutil
import time

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.errors import FileError, GraphError, ParameterError
from featprop.graph import Graph
from featprop.io import read_graph, reading
from featprop.io.native import open_native, write_native
from featprop.io.streaming import ArrayStream


def graph_of(**changes):
    adjacency = sp.coo_array((np.array([1.0, 2.5, 1.0]), (np.array([0, 1, 2]), np.array([1, 2, 0]))), shape=(4, 4))
    settings = {"features": np.arange(8.0).reshape(4, 2), "labels": ["b", "a", None, "b"]} | changes
    return Graph.from_scipy(adjacency, settings.pop("features"), **settings)


def assert_same(one, other):
    assert (one.adjacency != other.adjacency).nnz == 0
    assert sp.issparse(one.features) == sp.issparse(other.features)
    difference = one.features != other.features
    assert not (difference.nnz if sp.issparse(one.features) else difference.any())
    assert one.ids.tolist() == other.ids.tolist()
    assert [type(name) for name in one.ids.tolist()] == [type(name) for name in other.ids.tolist()]
    assert (one.labels is None) == (other.labels is None)
    assert one.labels is None or one.labels.tolist() == other.labels.tolist()
    assert one.classes == other.classes
    assert one.feature_names == other.feature_names


wide = sp.random_array((4, 500), density=0.01, random_state=0, format="csr")


@pytest.mark.parametrize(
    "graph",
    [
        graph_of(),
        graph_of(labels=None),
        graph_of(features=wide),
        graph_of(ids=["007", "ü", "", "x y\n"]),
        graph_of(ids=[30, 10, -5, 2**40]),
        graph_of(labels=np.array([3, -1, 7, 3])),
        Graph.from_scipy(sp.coo_array((3, 3)), np.eye(3)),
    ],
    ids=["dense", "no labels", "sparse", "text ids", "integer ids", "integer classes", "no edges"],
)
def test_round_trip(graph, tmp_path):
    write_native(graph, tmp_path / "g")
    assert_same(graph, read_graph(tmp_path / "g"))
    assert [path.name for path in tmp_path.iterdir()] == ["g"], "no temporary folder is left"


def test_feature_names_come_back(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,height,width\na,1,2\nb,3,4\n")
    (folder / "edges.csv").write_text("source,target\na,b\n")
    write_native(read_graph(folder), tmp_path / "g")
    assert read_graph(tmp_path / "g").feature_names == ("height", "width")


def test_arrays_are_mapped_and_read_only(tmp_path):
    write_native(graph_of(), tmp_path / "g")
    graph = read_graph(tmp_path / "g")
    for array in (graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr, graph.features, graph.labels):
        assert isinstance(array if isinstance(array, np.memmap) else array.base, np.memmap)
        assert not array.flags.writeable


def test_opening_does_not_read_the_edges(tmp_path):
    """Files of 1.6 GB with holes for content open at once: the entries are not looked at."""
    nodes, entries = 1_000_000, 200_000_000
    write_native(graph_of(labels=None), tmp_path / "g")
    folder = tmp_path / "g"
    indptr = np.linspace(0, entries, nodes + 1).astype(np.int32)
    np.save(folder / "adjacency.indptr.npy", indptr)
    for name, dtype in (("indices", np.int32), ("data", np.float32)):
        with ArrayStream(folder / f"adjacency.{name}.npy", dtype) as stream:
            stream.rows = entries
            stream.file.truncate(stream.file.tell() + 4 * entries)
    np.save(folder / "features.npy", np.zeros((nodes, 2), np.float32))
    description = json.loads((folder / "graph.json").read_text())
    (folder / "graph.json").write_text(json.dumps(description | {"nodes": nodes}))
    start = time.perf_counter()
    graph = open_native(folder)
    assert time.perf_counter() - start < 1
    assert graph.n_edges == entries // 2
    assert repr(graph) == "Graph(1,000,000 nodes, 100,000,000 edges, 2 features)"


def _shorten(folder):
    path = folder / "features.npy"
    path.write_bytes(path.read_bytes()[:-4])


def _object_array(folder):
    np.save(folder / "labels.npy", np.array([{}, {}, {}, {}], dtype=object), allow_pickle=True)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "adjacency.data.npy").unlink(), "adjacency.data.npy"),
        (lambda folder: (folder / "graph.json").write_text("{"), "Expecting"),
        (lambda folder: (folder / "graph.json").write_text("{}"), "format"),
        (lambda folder: (folder / "graph.json").write_text('{"format": "featprop graph", "version": 9}'), "version 9"),
        (_shorten, "mmap length is greater than file size"),
        (_object_array, "Array can't be memory-mapped: Python objects in dtype"),
        (lambda folder: np.save(folder / "labels.npy", np.zeros(3, np.int64)), "labels.npy of shape (3,)"),
        (lambda folder: np.save(folder / "features.npy", np.zeros((4, 2))), "type float64"),
        (lambda folder: np.save(folder / "adjacency.indptr.npy", np.array([1, 2, 4, 6, 6], np.int32)), "from 1 to 6"),
    ],
)
def test_a_damaged_folder_is_named(damage, says, tmp_path):
    write_native(graph_of(), tmp_path / "g")
    damage(tmp_path / "g")
    with pytest.raises(FileError) as caught:
        read_graph(tmp_path / "g")
    assert says in str(caught.value)
    assert "write it again with featprop convert" in str(caught.value)


def test_nothing_is_overwritten_unasked(tmp_path):
    place = tmp_path / "g"
    write_native(graph_of(), place)
    with pytest.raises(FileError, match="must not be overwritten"):
        write_native(graph_of(), place)
    write_native(graph_of(labels=None), place, force=True)
    assert read_graph(place).labels is None
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("words")
    with pytest.raises(FileError, match="must be a new folder"):
        write_native(graph_of(), other, force=True)
    assert (other / "chapter.txt").read_text() == "words"


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (graph_of(ids=[("a", 1), ("b", 2), "c", "d"]), "must be integers or text"),
        (graph_of(labels=[("x",), ("y",), None, ("x",)]), "must be numbers or text"),
    ],
)
def test_names_that_cannot_be_written(graph, says, tmp_path):
    with pytest.raises(GraphError, match=says):
        write_native(graph, tmp_path / "g")
    assert not (tmp_path / "g").exists()


def test_a_full_disk(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(FileError, match="found No space left on device: free some space"):
        write_native(graph_of(), tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_feature_columns_cannot_be_chosen_afterwards(tmp_path):
    write_native(graph_of(), tmp_path / "g")
    with pytest.raises(ParameterError, match="leave --features out for a converted graph"):
        read_graph(tmp_path / "g", ["height"])


def test_slow_tables_are_told_of_the_faster_format(tmp_path, monkeypatch, caplog):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,x\n0,1\n1,2\n")
    (folder / "edges.csv").write_text("source,target\n0,1\n")
    with caplog.at_level(logging.WARNING, "featprop"):
        read_graph(folder)
        assert "featprop convert" not in caplog.text
        monkeypatch.setattr(reading, "WORTH_CONVERTING", -1.0)
        read_graph(folder)
    assert f"featprop convert {folder} FOLDER" in caplog.text


def test_pieces_make_one_array(tmp_path):
    rows = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    with ArrayStream(tmp_path / "a.npy", np.float32, 3) as stream:
        for start in range(0, 10, 4):
            stream.append(rows[start : start + 4])
    assert np.array_equal(np.load(tmp_path / "a.npy"), rows)
    with ArrayStream(tmp_path / "b.npy", np.int64):
        pass
    assert np.load(tmp_path / "b.npy").shape == (0,)
    shutil.rmtree(tmp_path)
