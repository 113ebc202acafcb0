"""The sparse-graph ``.npz`` of CoraFull and its relatives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.errors import FileError, GraphError
from featprop.matrix import dense
from featprop.sources import read_graph
from tests.helpers import raises


def arrays(adjacency: Any, features: Any) -> dict[str, Any]:
    found = {}
    for name, matrix in [("adj", sp.csr_array(adjacency)), ("attr", sp.csr_array(features))]:
        found |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    return found


def test_three_nodes_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "three.npz"
    np.savez_compressed(
        path, **arrays([[0, 2, 0], [0, 0, 0], [0, 0.5, 1]], [[1, 0], [0, 3], [5, 6]]), labels=np.array([1, -1, 0])
    )
    graph = read_graph(path)
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    assert dense(graph.features).tolist() == [[1, 0], [0, 3], [5, 6]]
    assert graph.class_names() == [1, None, 0]
    assert graph.ids.tolist() == [0, 1, 2]


def test_labels_may_be_text_but_no_objects(tmp_path: Path) -> None:
    np.savez(tmp_path / "named.npz", **WHOLE, labels=np.array(["left", "right"]))
    assert read_graph(tmp_path / "named.npz").class_names() == ["left", "right"]
    np.savez(tmp_path / "objects.npz", **WHOLE, labels=np.array(["left", None], dtype=object))
    with raises(FileError, path=tmp_path / "objects.npz"):
        read_graph(tmp_path / "objects.npz")


def test_edges_and_labels_without_features(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edges=np.array([[0, 1], [1, 2], [3, 1]]), y=np.array([[0], [1], [0], [1], [-1]]))
    graph = read_graph(tmp_path / "g.npz")
    assert (graph.n_nodes, graph.n_edges) == (5, 3)
    assert graph.class_names() == [0, 1, 0, 1, None]


WHOLE = arrays([[0, 1], [1, 0]], np.eye(2))


@pytest.mark.parametrize(
    "content",
    [
        {name: array for name, array in WHOLE.items() if name != "adj_shape"},
        {"edges": np.zeros((3, 3), int)},
        {"edge_index": np.array([[0.5], [1]])},
        {"format": np.array(b"bsr"), "data": np.ones(1)},
        {"labels": np.ones(2)},
        WHOLE | {"adj_indices": np.array([1, 7])},
        WHOLE | {"adj_indptr": np.array([0, 2, 0])},
        WHOLE | {"adj_data": np.array([1, 2], dtype="datetime64[s]")},
        WHOLE | {"attr_data": np.array([1j, 2j])},
        WHOLE | {"adj_shape": np.array([2, 3])},
        arrays([[0, 1], [1, 0]], np.eye(3)),
    ],
)
def test_arrays_that_make_no_graph_are_one_clear_error(tmp_path: Path, content: dict[str, Any]) -> None:
    np.savez(tmp_path / "other.npz", **content)
    with pytest.raises((FileError, GraphError)):
        read_graph(tmp_path / "other.npz")
