"""The sparse-graph ``.npz`` of CoraFull and its relatives."""

import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.errors import FeatpropError, FileError
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.sources import read_graph
from tests.helpers import raises


def arrays(adjacency: Any, features: Any) -> dict[str, Any]:
    found = {}
    for name, matrix in [("adj", sp.csr_array(adjacency)), ("attr", sp.csr_array(features))]:
        found |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    return found


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_three_nodes_by_hand(tmp_path: Path, save: Any) -> None:
    path = tmp_path / "three.npz"
    save(path, **arrays([[0, 2, 0], [0, 0, 0], [0, 0.5, 1]], [[1, 0], [0, 3], [5, 6]]), labels=np.array([1, -1, 0]))
    graph = read_graph(path)
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    assert dense(graph.features).tolist() == [[1, 0], [0, 3], [5, 6]]
    assert graph.class_names() == [1, None, 0]
    assert graph.ids.tolist() == [0, 1, 2]


def test_round_trip_of_thousands_of_thin_features(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    adjacency = sp.random_array((60, 60), density=0.05, rng=generator)
    features = sp.random_array((60, 4_000), density=0.01, rng=generator, format="csr")
    graph = Graph.from_scipy(adjacency, features)
    np.savez(tmp_path / "thin.npz", **arrays(graph.adjacency, graph.features))
    again = read_graph(tmp_path / "thin.npz")
    assert isinstance(again.features, sp.csr_array)
    np.testing.assert_array_equal(again.features.toarray(), graph.features.toarray())
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())
    assert again.labels is None


def test_labels_may_be_text_but_no_objects(tmp_path: Path) -> None:
    np.savez(tmp_path / "named.npz", **WHOLE, labels=np.array(["left", "right"]))
    assert read_graph(tmp_path / "named.npz").class_names() == ["left", "right"]
    np.savez(tmp_path / "objects.npz", **WHOLE, labels=np.array(["left", None], dtype=object))
    with raises(FileError, path=tmp_path / "objects.npz") as caught:
        read_graph(tmp_path / "objects.npz")
    assert "astype(str)" in str(caught.value)


def test_edges_and_labels_without_features(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edges=np.array([[0, 1], [1, 2], [3, 1]]), y=np.array([[0], [1], [0], [1], [-1]]))
    graph = read_graph(tmp_path / "g.npz")
    assert (graph.n_nodes, graph.n_edges) == (5, 3)
    assert graph.class_names() == [0, 1, 0, 1, None]


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **arrays(np.zeros((1, 1)), [[1]]))
    (tmp_path / "x.npz").rename(tmp_path / "X.NPZ")
    assert read_graph(tmp_path / "X.NPZ").n_nodes == 1


WHOLE = arrays([[0, 1], [1, 0]], np.eye(2))


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (WHOLE | {"adj_shape": None}, ["adj_shape"]),
        ({"edges": np.zeros((3, 3), int)}, ["(3, 3)"]),
        ({"edge_index": np.array([[0.5], [1]])}, ["float64"]),
        ({"format": np.array(b"bsr"), "data": np.ones(1)}, ["bsr"]),
        ({"labels": np.ones(2)}, ["labels"]),
        (WHOLE | {"adj_indices": np.array([1, 7])}, ["indices"]),
        (WHOLE | {"adj_indptr": np.array([0, 2, 0])}, ["indptr"]),
        (WHOLE | {"adj_data": np.array([1, 2], dtype="datetime64[s]")}, ["datetime64[s]"]),
        (WHOLE | {"attr_data": np.array([1j, 2j])}, ["complex128"]),
        (WHOLE | {"adj_shape": np.array([2, 3])}, ["(2, 3)", "2 rows"]),
        (arrays([[0, 1], [1, 0]], np.eye(3)), ["(2, 2)", "3 rows"]),
    ],
)
def test_another_layout(tmp_path: Path, content: dict[str, Any], facts: list[str]) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, **{name: array for name, array in content.items() if array is not None})
    with pytest.raises(FeatpropError) as caught:
        read_graph(path)
    assert not [fact for fact in (str(path), *facts) if fact not in str(caught.value)], caught.value


def test_no_npz_at_all(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.eye(2))
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    (tmp_path / "text.npz").write_text("id,w\na,1\n")
    (tmp_path / "empty.npz").touch()
    for name in ("array.npz", "text.npz", "empty.npz"):
        with raises(FileError, path=tmp_path / name):
            read_graph(tmp_path / name)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("where", [100, 200, 400])
def test_a_damaged_file(tmp_path: Path, save: Any, where: int) -> None:
    path = tmp_path / "damaged.npz"
    save(path, **WHOLE)
    content = bytearray(path.read_bytes())
    content[where : where + 60] = b"\xff" * 60
    path.write_bytes(content)
    with pytest.raises(FeatpropError):
        read_graph(path)


@pytest.mark.parametrize("shape", ["(((((((", "(-1,)", "(9223372036854775807, 3)", "('a',)", "1e9"])
def test_a_header_that_cannot_be_read(tmp_path: Path, shape: str) -> None:
    """NumPy has Python parse a header, which may raise nearly anything, warnings too."""
    path = tmp_path / "damaged.npz"
    np.savez(path, **WHOLE)
    with zipfile.ZipFile(path) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    header = members["attr_data.npy"]
    members["attr_data.npy"] = re.sub(rb"'shape': \(\d+,\)", f"'shape': {shape}".encode(), header)
    assert members["attr_data.npy"] != header
    with zipfile.ZipFile(path, "w") as damaged:
        for name, content in members.items():
            damaged.writestr(name, content)
    with raises(FileError, path=path):
        read_graph(path)
