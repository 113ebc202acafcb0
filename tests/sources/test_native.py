"""The native format: what is written comes back the same, mapped, and a damaged folder is said to be one."""

import datetime as dt
import errno
import os
import shutil

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from featprop.sources import native, read_graph
from featprop.sources.native import ArrayWriter, check_arrays, open_native, write_native, writing_native
from tests.helpers import raises


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


def test_arrays_are_mapped_and_read_only(tmp_path):
    write_native(graph_of(), tmp_path / "g")
    graph = read_graph(tmp_path / "g")
    for array in (graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr, graph.features, graph.labels):
        assert isinstance(array if isinstance(array, np.memmap) else array.base, np.memmap)
        assert not array.flags.writeable


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
    (tmp_path / "g" / "features.npy").touch()
    open_native(tmp_path / "g")
    open_native(tmp_path / "g")
    assert len(checked) == 3, "it changed a moment ago, and may change again in the same tick of the clock"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 0, "files": {}}', b"\xff"])
def test_a_damaged_stamp_does_not_count(content, tmp_path, checked):
    write_native(graph_of(), tmp_path / "g")
    (tmp_path / "g" / "checked.json").write_bytes(content)
    open_native(tmp_path / "g")
    assert len(checked) == 1


def test_a_stamp_that_cannot_be_written(tmp_path, monkeypatch):
    write_native(graph_of(), tmp_path / "g")
    (tmp_path / "g" / "checked.json").unlink()

    def refuse(*_, **__):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    for _ in range(2):
        assert open_native(tmp_path / "g").n_nodes == 4
    assert not (tmp_path / "g" / "checked.json").exists()


def _set(name, place, value):
    def damage(folder):
        array = np.load(folder / f"{name}.npy")
        array[place] = value
        np.save(folder / f"{name}.npy", array)

    return damage


def _ids(names):
    def damage(folder):
        column = pa.array(names)
        if pa.types.is_binary(column.type):
            column = column.cast(pa.large_binary()).view(pa.large_string())
        elif pa.types.is_string(column.type):
            column = column.cast(pa.large_string())
        with pa.ipc.new_file(folder / "ids.arrow", pa.schema({"ids": column.type})) as writer:
            writer.write_batch(pa.record_batch([column], ["ids"]))

    return damage


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_set("adjacency.indptr", 1, 7), "adjacency.indptr.npy that falls"),
        (_set("adjacency.indices", 0, 4), "adjacency.indices.npy from 0 to 4 with 4 columns"),
        (_set("adjacency.indices", 0, -1), "adjacency.indices.npy from -1 to 2 with 4 columns"),
        (_set("adjacency.indices", slice(0, 2), [2, 1]), "adjacency.indices.npy with rows that are not sorted"),
        (_set("adjacency.indices", slice(0, 2), [1, 1]), "adjacency.indices.npy with rows that are not sorted"),
        (_set("adjacency.data", 2, np.inf), "adjacency.data.npy with numbers that are not finite"),
        (_set("adjacency.data", 2, 0), "adjacency.data.npy with a weight that is not above 0"),
        (_set("features.indices", -1, 500), "with 500 columns"),
        (_set("features.data", 1, np.nan), "features.data.npy with numbers that are not finite"),
        (_set("labels", 1, 2), "to 2 with 2 classes"),
        (_set("labels", 1, -2), "labels.npy from -2 to 1 with 2 classes"),
        (_ids(["a", "b", "c"]), "ids.arrow of 3 rows"),
        (_ids(["a", "b", None, "d"]), "with 1 missing"),
        (_ids([1, 2, 3, 4]), "ids.arrow of type int64"),
        (_ids(["a", "b", "a", "d"]), "ids that are repeated"),
        (_ids([b"a", b"b", b"\xff", b"d"]), "UTF8"),
        (lambda folder: np.save(folder / "labels.npy", np.zeros(4, ">i8")), "type >i8"),
    ],
)
@pytest.mark.parametrize("block", [2, 1 << 22])
def test_numbers_that_cannot_be_are_found(damage, says, block, tmp_path, monkeypatch):
    monkeypatch.setattr(native, "CHECK_VALUES", block)
    write_native(graph_of(ids=list("abcd"), features=wide), tmp_path / "g")
    damage(tmp_path / "g")
    with pytest.raises(FileError) as caught:
        read_graph(tmp_path / "g")
    assert says in str(caught.value)


@pytest.mark.parametrize("block", [2, 5])
def test_blocks_find_nothing_wrong_with_a_right_graph(block, tmp_path, monkeypatch):
    monkeypatch.setattr(native, "CHECK_VALUES", block)
    generator = np.random.default_rng(0)
    adjacency = sp.random_array((60, 60), density=0.05, random_state=generator)
    graph = Graph.from_scipy(adjacency, generator.normal(size=(60, 3)), ids=range(100, 160))
    check_arrays(graph)
    check_arrays(Graph.from_scipy(adjacency, sp.random_array((60, 90), density=0.02, random_state=generator)))


