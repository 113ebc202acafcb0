"""One contract over every registered model."""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from featprop.errors import ModelError, ParameterError
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.models import NodeClassifier, available_models, get_model, load_model, save_model
from tests.graphs import class_graph, edgeless, labels_at
from tests.helpers import raises

OPTIONS: dict[str, dict[str, Any]] = {"gcn": {"hidden": 5, "epochs": 40}, "sgc": {"epochs": 40}, "ridge": {}}
"""Short trainings."""


@pytest.fixture(params=available_models())
def model(request: pytest.FixtureRequest) -> NodeClassifier:
    return get_model(request.param, **OPTIONS[request.param])


@pytest.fixture(scope="module")
def graph() -> Graph:
    return class_graph(40, 2, within=0.3, between=0.02, signal=2.0)


@pytest.fixture
def fitted(model: NodeClassifier, graph: Graph) -> NodeClassifier:
    return model.fit(graph, range(6), labels_at(graph, range(6)))


def test_scikit_learn_conventions(model: NodeClassifier, line: Graph) -> None:
    assert is_classifier(model)
    assert not is_regressor(model)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(model, "classes_")
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert model.fit(line, ["a", "c"], ["left", "right"]) is model
    check_is_fitted(model)
    assert isinstance(model.classes_, np.ndarray)
    assert model.classes_.tolist() == ["left", "right"]
    assert model.n_features_in_ == 2
    assert not clone(model).is_fitted
    assert model.set_params(**model.get_params()) is model


@pytest.mark.parametrize("sparse", [False, True])
def test_classes_are_separated(model: NodeClassifier, sparse: bool) -> None:
    graph = class_graph(40, 2, within=0.3, between=0.02, signal=2.5, sparse=sparse)
    model.fit(graph, range(12), labels_at(graph, range(12)))
    assert (model.predict(graph) == np.array(graph.class_names())).mean() > 0.85
    probabilities = model.predict_proba(graph)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(graph))
    assert model.representation(graph).shape[0] == 40
    assert np.isfinite(dense(model.representation(graph))).all()


def test_training_is_reproducible_and_leaves_global_generators_alone(fitted: NodeClassifier, graph: Graph) -> None:
    before = torch.random.get_rng_state()
    again = clone(fitted).fit(graph, range(6), labels_at(graph, range(6)))
    np.testing.assert_array_equal(again.predict_proba(graph), fitted.predict_proba(graph))
    assert torch.equal(before, torch.random.get_rng_state())


CLASSES: list[list[Any]] = [["a", "b", "ü"], [3, 1, 2], [(0, "a"), 1.5, "1.5"], [dt.date(2026, 11, 16), True, 2]]


@pytest.mark.parametrize("classes", CLASSES, ids=repr)
def test_saved_model_comes_back(model: NodeClassifier, classes: list[Any], graph: Graph, tmp_path: Path) -> None:
    model.fit(graph, [0, 1, 2], classes)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert again.class_names_ == model.class_names_
    assert again.labelled_ == model.labelled_ == dict(zip([0, 1, 2], classes, strict=True))
    assert again.training_labels_in(graph) == model.labelled_
    np.testing.assert_array_equal(again.predict_proba(graph), model.predict_proba(graph))
    assert set(again.predict(graph).tolist()) <= set(classes)


def test_cold_start_predicts_the_only_class_and_can_be_saved(
    model: NodeClassifier, line: Graph, tmp_path: Path
) -> None:
    model.fit(line, ["a", "c"], ["left", "left"], cold_start=True)
    save_model(model, tmp_path / "model")
    for each in (model, load_model(tmp_path / "model")):
        assert each.predict(line).tolist() == ["left"] * 5
        assert each.predict_proba(line).tolist() == [[1.0]] * 5
        np.testing.assert_array_equal(each.representation(line), model.representation(line))
        assert each.labelled_ == {"a": "left", "c": "left"}


def test_unfitted_model_neither_predicts_nor_is_saved(model: NodeClassifier, line: Graph, tmp_path: Path) -> None:
    for call in (lambda: model.predict(line), lambda: save_model(model, tmp_path / "model")):
        with pytest.raises(ModelError):
            call()
    assert not list(tmp_path.iterdir())


def test_graph_with_other_columns_is_refused(fitted: NodeClassifier) -> None:
    with raises(ModelError, value=2):
        fitted.predict(edgeless(np.eye(2)))


def test_failed_training_leaves_the_model_unchanged(
    fitted: NodeClassifier, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, fresh = fitted.predict_proba(graph), clone(fitted)
    monkeypatch.setattr(type(fitted), "learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    for each in (fitted, fresh):
        with pytest.raises(KeyboardInterrupt):
            each.fit(graph, [0, 1, 2], ["x", "y", "z"])
    assert fitted.class_names_ == ("a", "b")
    np.testing.assert_array_equal(fitted.predict_proba(graph), before)
    assert not fresh.is_fitted


@pytest.mark.parametrize("damage", ["changed", "missing", "description"])
def test_changed_content_is_refused(damage: str, fitted: NodeClassifier, tmp_path: Path) -> None:
    save_model(fitted, tmp_path / "model")
    with safe_open(tmp_path / "model", framework="np") as file:
        metadata, arrays = file.metadata(), {name: file.get_tensor(name) for name in fitted.state_dict()}
    name = next(iter(arrays))
    if damage == "changed":
        arrays[name] = arrays[name] * 2
    elif damage == "missing":
        del arrays[name]
    else:
        metadata["featprop"] = metadata["featprop"].replace('"classes": ["a", "b"]', '"classes": ["b", "a"]')
    save_file(arrays, tmp_path / "model", metadata)
    with raises(ModelError, path=tmp_path / "model"):
        load_model(tmp_path / "model")


def test_subclass_without_a_name_is_not_saved_as_its_parent(
    model: NodeClassifier, graph: Graph, tmp_path: Path
) -> None:
    mine = type("Mine", (type(model),), {})(**model.get_params())
    with raises(ParameterError):
        save_model(mine.fit(graph, [0, 1], ["a", "b"]), tmp_path / "model")


INVALID = [
    ("ridge", "alpha", 0),
    ("ridge", "features", "three-hops"),
    ("sgc", "layers", -1),
    ("gcn", "dropout", 1.0),
    ("gcn", "learning_rate", float("inf")),
    ("gcn", "random_state", 2**64),
    ("gcn", "device", "abacus"),
]


@pytest.mark.parametrize(("name", "parameter", "value"), INVALID)
def test_invalid_parameter_is_refused(name: str, parameter: str, value: Any, line: Graph) -> None:
    with raises(ParameterError, parameter=parameter, value=value):
        get_model(name).set_params(**{parameter: value}).fit(line, ["a", "c"], ["left", "right"])
