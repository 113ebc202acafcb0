"""Estimates without an audit: by hand, against refitting, and on graphs with known labels."""

from collections.abc import Callable

import numpy as np
import pytest

import featprop as fp
from featprop.errors import LabelError, ParameterError
from featprop.evaluate import estimate
from featprop.evaluate.cross_validation import cross_validate
from featprop.evaluate.estimate import _accuracy_and_f1
from featprop.graph import Graph
from tests.evaluate.models import NearestMean
from tests.graphs import edgeless
from tests.helpers import raises

Groups = Callable[..., tuple[Graph, list[str]]]


def fitted(graph: Graph, truth: list[str], nodes: list[int]) -> fp.GraphRidge:
    return fp.GraphRidge().fit(graph, nodes, [truth[node] for node in nodes])


def test_expected_accuracy_and_f1_by_hand() -> None:
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    right, f1 = _accuracy_and_f1(probabilities)
    assert right == pytest.approx(2.3 / 3)
    # class 0: 1.5 hits, 2 named, 1.7 there; class 1: 0.8 hits, 1 named, 1.3 there
    assert f1 == pytest.approx((3 / 3.7 + 1.6 / 2.3) / 2)


def test_estimate_is_the_mean_confidence(groups: Groups) -> None:
    graph, truth = groups(1.0)
    model = fitted(graph, truth, list(range(50)))
    found = estimate(graph, model)
    assert found.accuracy.value == pytest.approx(float(model.predict_proba(graph)[50:].max(axis=1).mean()), abs=1e-6)
    assert model.held_out_proba_ is not None
    codes = [model.class_names_.index(name) for name in truth[:50]]
    assert found.cv_accuracy == pytest.approx(np.mean(model.held_out_proba_.argmax(axis=1) == codes))


def test_ten_labels_are_left_out_one_by_one(groups: Groups) -> None:
    graph, truth = groups(0.4)
    nodes = [4, 8, 15, 16, 23, 42, 99, 100, 200, 250]
    model = fitted(graph, truth, nodes)
    found = cross_validate(graph, model)
    assert found.positions.tolist() == nodes
    for place, node in enumerate(nodes):
        others = [other for other in nodes if other != node]
        again = fitted(graph, truth, others)
        expected = again.decision_function(graph)[node]
        columns = [model.class_names_.index(name) for name in again.class_names_]
        np.testing.assert_allclose(found.scores[place, columns], expected, rtol=1e-4, atol=1e-5)


def test_only_label_of_a_class_has_no_held_out_score(groups: Groups) -> None:
    graph, truth = groups(0.4)
    lone = truth.index("class 2")
    nodes = [*[node for node in range(60) if truth[node] != "class 2"][:12], lone]
    found = cross_validate(graph, fitted(graph, truth, nodes))
    assert np.isneginf(found.scores[-1, 2])
    assert not found.right[-1]


@pytest.mark.parametrize("noise", [0.3, 1.6])
def test_estimate_is_close_to_known_accuracy(groups: Groups, noise: float) -> None:
    errors, held = [], []
    for seed in range(4):
        graph, truth = groups(noise, seed)
        nodes = np.random.default_rng(seed).permutation(300)[:60].tolist()
        model = fitted(graph, truth, nodes)
        found = estimate(graph, model)
        others = np.setdiff1d(np.arange(300), nodes)
        share = float(np.mean(model.predict(graph)[others] == np.array(truth)[others]))
        errors.append(found.accuracy.value - share)
        held.append(found.accuracy.contains(share))
    assert abs(np.mean(errors)) < 0.08
    assert np.mean(held) >= 0.65


def test_sample_of_many_nodes_ignores_their_order() -> None:
    n = 12_000
    codes = np.arange(n) % 2
    rows = np.eye(2)[codes] + 0.6 * np.random.default_rng(0).normal(size=(n, 2))
    graph = edgeless(rows.astype(np.float32))
    found = estimate(graph, fitted(graph, [str(code) for code in codes], list(range(60))))
    assert found.macro_f1.value == pytest.approx(found.accuracy.value, abs=0.02)


def test_labels_of_the_graph_and_order_of_nodes_do_not_matter(groups: Groups) -> None:
    graph, truth = groups(0.8)
    nodes = list(range(50))
    plain = estimate(graph, fitted(graph, truth, nodes))
    marked = Graph.from_scipy(graph.adjacency, graph.features, labels=truth)
    assert estimate(marked, fitted(graph, truth, nodes)) == plain
    order = np.random.default_rng(1).permutation(300)
    turned = Graph.from_scipy(graph.adjacency[order][:, order], graph.features[order], ids=order.tolist())
    again = estimate(turned, fitted(turned, truth, nodes))
    assert again.accuracy.value == pytest.approx(plain.accuracy.value, abs=2e-3)


def test_other_models_are_cross_validated(groups: Groups) -> None:
    graph, truth = groups(0.5)
    model = NearestMean().fit(graph, list(range(40)), truth[:40])
    found = estimate(graph, model)
    assert 0.5 < found.accuracy.value <= 1
    assert found.cv_accuracy == cross_validate(graph, model).right.mean()


def test_too_few_labels_one_class_and_fully_labelled_graphs_are_refused(groups: Groups) -> None:
    graph, truth = groups(0.5, n=40)
    with raises(ParameterError, parameter="graph"):
        estimate(graph, fitted(graph, truth, list(range(40))))
    one = [node for node in range(40) if truth[node] == "class 0"]
    started = fp.GraphRidge().fit(graph, one, ["class 0"] * len(one), cold_start=True)
    with raises(LabelError, value=len(one)):
        estimate(graph, started)
    with raises(LabelError, value=9):
        estimate(graph, fitted(graph, truth, list(range(9))))
