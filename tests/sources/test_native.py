"""The native format: a graph comes back the same, mapped and read-only, and a damaged folder is one clear error."""

import datetime as dt
import errno
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from featprop.sources import native, read_graph
from featprop.sources.native import open_native, write_native
from tests.helpers import raises


def graph_of(**changes):
    adjacency = sp.coo_array((np.array([1.0, 2.5, 1.0]), (np.array([0, 1, 2]), np.array([1, 2, 0]))), shape=(4, 4))
    settings = {"features": np.arange(8.0).reshape(4, 2), "labels": ["b", "a", None, "b"]} | changes
    return Graph.from_scipy(adjacency, settings.pop("features"), **settings)


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
    again = read_graph(tmp_path / "g")
    assert again.fingerprint == graph.fingerprint
    assert again.ids.tolist() == graph.ids.tolist()
    assert (again.classes, again.feature_names) == (graph.classes, graph.feature_names)
    assert [path.name for path in tmp_path.iterdir()] == ["g"], "no temporary folder is left"
    for array in (again.adjacency.data, again.adjacency.indices, again.adjacency.indptr):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable


@pytest.mark.parametrize(
    "names",
    [
        [("a", 1), ("b", (2, 3)), "c", 4],
        [dt.date(2026, 1, 1), dt.date(2026, 1, 2), dt.date(2026, 1, 3), dt.datetime(2026, 1, 1, 12)],
        [0.5, 1.0, 2.5, float("inf")],
        ["1", 1, "x", 2.0],
        [2**64 - 1, 2**63, 1, 0],
    ],
    ids=["tuples", "dates", "floats", "mixed", "large integers"],
)
def test_ids_and_classes_keep_their_types(names, tmp_path):
    labels = [names[2], names[1], None, names[2]]
    write_native(graph_of(ids=names, labels=labels), tmp_path / "g")
    graph = open_native(tmp_path / "g")
    for one, other in [(graph.ids.tolist(), names), (graph.class_names(), labels)]:
        assert one == other
        assert list(map(type, one)) == list(map(type, other))


def test_names_that_cannot_be_written(tmp_path):
    with pytest.raises(ParameterError):
        write_native(graph_of(ids=[object(), 1, 2, 3]), tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def checked(monkeypatch):
    """The graphs that were checked when they were opened."""
    graphs = []
    monkeypatch.setattr(native, "check_arrays", graphs.append)
    return graphs


def test_a_graph_is_checked_once(tmp_path, checked):
    write_native(graph_of(), tmp_path / "g")
    open_native(tmp_path / "g")
    assert checked == [], "who writes a graph stamps it"
    os.utime(tmp_path / "g" / "features.npy", ns=(0, 10**18))
    open_native(tmp_path / "g")
    open_native(tmp_path / "g")
    assert len(checked) == 1, "who checks a graph stamps it"


def test_a_graph_opens_where_its_stamp_cannot_be_written(tmp_path, monkeypatch):
    write_native(graph_of(), tmp_path / "g")
    (tmp_path / "g" / "checked.json").unlink()

    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "touch", refuse)
    assert open_native(tmp_path / "g").n_nodes == 4
    assert not (tmp_path / "g" / "checked.json").exists()


def put(name, place, value):
    def damage(folder):
        array = np.load(folder / f"{name}.npy")
        array[place] = value
        np.save(folder / f"{name}.npy", array)

    return damage


def save(name, array):
    return lambda folder: np.save(folder / f"{name}.npy", array, allow_pickle=True)


def write(name, text):
    return lambda folder: (folder / name).write_text(text)


def ids_of(names, kind=None):
    def damage(folder):
        column = pa.array(names, kind)
        with pa.ipc.new_file(folder / "ids.arrow", pa.schema({"ids": column.type})) as writer:
            writer.write_batch(pa.record_batch([column], ["ids"]))

    return damage


def shorten(folder):
    path = folder / "labels.npy"
    path.write_bytes(path.read_bytes()[:-4])


def lengthen_header(folder):
    path = folder / "labels.npy"
    path.write_bytes(path.read_bytes().replace(b"(4,)", b"(4611686018427387904, 2)"))


@pytest.mark.parametrize(
    "damage",
    [
        put("adjacency.indptr", 1, 7),
        put("adjacency.indices", 0, 4),
        put("adjacency.indices", 0, -1),
        put("adjacency.indices", slice(0, 2), [2, 1]),
        put("adjacency.indices", slice(0, 2), [1, 1]),
        put("adjacency.data", 2, np.inf),
        put("adjacency.data", 2, 0),
        put("features.indices", -1, 500),
        put("features.data", 1, np.nan),
        put("labels", 1, 2),
        put("labels", 1, -2),
        ids_of(["a", "b", "c"], pa.large_string()),
        ids_of(["a", "b", None, "d"], pa.large_string()),
        ids_of([1, 2, 3, 4]),
        ids_of(["a", "b", "a", "d"], pa.large_string()),
        ids_of(pa.array([b"a", b"b", b"\xff", b"d"], pa.large_binary()).view(pa.large_string())),
        save("labels", np.zeros(4, ">i8")),
        save("labels", np.zeros(3, np.int64)),
        save("labels", np.array([{}, {}, {}, {}], dtype=object)),
        save("adjacency.indptr", np.array([1, 2, 4, 6, 6], np.int32)),
        save("candidates", np.asfortranarray(np.ones((4, 2), bool))),
        write("graph.json", "{"),
        write("graph.json", "{}"),
        write("graph.json", '{"format": "featprop graph", "version": 9}'),
        lambda folder: (folder / "adjacency.data.npy").unlink(),
        shorten,
        lengthen_header,
    ],
)
def test_a_damaged_folder_is_one_clear_error(damage, tmp_path):
    write_native(graph_of(ids=list("abcd"), features=wide), tmp_path / "g")
    damage(tmp_path / "g")
    (tmp_path / "g" / "checked.json").unlink()
    with raises(FileError, path=tmp_path / "g"):
        read_graph(tmp_path / "g")


def test_nothing_is_overwritten_unasked(tmp_path):
    place = tmp_path / "g"
    write_native(graph_of(), place)
    with pytest.raises(FileError):
        write_native(graph_of(), place)
    write_native(graph_of(labels=None), place, force=True)
    assert read_graph(place).labels is None
    other = tmp_path / "thesis"
    other.mkdir()
    for folder in (place, other):
        (folder / "chapter.txt").write_text("words")
        with pytest.raises(FileError):
            write_native(graph_of(), folder, force=True)
        assert (folder / "chapter.txt").read_text() == "words"
