"""A saved model comes back unchanged; a damaged one is refused."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors.numpy import save_file

from featprop.errors import FileError, ModelError, ParameterError
from featprop.graph import Graph
from featprop.models import GCN, MODELS, GraphRidge, load_model, save_model
from tests.graphs import random_graph
from tests.helpers import raises


@pytest.fixture
def graph() -> Graph:
    return random_graph(12, 3, density=0.2)


def test_an_existing_model_is_overwritten_only_by_force(graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_model(GCN(epochs=1).fit(graph, [0, 1], ["a", "b"]), path)
    other = GCN(epochs=1).fit(graph, [0, 1], ["c", "d"])
    with raises(FileError, path=path):
        save_model(other, path)
    assert load_model(path).class_names_ == ("a", "b")
    save_model(other, path, force=True)
    assert load_model(path).class_names_ == ("c", "d")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [None, b"", b"\0" * 50, b"PK", "folder", "arrays"])
def test_files_that_are_no_models(tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "model.safetensors"
    if content == "folder":
        path.mkdir()
    elif content == "arrays":
        save_file({"weight": np.ones(3)}, path)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with raises(ModelError, path=path):
        load_model(path)


def test_class_names_that_json_cannot_hold(graph: Graph, tmp_path: Path) -> None:
    with raises(ParameterError):
        save_model(GCN(epochs=1).fit(graph, [0, 1], [object(), "b"]), tmp_path / "model.safetensors")
    assert not (tmp_path / "model.safetensors").exists()


def test_numbers_of_numpy_are_settings_too(graph: Graph, tmp_path: Path) -> None:
    save_model(
        GCN(epochs=np.int64(3), dropout=np.float32(0.5)).fit(graph, [0, 1], ["a", "b"]), tmp_path / "model.safetensors"
    )
    assert load_model(tmp_path / "model.safetensors").get_params()["epochs"] == 3


def test_model_of_a_package_that_is_missing(graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(MODELS, "classes", dict(MODELS.classes))
        mine = MODELS.register("mine")(type("Mine", (GraphRidge,), {}))
        save_model(mine().fit(graph, [0, 1], ["a", "b"]), tmp_path / "model.safetensors")
    with raises(ParameterError, value="mine"):
        load_model(tmp_path / "model.safetensors")


def test_ids_that_json_cannot_hold(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = Graph.from_scipy(np.eye(3), np.eye(3), ids=[object(), object(), "c"])
    save_model(GraphRidge().fit(graph, graph.ids[:2], ["a", "b"]), tmp_path / "model.safetensors")
    assert load_model(tmp_path / "model.safetensors").labelled_ == {}
    assert [(record.name, record.levelname) for record in caplog.records] == [("featprop.models.saved", "WARNING")]


def test_labels_are_not_those_of_another_graph_with_the_same_ids(graph: Graph) -> None:
    model = GraphRidge().fit(graph, [0, 1, 2], ["a", "b", "b"])
    other = Graph.from_scipy(graph.adjacency, np.random.default_rng(1).normal(size=(12, 3)))
    assert model.training_labels_in(other) == {}
    features = graph.features.copy()
    features[0] = 7
    changed = Graph.from_scipy(graph.adjacency, sp.csr_array(features))
    assert model.training_labels_in(changed) == {0: "a", 1: "b", 2: "b"}
    smaller = Graph.from_scipy(np.zeros((2, 2)), graph.features[1:3], ids=[1, 99])
    assert model.training_labels_in(smaller) == {1: "b"}
