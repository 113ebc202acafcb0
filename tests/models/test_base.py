"""What every model shares: scikit-learn's conventions, the forms of labels, scores and cross-validation."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import PredefinedSplit
from sklearn.model_selection import cross_validate as sklearn_cross_validate

import featprop as fp
from featprop.errors import LabelError, ParameterError
from featprop.models import NodeClassifier, cross_validate
from featprop.models.cross_validation import stratified_folds
from featprop.propagation import Propagation
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


class NodesAsRows(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier whose rows are the ids of nodes."""

    def __init__(self, graph: Any = None) -> None:
        self.graph = graph

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "NodesAsRows":
        self.classes_ = np.unique(y)
        self.model_ = fp.GraphRidge().fit(self.graph, X[:, 0].tolist(), y.tolist())
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.model_.predict(self.graph)[self.graph.positions(X[:, 0].tolist())].astype(int)


def test_cross_validate_equals_that_of_scikit_learn() -> None:
    graph = fp.datasets.digits()
    labels = {node: int(graph.class_names()[node]) for node in range(0, 600, 6)}
    found = cross_validate(graph, labels, cv=4, random_state=3)
    folds = stratified_folds(list(labels), np.array(list(labels.values())), 4, seed=3)
    rows, y = np.array(list(labels))[:, None], np.array(list(labels.values()))
    expected = sklearn_cross_validate(NodesAsRows(graph.without_labels()), rows, y, cv=PredefinedSplit(folds))
    assert found.keys() == expected.keys()
    np.testing.assert_allclose(found["test_score"], expected["test_score"])
    assert (found["fit_time"] > 0).all()
    assert found["test_score"].mean() > 0.7


def test_cross_validate_by_hand(signs: fp.Graph) -> None:
    """The model does not learn: only c, a positive label on a negative feature, is predicted wrongly."""
    found = cross_validate(signs, model=FirstColumn(), cv=5)
    assert sorted(found["test_score"].tolist()) == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("cv", [1, 6])
def test_number_of_folds(signs: fp.Graph, cv: int) -> None:
    with raises(ParameterError, parameter="cv", value=cv):
        cross_validate(signs, cv=cv)
