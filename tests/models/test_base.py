"""What every model shares: scikit-learn's conventions, the forms of labels, scores and cross-validation."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import featprop as fp
from featprop.errors import LabelError, ModelError, ParameterError
from featprop.models import GCN, NodeClassifier, cross_val_score, register_model
from featprop.propagation import Propagation
from tests.graphs import edgeless
from tests.helpers import raises


class FirstColumn(NodeClassifier):
    """Predicts the second class wherever the first feature is positive, whatever it learns."""

    def learn(self, propagation: Propagation, nodes: NDArray[Any], targets: NDArray[Any]) -> None:
        self.learnt = nodes.tolist(), targets.tolist()

    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        positive = np.asarray(propagation.graph.features)[:, 0] > 0
        return np.stack([~positive, positive], axis=1).astype(np.float32)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        return {}

    def load_state_dict(self, state: Any) -> None:
        """Nothing is learnt."""


@pytest.fixture
def signs() -> fp.Graph:
    """Six nodes without edges; features -1, -1, -1, 1, 1, 1; labels no, no, yes, yes, yes, unknown."""
    features = np.array([[-1.0], [-1], [-1], [1], [1], [1]])
    return fp.Graph.from_scipy(
        sp.csr_array((6, 6)), features, ids=list("abcdef"), labels=["no", "no", "yes", "yes", "yes", None]
    )


def test_fit_on_a_mapping_equals_fit_on_nodes_and_labels(line: fp.Graph) -> None:
    expected = fp.GraphRidge().fit(line, ["a", "b", "e"], ["x", "y", "y"]).predict_proba(line)
    labels = {"e": "y", "a": "x", "b": "y"}
    for arguments in ((labels,), (None, labels), (["a", "b", "e"], labels)):
        np.testing.assert_allclose(fp.GraphRidge().fit(line, *arguments).predict_proba(line), expected, atol=1e-6)


def test_fit_uses_the_labels_of_the_graph_by_default(signs: fp.Graph) -> None:
    model = FirstColumn().fit(signs)
    assert model.learnt == ([0, 1, 2, 3, 4], [0, 0, 1, 1, 1])
    assert model.labelled_ == {"a": "no", "b": "no", "c": "yes", "d": "yes", "e": "yes"}
    assert FirstColumn().fit(signs, ["b", "d"]).labelled_ == {"b": "no", "d": "yes"}


@pytest.mark.parametrize(
    ("nodes", "labels", "fields"),
    [
        (["a", "b"], ["x"], {"parameter": "labels", "value": 1}),
        (["a", "b", "a"], ["x", "y", "x"], {"parameter": "nodes", "node": "a"}),
        (["a", "c"], ["x", "x"], {"parameter": "labels", "value": ("x",)}),
        ([], [], {"parameter": "labels", "value": ()}),
        (None, ["x", "y"], {"parameter": "nodes"}),
        (["a", "f"], None, {"parameter": "labels", "node": "f"}),
        (["a", "b"], {"a": "x"}, {"parameter": "labels", "node": "b"}),
    ],
)
def test_invalid_labels(signs: fp.Graph, nodes: Any, labels: Any, fields: dict[str, Any]) -> None:
    with raises(LabelError, **fields):
        FirstColumn().fit(signs, nodes, labels)


def test_a_graph_without_labels_needs_labels(signs: fp.Graph) -> None:
    with raises(LabelError, parameter="labels"):
        FirstColumn().fit(signs.without_labels())


def test_cold_start_needs_one_label(signs: fp.Graph) -> None:
    assert FirstColumn().fit(signs, {"a": "no"}, cold_start=True).predict(signs).tolist() == ["no"] * 6
    with raises(LabelError, parameter="labels", value=()):
        FirstColumn().fit(signs, {}, cold_start=True)


def test_score_by_hand(signs: fp.Graph) -> None:
    """The model predicts no, no, no, yes, yes, yes."""
    model = FirstColumn().fit(signs, {"a": "no", "d": "yes"})
    assert model.score(signs, ["b", "c", "e", "f"], ["no", "yes", "yes", "no"]) == 0.5
    assert model.score(signs, {"c": "no", "f": "no", "e": "yes"}) == pytest.approx(2 / 3)
    assert model.score(signs, ["a", "c"]) == 0.5
    assert model.score(signs) == pytest.approx(2 / 3), "b, c and e: a and d were trained on"
    with raises(LabelError, parameter="labels"):
        model.score(signs, {})
    with raises(LabelError, parameter="labels"):
        FirstColumn().fit(signs).score(signs)


def test_cross_validation_by_hand(signs: fp.Graph) -> None:
    """The model does not learn: only c, a positive label on a negative feature, is predicted wrongly."""
    assert sorted(cross_val_score(signs, model=FirstColumn(), cv=5).tolist()) == [0, 1, 1, 1, 1]


def test_cross_validation_hides_the_labels_of_a_fold() -> None:
    """Each node has a different feature, which says nothing about the others."""
    graph, labels = edgeless(np.eye(30)), dict(enumerate("ab" * 15))
    assert GCN().fit(graph, labels).score(graph, labels) == 1
    assert cross_val_score(graph, labels, GCN(), cv=3, random_state=1).mean() < 0.8


@pytest.mark.parametrize("cv", [1, 6])
def test_number_of_folds(signs: fp.Graph, cv: int) -> None:
    with raises(ParameterError, parameter="cv", value=cv):
        cross_val_score(signs, cv=cv)


def test_set_params_and_repr() -> None:
    with raises(ParameterError, parameter="hiden") as caught:
        GCN().set_params(hiden=3)
    assert "'hidden'" in caught.value.hint
    assert repr(GCN(hidden=8).set_params(epochs=3)) == "GCN(hidden=8, epochs=3)"


def test_diverging_training_is_an_error(line: fp.Graph) -> None:
    with pytest.raises(ModelError):
        GCN(learning_rate=1e38, epochs=20).fit(line, ["a", "c"], ["left", "right"])


def test_only_models_can_be_registered() -> None:
    with pytest.raises(TypeError):
        register_model("zzz")(dict)  # type: ignore[type-var]
