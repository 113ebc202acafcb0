"""A saved model comes back unchanged; a damaged one is refused."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.numpy import save_file

from featprop.errors import FileError, ModelError, ParameterError
from featprop.graph import Graph
from featprop.models import GCN, SGC, GraphRidge, NodeClassifier, load_model, save_model
from tests.helpers import raises


def rewrite(path: Path, *, arrays: dict[str, Any] | None = None, **description: Any) -> None:
    """Change arrays, or entries of the JSON, of a saved model."""
    with safe_open(path, framework="np") as file:
        known = json.loads(file.metadata()["featprop"])
        kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(kept | (arrays or {}), path, {"featprop": json.dumps(known | description)})


@pytest.fixture
def graph() -> Graph:
    generator = np.random.default_rng(0)
    return Graph.from_scipy(sp.random_array((12, 12), density=0.2, rng=generator), generator.normal(size=(12, 3)))


@pytest.mark.parametrize(
    "model", [GCN(hidden=5, dropout=0.2, random_state=4, epochs=7), SGC(layers=1, epochs=7), GraphRidge(alpha=0.5)]
)
@pytest.mark.parametrize(
    "classes", [["a", "b", "ü"], [3, 1, 2], [(0, "a"), 1.5, "1.5"], [dt.date(2026, 11, 16), True, 2]]
)
def test_round_trip(model: NodeClassifier, classes: list, graph: Graph, tmp_path: Path) -> None:
    model.fit(graph, [0, 1, 2], classes)
    save_model(model, tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert again.class_names_ == model.class_names_
    assert again.labelled_ == model.labelled_ == dict(zip([0, 1, 2], classes, strict=True))
    assert again.training_labels_in(graph) == model.labelled_
    np.testing.assert_array_equal(again.predict_proba(graph), model.predict_proba(graph))


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


@pytest.mark.parametrize("content", [None, b"", b"\0" * 50, b"PK", "folder"])
def test_files_that_are_no_models(tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "model.safetensors"
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with raises(ModelError, path=path):
        load_model(path)


def test_a_safetensors_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"weight": np.ones(3)}, path)
    with raises(ModelError, path=path):
        load_model(path)


@pytest.mark.parametrize("weight", [np.nan, np.inf, 3e38])
@pytest.mark.parametrize("model", [GCN(epochs=1), SGC(epochs=1)])
def test_weights_that_give_no_probabilities_are_refused(weight: float, model: NodeClassifier, graph: Graph) -> None:
    model.fit(graph, [0, 1], ["a", "b"])
    model.load_state_dict({name: np.full_like(values, weight) for name, values in model.state_dict().items()})
    with raises(ModelError):
        model.predict_proba(graph)


@pytest.mark.parametrize(
    ("model", "name"), [(GCN(epochs=1), "weight1"), (GCN(epochs=1), "weight2"), (SGC(epochs=1), "weight")]
)
@pytest.mark.parametrize("change", [lambda values: values.T, np.ravel, np.float64], ids=["turned", "flat", "wide"])
def test_weights_of_another_shape_or_type_are_refused(
    model: NodeClassifier, name: str, change: Callable[..., Any], graph: Graph, tmp_path: Path
) -> None:
    save_model(model.fit(graph, [0, 1], ["a", "b"]), tmp_path / "model.safetensors")
    path = tmp_path / "model.safetensors"
    rewrite(path, arrays={name: np.ascontiguousarray(change(model.state_dict()[name]))})
    with raises(ModelError, path=path):
        load_model(tmp_path / "model.safetensors")


@pytest.mark.parametrize("model", [GCN(epochs=1), SGC(epochs=1), GraphRidge()])
def test_a_class_that_is_there_twice(model: NodeClassifier, graph: Graph, tmp_path: Path) -> None:
    save_model(model.fit(graph, [0, 1, 2], ["a", "b", "c"]), tmp_path / "model.safetensors")
    rewrite(tmp_path / "model.safetensors", classes=["a", "a", "b"])
    with raises(ModelError, path=tmp_path / "model.safetensors"):
        load_model(tmp_path / "model.safetensors")


def test_class_names_that_json_cannot_hold(graph: Graph, tmp_path: Path) -> None:
    with raises(ParameterError):
        save_model(GCN(epochs=1).fit(graph, [0, 1], [object(), "b"]), tmp_path / "model.safetensors")
    assert not (tmp_path / "model.safetensors").exists()


def test_numbers_of_numpy_are_settings_too(graph: Graph, tmp_path: Path) -> None:
    save_model(
        GCN(epochs=np.int64(3), dropout=np.float32(0.5)).fit(graph, [0, 1], ["a", "b"]), tmp_path / "model.safetensors"
    )
    assert load_model(tmp_path / "model.safetensors").get_params()["epochs"] == 3


def test_a_subclass_without_a_name_of_its_own_is_not_saved_as_its_parent(graph: Graph, tmp_path: Path) -> None:
    class Mine(GCN):
        pass

    with raises(ParameterError):
        save_model(Mine(epochs=1).fit(graph, [0, 1], ["a", "b"]), tmp_path / "model.safetensors")


def test_an_unknown_kind_of_model_lists_the_known_ones(graph: Graph, tmp_path: Path) -> None:
    save_model(GCN(epochs=1).fit(graph, [0, 1], ["a", "b"]), tmp_path / "model.safetensors")
    rewrite(tmp_path / "model.safetensors", model="gat")
    with raises(ParameterError, value="gat"):
        load_model(tmp_path / "model.safetensors")


def test_an_unfitted_model_is_not_saved(tmp_path: Path) -> None:
    with raises(ModelError):
        save_model(GCN(), tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    "labelled",
    [
        {"0": "a"},
        "text",
        [[0, 0]],
        [[0, 2, "x"]],
        [[0, -1, "x"]],
        [[0, True, "x"]],
        [[0, 0, 7]],
        [[[0], 0, "x"]],
        [[{"set": [1]}, 0, "x"]],
        [[0, 0, "x"], [0, 1, "x"]],
    ],
)
def test_labels_that_a_model_cannot_have_been_trained_on(graph: Graph, tmp_path: Path, labelled: object) -> None:
    save_model(GraphRidge().fit(graph, [0, 1], ["a", "b"]), tmp_path / "model.safetensors")
    text = np.frombuffer(json.dumps(labelled).encode(), np.uint8)
    rewrite(tmp_path / "model.safetensors", arrays={"labelled": text})
    with raises(ModelError, path=tmp_path / "model.safetensors"):
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


def test_numbers_in_a_table_that_may_be_other_nodes_are_said(caplog: pytest.LogCaptureFixture) -> None:
    def numbered(weights: list[int], ids: Any = range(1, 7)) -> Graph:
        nodes = pd.DataFrame({"id": list(ids), "weight": weights})
        return Graph.from_tables(nodes, pd.DataFrame({"source": [ids[0]], "target": [ids[1]]}))

    model = GraphRidge().fit(numbered([1, 2, 3, 11, 12, 14]), [1, 4], ["a", "b"])
    for weights, said in ([14, 12, 11, 3, 2, 1], 1), ([1, 2, 3, 9, 12, 14], 0):
        caplog.clear()
        assert model.training_labels_in(numbered(weights)) == {1: "a", 4: "b"}
        assert len(caplog.records) == said
        assert " 2 " in caplog.text or not said
    names = [*"abcdef"]
    named = GraphRidge().fit(numbered([1, 2, 3, 11, 12, 14], names), ["a", "d"], ["a", "b"])
    caplog.clear()
    assert named.training_labels_in(numbered([14, 12, 11, 3, 2, 1], names)) == {"a": "a", "d": "b"}
    assert not caplog.records


def test_one_class_is_kept_too(graph: Graph) -> None:
    assert GraphRidge().fit(graph, [3, 4], ["a", "a"], cold_start=True).labelled_ == {3: "a", 4: "a"}
