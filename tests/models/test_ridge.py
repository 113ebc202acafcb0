"""GraphRidge against scikit-learn on the same rows, and on graphs of all shapes."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.kernel_ridge import KernelRidge

from featprop.compute.reduction import MAX_COLUMNS
from featprop.graph import Graph
from featprop.models import GraphRidge, load_model, save_model
from featprop.models.calibration import inverse_temperature, label_smoothing, model_weights
from featprop.models.cross_validation import stratified_folds
from featprop.models.ridge import PRIOR
from featprop.propagation import FEATURE_SETS
from tests.graphs import class_graph, edgeless, labels_at

ByHand = Callable[..., np.ndarray]


def fitted(graph: Graph, n_labels: int = 12, **options: Any) -> GraphRidge:
    nodes = np.arange(n_labels)
    return GraphRidge(**options).fit(graph, graph.ids[nodes], labels_at(graph, nodes))


def accuracy(model: GraphRidge, graph: Graph) -> float:
    return float(np.mean(model.predict(graph) == np.array(graph.class_names())))


def kernel_of(rows: np.ndarray) -> np.ndarray:
    return rows @ rows.T + 0.1


def aims_of(targets: np.ndarray) -> np.ndarray:
    return np.eye(targets.max() + 1)[targets] - 1 / (targets.max() + 1)


def weights_of(targets: np.ndarray) -> np.ndarray:
    counts = np.bincount(targets)
    return (len(targets) / len(counts) / counts[targets]) ** 0.75


def kernel_ridge(kernel: np.ndarray, targets: np.ndarray, weights: np.ndarray, penalty: float) -> KernelRidge:
    return KernelRidge(alpha=penalty, kernel="precomputed").fit(kernel, targets, sample_weight=weights)


def solve_by_hand(rows: np.ndarray, targets: np.ndarray, known: np.ndarray, self_training: float) -> Any:
    """Return a function from rows to scores of the classes that have labels: kernel ridge, once or twice."""
    seen, codes = np.unique(targets, return_inverse=True)
    goals, weights = aims_of(codes), weights_of(codes)
    first = kernel_ridge(kernel_of(rows), goals, weights, 1.0)
    if not self_training:
        return lambda asked: first.predict(asked @ rows.T + 0.1), seen
    scores = first.predict(known @ rows.T + 0.1)
    ranked = np.sort(scores, axis=1)
    means, predicted = [], []
    for code in np.unique(scores.argmax(axis=1)):
        members = np.flatnonzero(scores.argmax(axis=1) == code)
        margins = (ranked[:, -1] - ranked[:, -2])[members]
        means.append(known[members[np.argsort(-margins, kind="stable")[: -(-len(members) // 2)]]].mean(axis=0))
        predicted.append(code)
    learnt = np.vstack([rows, means])
    weights = np.concatenate([weights, np.full(len(means), self_training * len(codes) / len(seen))])
    goals = np.vstack([goals, aims_of(np.arange(len(seen)))[predicted]])
    second = kernel_ridge(kernel_of(learnt), goals, weights, 1.0)
    return lambda asked: second.predict(asked @ learnt.T + 0.1), seen


def held_out_by_hand(graph: Graph, rows: np.ndarray, n_labels: int, self_training: float) -> np.ndarray:
    """Return the scores of each label from a fit without its fold, which leaves it out of everything."""
    targets = graph.labels[:n_labels]
    folds = stratified_folds(graph.ids[:n_labels].tolist(), targets)
    found = np.full((n_labels, 3), -np.inf)
    for fold in range(folds.max() + 1):
        out = np.flatnonzero(folds == fold)
        kept = np.flatnonzero(folds != fold)
        solve, seen = solve_by_hand(rows[kept], targets[kept], rows[rows.any(axis=1)], self_training)
        found[np.ix_(out, seen)] = solve(rows[out])
    return found


@pytest.mark.parametrize("name", FEATURE_SETS)
@pytest.mark.parametrize("self_training", [0, 0.7, 1.0])
@pytest.mark.parametrize("n_labels", [8, 12, 60], ids=["few labels", "more", "more than columns"])
def test_one_feature_set_is_kernel_ridge_calibrated_on_held_out_labels(
    features_by_hand: ByHand, name: Any, self_training: float, n_labels: int
) -> None:
    graph = class_graph(seed=n_labels)
    model = fitted(graph, n_labels, features=name, self_training=self_training)
    rows, targets = features_by_hand(graph, name), graph.labels[:n_labels]
    solve, _ = solve_by_hand(rows[:n_labels], targets, rows[rows.any(axis=1)], self_training)
    held_out = held_out_by_hand(graph, rows, n_labels, self_training)
    tau = inverse_temperature(np.maximum(held_out, -1), targets)
    smoothing = label_smoothing(n_labels, 3)
    assert model.weights_ == {name: 1}
    assert model.inverse_temperatures_[name] == pytest.approx(tau, rel=0.06), "one step of the grid at most"
    tau = model.inverse_temperatures_[name]
    expected = (1 - smoothing) * softmax(tau * solve(rows), axis=1) + smoothing / 3
    np.testing.assert_allclose(model.predict_proba(graph), expected, atol=2e-3)
    np.testing.assert_allclose(np.exp(model.decision_function(graph)), model.predict_proba(graph), atol=1e-6)
    expected = (1 - smoothing) * softmax(tau * held_out, axis=1) + smoothing / 3
    np.testing.assert_allclose(model.held_out_proba_, expected, atol=2e-3)


@pytest.mark.parametrize("alike", [0.03, 0.2])
def test_feature_sets_are_averaged_by_their_held_out_log_scores(features_by_hand: ByHand, alike: float) -> None:
    graph, n_labels = class_graph(within=alike), 10
    model = fitted(graph, n_labels)
    targets, logs, singles = graph.labels[:n_labels], [], []
    for name in FEATURE_SETS:
        held_out = held_out_by_hand(graph, features_by_hand(graph, name), n_labels, 1.0)
        tau = inverse_temperature(np.maximum(held_out, -1), targets)
        logs.append(np.log(softmax(tau * held_out, axis=1)[np.arange(n_labels), targets]))
        singles.append(fitted(graph, n_labels, features=name).predict_proba(graph))
    expected = model_weights(np.array(logs).T, np.array([PRIOR[name] for name in FEATURE_SETS]))
    weights = [model.weights_.get(name, 0) for name in FEATURE_SETS]
    assert weights == pytest.approx(expected.tolist(), abs=0.03)
    mixed = sum(weight * single for weight, single in zip(weights, singles, strict=True))
    np.testing.assert_allclose(model.predict_proba(graph), mixed, atol=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_feature_sets_win_by_how_neighbours_are(seed: int) -> None:
    alike = fitted(class_graph(signal=0.8, seed=seed), 30)
    assert alike.weights_.get("own", 0) < 0.1
    assert f"{1 - alike.weights_.get('own', 0):.2f}" in str(alike.evidence())
    graph = class_graph(within=0.0, between=0.1, signal=3.0, seed=seed)
    differing = fitted(graph, 30)
    assert differing.weights_["own"] > 0.8
    assert f"{differing.weights_['own']:.2f}" in str(differing.evidence())
    assert accuracy(differing, graph) > 0.9


def test_evidence_needs_enough_labels() -> None:
    graph = class_graph()
    assert fitted(graph, 14).evidence() is None
    assert fitted(graph, 15).evidence() is not None
    assert fitted(graph, 30, features="own").evidence() is None


@pytest.mark.parametrize(
    ("weights", "shown"),
    [
        ({"own": 0.04, "diffused": 0.9, "two-hops": 0.06}, ["0.96"]),
        ({"own": 0.2, "diffused": 0.8}, ["0.20", "0.80"]),
        ({"own": 0.8, "diffused": 0.2}, ["0.80", "0.20"]),
        ({"own": 0.96, "diffused": 0.04}, ["0.96"]),
        ({"diffused": 0.3, "structure": 0.7}, ["0.70", "0.30"]),
        ({"diffused": 0.05, "structure": 0.95}, ["0.95"]),
    ],
)
def test_evidence_is_mixed_unless_a_weight_is_clear(weights: dict[str, float], shown: list[str]) -> None:
    """On a graph without any signal a weight of 0.8 is common."""
    model = fitted(class_graph(), 20)
    model.weights_ = weights
    assert re.findall(r"\d\.\d\d", str(model.evidence())) == shown


@pytest.mark.parametrize("seed", range(2))
def test_structure_wins_if_features_are_noise_and_loses_if_edges_are(seed: int, tmp_path: Path) -> None:
    graph = class_graph(n=240, signal=0.0, within=0.1, between=0.005, seed=seed)
    graph = replace(graph, features=graph.features[:, :1])
    model, plain = fitted(graph, 30, structure=True), fitted(graph, 30)
    assert model.weights_["structure"] > 0.8
    assert f"{model.weights_['structure']:.2f}" in str(model.evidence())
    assert accuracy(model, graph) > 0.9 > accuracy(plain, graph) + 0.2
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(graph), model.predict_proba(graph))
    random_edges = class_graph(within=0.05, between=0.05, signal=3.0, seed=seed)
    assert fitted(random_edges, 30, structure=True).weights_.get("structure", 0) < 0.1


def test_one_label_per_class_leaves_the_prior_weights() -> None:
    graph = class_graph()
    assert fitted(graph, 3).weights_ == pytest.approx({name: PRIOR[name] for name in FEATURE_SETS})
    assert accuracy(fitted(graph, 3), graph) > 0.6


def test_a_class_with_one_label_is_predicted() -> None:
    graph = class_graph(n=120, signal=2.5)
    nodes = np.array([2, *np.flatnonzero(graph.labels != 2)[:20]])
    model = GraphRidge().fit(graph, nodes, labels_at(graph, nodes))
    third = np.flatnonzero(graph.labels == 2)
    assert np.mean(model.predict(graph)[third] == "c") > 0.8


def test_more_labels_raise_accuracy_and_confidence() -> None:
    graphs = [class_graph(n=400, within=0.02, signal=0.8, seed=seed) for seed in range(5)]
    few, many = ([fitted(graph, n_labels) for graph in graphs] for n_labels in (6, 120))
    right = [[accuracy(model, graph) for model, graph in zip(models, graphs, strict=True)] for models in (few, many)]
    assert np.mean(right[0]) < np.mean(right[1]) - 0.1
    sure = [model.predict_proba(graph).max(axis=1).mean() for model, graph in zip(many, graphs, strict=True)]
    assert np.mean(sure) == pytest.approx(np.mean(right[1]), abs=0.08)


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_node_order_does_not_matter(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(50)
    graph, permuted = class_graph(n=50, seed=seed), class_graph(n=50, seed=seed, order=order)
    nodes = np.arange(12)
    model, other = (GraphRidge().fit(each, nodes, labels_at(graph, nodes)) for each in (graph, permuted))
    np.testing.assert_allclose(other.predict_proba(permuted), model.predict_proba(graph)[order], atol=1e-4)
    np.testing.assert_array_equal(other.predict(permuted), model.predict(graph)[order])


def empty(n: int) -> sp.csr_array:
    return sp.csr_array((n, n))


NOISE = np.random.default_rng(3).normal(size=(30, 4))
RING = sp.csr_array((np.ones(30), (np.arange(30), (np.arange(30) + 1) % 30)), shape=(30, 30))
ODD = {
    "no features at all": (RING, np.zeros((30, 4))),
    "constant features and no edges": (empty(30), np.ones((30, 1))),
    "no edges": (empty(30), NOISE),
    "some nodes alone": (sp.block_diag([RING[:20, :20], empty(10)]), NOISE),
    "nodes without features": (RING, NOISE * (np.arange(30) % 3 > 0)[:, None]),
    "a node alone and without features": (sp.block_diag([RING[:29, :29], empty(1)]), np.vstack([NOISE[1:], [[0] * 4]])),
    "equal nodes": (empty(30), np.repeat(np.eye(3), 10, axis=0)),
    "every edge": (np.ones((30, 30)), NOISE),
    "heavy edges": (RING * 1e6, NOISE),
    "one outlier": (RING, np.vstack([NOISE[1:], np.full((1, 4), 1e8)])),
    "large numbers": (RING, NOISE * 1e15),
    "small numbers": (RING, NOISE * 1e-15),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("n_labels", [3, 30], ids=["few", "all"])
def test_degenerate_graphs_get_finite_probabilities(kind: str, n_labels: int) -> None:
    graph, classes = Graph.from_scipy(*ODD[kind]), 3
    model = GraphRidge().fit(graph, range(n_labels), [f"class {i % classes}" for i in range(n_labels)])
    probabilities = model.predict_proba(graph)
    assert probabilities.shape == (30, classes)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    assert np.isfinite(model.decision_function(graph)).all()
    assert np.isfinite(model.representation(graph)).all()


def test_an_isolated_node_without_features_gets_the_constant_prediction() -> None:
    adjacency, features = ODD["a node alone and without features"]
    graph = Graph.from_scipy(adjacency, features)
    model = GraphRidge().fit(graph, range(4), ["a", "a", "a", "b"])
    assert not model.representation(graph)[29].any()
    saved, expected = model.state_dict(), model.label_smoothing_ / 2
    for name, weight in model.weights_.items():
        constant = np.sqrt(0.1) * saved[f"{name}.coefficients"][-1] * model.inverse_temperatures_[name]
        expected = expected + (1 - model.label_smoothing_) * weight * softmax(constant)
    np.testing.assert_allclose(model.predict_proba(graph)[29], expected, rtol=1e-5)


def test_the_representation_is_the_feature_set_with_the_largest_weight(features_by_hand: ByHand) -> None:
    graph = class_graph()
    model = fitted(graph)
    most = max(model.weights_, key=lambda name: model.weights_[name])
    np.testing.assert_allclose(model.representation(graph), features_by_hand(graph, most), atol=1e-4)


def test_prediction_on_a_grown_graph() -> None:
    """Twenty nodes of class b are appended, each joined to two old nodes of it."""
    graph, generator = class_graph(between=0.0, signal=2.0), np.random.default_rng(9)
    friends = generator.choice(np.flatnonzero(graph.labels == 1), 40)
    new = sp.coo_array((np.ones(40), (np.repeat(np.arange(90, 110), 2), friends)), shape=(110, 110))
    old = sp.block_diag([graph.adjacency, sp.csr_array((20, 20))])
    features = generator.normal(size=(20, 6)) + 2 * np.eye(3, 6)[1]
    larger = Graph.from_scipy(sp.csr_array(old + new), np.vstack([graph.features, features]))
    model = fitted(graph)
    before, after = model.predict_proba(graph), model.predict_proba(larger)
    far = np.flatnonzero(graph.labels != 1)
    np.testing.assert_allclose(after[far], before[far], atol=1e-5, err_msg="no path leads there from the new nodes")
    assert np.mean(model.predict(larger)[:90] == model.predict(graph)) > 0.95
    assert np.mean(model.predict(larger)[90:] == "b") > 0.9
    np.testing.assert_array_equal(model.predict_proba(graph), before)


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import featprop as fp

assert "gcn" in fp.models.available_models() and fp.GCN(hidden=3).hidden == 3
graph = fp.read_graph("blobs")
picks = fp.select(graph, 12)
fp.models.save_model(fp.GraphRidge().fit(graph, picks), "model")
assert len(fp.load_model("model").predict(graph)) == graph.n_nodes
assert len(fp.select(graph, 6, labelled=picks, labels=[graph.class_names()[place] for place in picks.positions])) == 6
"""


