"""A saved model comes back as it was; a damaged one is refused. (Damaged folders: tests/cli/test_bad_input.py.)"""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors.numpy import load_file, save_file

from featprop.errors import FileError, ModelError, ParameterError
from featprop.graph import Graph
from featprop.models import GCN, SGC, GraphRidge, NodeClassifier, load_model, save_model
from featprop.models.saved import n_labels_in


@pytest.fixture
def graph() -> Graph:
    generator = np.random.default_rng(0)
    return Graph.from_scipy(sp.random_array((12, 12), density=0.2, rng=generator), generator.normal(size=(12, 3)))


@pytest.mark.parametrize(
    "model", [GCN(hidden=5, dropout=0.2, seed=4, epochs=7), SGC(layers=1, epochs=7), GraphRidge(alpha=0.5)]
)
@pytest.mark.parametrize(
    "classes", [["a", "b", "ü"], [3, 1, 2], [(0, "a"), 1.5, "1.5"], [dt.date(2026, 11, 16), True, 2]]
)
def test_round_trip(model: NodeClassifier, classes: list, graph: Graph, tmp_path: Path) -> None:
    model.fit(graph, [0, 1, 2], classes)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert again.classes_ == model.classes_
    assert again.labelled_ == model.labelled_ == dict(zip([0, 1, 2], classes, strict=True))
    assert again.given_in(graph) == model.labelled_
    np.testing.assert_array_equal(again.predict_proba(graph), model.predict_proba(graph))


def test_saving_twice_replaces_the_model(graph: Graph, tmp_path: Path) -> None:
    for classes in (["a", "b"], ["c", "d"]):
        save_model(GCN(epochs=1).fit(graph, [0, 1], classes), tmp_path / "model")
    assert load_model(tmp_path / "model").classes_ == ("c", "d")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_how_many_labels_a_model_is_of_where_it_says_so(graph: Graph, tmp_path: Path) -> None:
    assert n_labels_in(tmp_path / "model") is None
    save_model(GraphRidge().fit(graph, [0, 1, 2], ["a", "b", "b"]), tmp_path / "model")
    assert n_labels_in(tmp_path / "model") == 3
    for text in ("{}", '{"labelled": []}', '{"labelled": 3}', "[]", "{"):
        (tmp_path / "model" / "model.json").write_text(text)
        assert n_labels_in(tmp_path / "model") is None


def test_a_folder_with_other_things_is_left_alone(graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match=r"must be a new folder or one that holds a model only; found notes.txt"):
        save_model(GCN(epochs=1).fit(graph, [0, 1], ["a", "b"]), tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("weight", [np.nan, np.inf, 3e38])
@pytest.mark.parametrize("model", [GCN(epochs=1), SGC(epochs=1)])
def test_weights_that_give_no_probability_are_told(weight: float, model: NodeClassifier, graph: Graph) -> None:
    model.fit(graph, [0, 1], ["a", "b"])
    model.restore({name: np.full_like(values, weight) for name, values in model.tensors().items()})
    with pytest.raises(ModelError, match="The model must give probabilities; found numbers that are not finite"):
        model.predict_proba(graph)


@pytest.mark.parametrize(
    ("model", "name"), [(GCN(epochs=1), "weight1"), (GCN(epochs=1), "weight2"), (SGC(epochs=1), "weight")]
)
@pytest.mark.parametrize("change", [lambda values: values.T, np.ravel, np.float64], ids=["turned", "flat", "wide"])
def test_weights_of_another_shape_or_type_are_refused(
    model: NodeClassifier, name: str, change: Callable[..., Any], graph: Graph, tmp_path: Path
) -> None:
    save_model(model.fit(graph, [0, 1], ["a", "b"]), tmp_path / "model")
    weights = tmp_path / "model" / "weights.safetensors"
    tensors = load_file(weights)
    save_file(tensors | {name: np.ascontiguousarray(change(tensors[name]))}, weights)
    with pytest.raises(
        ModelError, match=f"must be an undamaged model of this version; found this: {name} that are not"
    ):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("model", [GCN(epochs=1), SGC(epochs=1), GraphRidge()])
def test_a_class_that_is_there_twice(model: NodeClassifier, graph: Graph, tmp_path: Path) -> None:
    save_model(model.fit(graph, [0, 1, 2], ["a", "b", "c"]), tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"classes": ["a", "a", "b"]}))
    with pytest.raises(ModelError, match="must be an undamaged model of this version; found this: a class that is"):
        load_model(tmp_path / "model")