def _by_columns(folder):
    np.save(folder / "features.npy", np.asfortranarray(np.arange(8, dtype=np.float32).reshape(4, 2)))


def _shorten(folder):
    path = folder / "features.npy"
    path.write_bytes(path.read_bytes()[:-4])


def _object_array(folder):
    np.save(folder / "labels.npy", np.array([{}, {}, {}, {}], dtype=object), allow_pickle=True)


def _too_long(folder):
    content = (folder / "labels.npy").read_bytes()
    (folder / "labels.npy").write_bytes(content.replace(b"(4,)", b"(4611686018427387904, 2)"))


def _of_python_2(folder):
    content = (folder / "labels.npy").read_bytes()
    (folder / "labels.npy").write_bytes(content.replace(b"(4,), ", b"(3L,),"))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_of_python_2, "labels.npy of shape (3,)"),
        (lambda folder: (folder / "adjacency.data.npy").unlink(), "adjacency.data.npy"),
        (lambda folder: (folder / "graph.json").write_text("{"), "Expecting"),
        (lambda folder: (folder / "graph.json").write_text("{}"), "format"),
        (lambda folder: (folder / "graph.json").write_text('{"format": "featprop graph", "version": 9}'), "version 9"),
        (_by_columns, "features.npy of shape"),
        (_shorten, "mmap length is greater than file size"),
        (_object_array, "Array can't be memory-mapped: Python objects in dtype"),
        (_too_long, "labels.npy, array is too big"),
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


def test_nothing_is_overwritten_unasked(tmp_path):
    place = tmp_path / "g"
    write_native(graph_of(), place)
    with pytest.raises(FileError):
        write_native(graph_of(), place)
    write_native(graph_of(labels=None), place, force=True)
    assert read_graph(place).labels is None
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("words")
    with pytest.raises(FileError):
        write_native(graph_of(), other, force=True)
    assert (other / "chapter.txt").read_text() == "words"
    (place / "notes.txt").write_text("words")
    with pytest.raises(FileError):
        write_native(graph_of(), place, force=True)
    assert (place / "notes.txt").read_text() == "words"


@pytest.mark.parametrize(
    "names",
    [
        [("a", 1), ("b", (2, 3)), "c", 4],
        [dt.date(2026, 1, 1), dt.date(2026, 1, 2), dt.date(2026, 1, 3), dt.datetime(2026, 1, 1, 12)],
        [0.5, 1.0, 2.5, float("inf")],
        ["1", 1, "x", 2.0],
        [b"a", frozenset({1, 2}), False, "c"],
        [2**64 - 1, 2**63, 1, 0],
    ],
    ids=["tuples", "dates", "floats", "mixed", "others", "large integers"],
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


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini", "Desktop.ini", "._graph.json"])
def test_what_file_managers_leave_does_not_count(name, tmp_path):
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / name).write_bytes(b"x")
    write_native(graph_of(), tmp_path / "g")
    (tmp_path / "g" / name).write_bytes(b"x")
    assert open_native(tmp_path / "g").n_nodes == 4
    write_native(graph_of(), tmp_path / "g", force=True)


@pytest.mark.parametrize("began", ["nothing", "an empty folder"])
def test_a_graph_that_came_meanwhile_is_replaced_by_force_only(began, tmp_path):
    def write_while_another_does(folder, **said):
        if began == "an empty folder":
            folder.mkdir()
        with writing_native(folder, **said) as temporary:
            write_native(graph_of(ids=list("abcd")), folder)
            write_native(graph_of(ids=list("efgh")), tmp_path / "new")
            for file in (tmp_path / "new").iterdir():
                file.rename(temporary / file.name)

    refused, forced = tmp_path / "refused", tmp_path / "forced"
    with pytest.raises(FileError) as caught:
        write_while_another_does(refused)
    assert caught.value.path == str(refused)
    assert "".join(open_native(refused).ids) == "abcd"
    (tmp_path / "new").rmdir()
    write_while_another_does(forced, force=True)
    assert "".join(open_native(forced).ids) == "efgh"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["forced", "new", "refused"]


def test_a_full_disk(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with raises(FileError, path=tmp_path / "g"):
        write_native(graph_of(), tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_pieces_make_one_array(tmp_path):
    rows = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    with ArrayWriter(tmp_path / "a.npy", np.float32, 3) as stream:
        for start in range(0, 10, 4):
            stream.append(rows[start : start + 4])
    assert np.array_equal(np.load(tmp_path / "a.npy"), rows)
    with ArrayWriter(tmp_path / "b.npy", np.int64):
        pass
    assert np.load(tmp_path / "b.npy").shape == (0,)
    shutil.rmtree(tmp_path)