def test_only_networks_need_torch(graph_folder: Path) -> None:
    line = [sys.executable, "-c", WITHOUT_TORCH]
    done = subprocess.run(line, cwd=graph_folder.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_wide_model_round_trip(tmp_path: Path) -> None:
    graph = class_graph()
    mixing = np.random.default_rng(0).normal(size=(6, MAX_COLUMNS + 88)).astype(np.float32)
    wide = replace(graph, features=np.asarray(graph.features @ mixing))
    model = fitted(wide)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(wide), model.predict_proba(wide))


@pytest.mark.parametrize("columns", [1, 2])
def test_classes_along_a_line_are_separated(columns: int) -> None:
    """Around the mean the middle class points nowhere: its distance from the mean has to count."""
    generator = np.random.default_rng(0)
    kinds = np.arange(300) % 3
    graph = edgeless(5.0 * kinds[:, None] + generator.normal(size=(300, columns)), labels=np.array(list("abc"))[kinds])
    assert accuracy(fitted(graph, 30), graph) > 0.95


def test_nodes_without_features_are_ignored() -> None:
    """Nothing tells their class, however many there are, and in whatever order the labels come."""
    generator = np.random.default_rng(0)
    features = np.zeros((200, 4))
    features[:40] = generator.normal(size=(40, 4)) + np.repeat(np.eye(2, 4) * 3, 20, axis=0)
    graph = edgeless(features)
    nodes, labels = [0, 1, 2, 20, 21, 22], list("aaabbb")
    model = GraphRidge().fit(graph, nodes, labels)
    np.testing.assert_allclose(model.predict_proba(graph)[40:], 0.5, atol=0.1)
    turned = GraphRidge().fit(graph, nodes[::-1], labels[::-1])
    assert turned.inverse_temperatures_ == pytest.approx(model.inverse_temperatures_)