def test_class_names_that_json_cannot_hold(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="must be text, numbers, dates or tuples; found <object"):
        save_model(GCN(epochs=1).fit(graph, [0, 1], [object(), "b"]), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_numbers_of_numpy_are_settings_too(graph: Graph, tmp_path: Path) -> None:
    save_model(GCN(epochs=np.int64(3), dropout=np.float32(0.5)).fit(graph, [0, 1], ["a", "b"]), tmp_path / "model")
    assert load_model(tmp_path / "model").get_params()["epochs"] == 3


def test_a_subclass_without_a_name_of_its_own_is_not_saved_as_its_parent(graph: Graph, tmp_path: Path) -> None:
    class Mine(GCN):
        pass

    with pytest.raises(ParameterError, match="must be registered under a name of its own to be saved; found Mine"):
        save_model(Mine(epochs=1).fit(graph, [0, 1], ["a", "b"]), tmp_path / "model")


@pytest.mark.parametrize("litter", [".DS_Store", "Thumbs.db"])
def test_what_a_file_browser_leaves_does_not_count(graph: Graph, tmp_path: Path, litter: str) -> None:
    model = GCN(epochs=1).fit(graph, [0, 1], ["a", "b"])
    save_model(model, tmp_path / "model")
    (tmp_path / "model" / litter).write_bytes(b"\0")
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").classes_ == ("a", "b")


def test_an_unknown_kind_of_model_lists_the_known_ones(graph: Graph, tmp_path: Path) -> None:
    save_model(GCN(epochs=1).fit(graph, [0, 1], ["a", "b"]), tmp_path / "model")
    description = json.loads((tmp_path / "model" / "model.json").read_text())
    (tmp_path / "model" / "model.json").write_text(json.dumps({**description, "model": "gat"}))
    with pytest.raises(ValueError, match="model must be one of gcn, ridge, sgc; found 'gat'"):
        load_model(tmp_path / "model")


def test_an_unfitted_model_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="must be fitted before it is saved"):
        save_model(GCN(), tmp_path / "model")


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
    save_model(GraphRidge().fit(graph, [0, 1], ["a", "b"]), tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"labelled": labelled}))
    with pytest.raises(ModelError, match="must be an undamaged model of this version"):
        load_model(tmp_path / "model")


def test_ids_that_json_cannot_hold(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = Graph.from_scipy(np.eye(3), np.eye(3), ids=[object(), object(), "c"])
    save_model(GraphRidge().fit(graph, graph.ids[:2], ["a", "b"]), tmp_path / "model")
    assert load_model(tmp_path / "model").labelled_ == {}
    assert "The model is saved without the labels it was trained on: Names of nodes" in caplog.text


def test_labels_are_not_those_of_another_graph_with_the_same_ids(graph: Graph) -> None:
    model = GraphRidge().fit(graph, [0, 1, 2], ["a", "b", "b"])
    other = Graph.from_scipy(graph.adjacency, np.random.default_rng(1).normal(size=(12, 3)))
    assert model.given_in(other) == {}
    features = graph.features.copy()
    features[0] = 7
    changed = Graph.from_scipy(graph.adjacency, sp.csr_array(features))
    assert model.given_in(changed) == {0: "a", 1: "b", 2: "b"}
    smaller = Graph.from_scipy(np.zeros((2, 2)), graph.features[1:3], ids=[1, 99])
    assert model.given_in(smaller) == {1: "b"}


def test_numbers_in_a_table_that_may_be_other_nodes_are_said(caplog: pytest.LogCaptureFixture) -> None:
    def numbered(weights: list[int], ids: Any = range(1, 7)) -> Graph:
        nodes = pd.DataFrame({"id": list(ids), "weight": weights})
        return Graph.from_tables(nodes, pd.DataFrame({"source": [ids[0]], "target": [ids[1]]}))

    model = GraphRidge().fit(numbered([1, 2, 3, 11, 12, 14]), [1, 4], ["a", "b"])
    for weights, said in ([14, 12, 11, 3, 2, 1], 1), ([1, 2, 3, 9, 12, 14], 0):
        caplog.clear()
        assert model.given_in(numbered(weights)) == {1: "a", 4: "b"}
        assert caplog.text.count("None of the 2 nodes whose labels the model was trained on has the features") == said
    names = [*"abcdef"]
    named = GraphRidge().fit(numbered([1, 2, 3, 11, 12, 14], names), ["a", "d"], ["a", "b"])
    caplog.clear()
    assert named.given_in(numbered([14, 12, 11, 3, 2, 1], names)) == {"a": "a", "d": "b"}
    assert "None of" not in caplog.text


def test_one_class_is_kept_too(graph: Graph) -> None:
    assert GraphRidge().fit_or_start(graph, [3, 4], ["a", "a"]).labelled_ == {3: "a", 4: "a"}
