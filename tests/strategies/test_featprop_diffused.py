"""The default strategy: K-Medoids on smoothed features, weighted by the uncertainty of a model."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import featprop as fp
from featprop.active import build_context
from featprop.clustering import k_medoids
from featprop.graph import Graph
from featprop.models import GraphRidge
from featprop.propagation import Propagation
from featprop.strategies import get_strategy
from featprop.strategies.featprop_diffused import FeatPropDiffused, uncertainty_weights
from tests.graphs import class_graph


def blobs(seed: int = 0) -> Graph:
    return class_graph(80, 4, columns=5, within=0.15, between=0.02, signal=1.5, seed=seed)


def medoids(graph: Graph, budget: int, labelled: Any = (), weights: Any = None, seed: Any = 0) -> list[int]:
    """Return the medoids of the points that the strategy clusters."""
    return k_medoids(
        Propagation.of(graph).compared,
        budget,
        fixed=np.array(labelled, dtype=np.intp),
        candidates=np.setdiff1d(np.arange(graph.n_nodes), labelled),
        sample_weight=weights,
        n_init=1 if len(labelled) else None,
        random_state=np.random.default_rng(seed),
    ).medoids.tolist()


@pytest.mark.parametrize("budget", [1, 4, 20])
@pytest.mark.parametrize("seed", [0, 3])
def test_without_labels_it_is_k_medoids_on_smoothed_features(budget: int, seed: int) -> None:
    graph = blobs(seed=seed)
    picks = fp.select(graph, budget, random_state=seed).positions.tolist()
    assert picks == medoids(graph, budget, seed=[seed, budget])


def test_labels_of_one_class_only_add_medoids() -> None:
    graph, labelled = blobs(), [0, 4, 8]
    picks = fp.select(graph, 5, labelled=labelled, labels=["a"] * 3, random_state=1).positions.tolist()
    assert picks == medoids(graph, 5, labelled, seed=[1, 8])
    without = fp.select(graph, 5, labelled=labelled, random_state=1).positions.tolist()
    assert without == picks, "as if only the nodes were known"


def test_uncertain_nodes_weigh_more_with_two_classes() -> None:
    graph, labelled, labels = blobs(), [0, 1, 5, 8, 13, 4], list("abbaba")
    picks = fp.select(graph, 5, labelled=labelled, labels=labels, random_state=1).positions.tolist()
    scores = GraphRidge().fit(graph, labelled, labels).predict_proba(graph)
    assert picks == medoids(graph, 5, labelled, uncertainty_weights(scores, 6), seed=[1, 11])
    assert picks != medoids(graph, 5, labelled, seed=[1, 11])


def test_weights_by_hand() -> None:
    """Gaps 0.8, 0.4, 0 and nine of 1: the largest tenth starts at 1, so the gaps are shares of 1.

    The exponent is a third of the labels per class, from 1 to 4.
    """
    scores = np.array([[0.9, 0.1, 0.0], [0.2, 0.6, 0.1], [0.4, 0.2, 0.4]] + [[1.0, 0.0, 0.0]] * 9, np.float32)
    gaps = np.array([0.8, 0.4, 0.0] + [1.0] * 9)
    for n_labels, exponent in ((9, 1), (1, 1), (18, 2), (900, 4)):
        expected = 0.25 / exponent**2 + (1 - gaps) ** exponent
        np.testing.assert_allclose(uncertainty_weights(scores, n_labels), expected, atol=1e-6)


def test_margins_are_relative_to_the_most_certain_tenth() -> None:
    gaps = np.arange(11) / 10
    scores = np.stack([gaps, np.zeros(11)], axis=1).astype(np.float32)
    expected = 1.25 - np.minimum(gaps / 0.9, 1)
    np.testing.assert_allclose(uncertainty_weights(scores, 2), expected, atol=1e-6)


@given(st.integers(0, 1000), st.floats(0.01, 100))
@settings(max_examples=30)
def test_weights_are_positive_scale_free_and_fall_with_the_margin(seed: int, unit: float) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(25, 3)).astype(np.float32)
    weights = uncertainty_weights(scores, int(generator.integers(1, 60)) if seed % 2 else 5)
    ranked = np.sort(scores, axis=1)
    order = np.argsort(ranked[:, -1] - ranked[:, -2])
    assert (np.diff(weights[order]) <= 1e-6).all()
    assert (weights > 0).all()
    np.testing.assert_allclose(
        uncertainty_weights(scores * np.float32(unit), 5), uncertainty_weights(scores, 5), atol=1e-4
    )


@pytest.mark.parametrize("value", [0.0, 0.3])
def test_a_constant_model_gives_equal_weights(value: float) -> None:
    scores = np.tile(np.array([value, 0.0], np.float32), (12, 1))
    weights = uncertainty_weights(scores, 4)
    assert (weights == weights[0]).all()
    assert weights[0] > 0


def test_the_model_is_trained_only_if_needed() -> None:
    graph = blobs()
    strategy = get_strategy("featprop-diffused")
    assert not strategy.needs
    assert not build_context(graph, strategy, [0, 4], ["a", "a"]).outputs
    context = build_context(graph, strategy, [0, 1], ["a", "b"])
    np.testing.assert_array_equal(
        context.outputs["probabilities"], GraphRidge().fit(graph, [0, 1], ["a", "b"]).predict_proba(graph)
    )
    fitted = GraphRidge(features="own").fit(graph, [0, 1, 2, 3], list("abcd"))
    given_model = build_context(graph, strategy, [0, 1], ["a", "b"], model=fitted)
    np.testing.assert_array_equal(given_model.outputs["probabilities"], fitted.predict_proba(graph))


def test_steps_by_hand() -> None:
    """10, then half as many again, rounded up."""
    assert FeatPropDiffused().steps(0, 80) == [10, 15, 23, 35, 53, 80]
    assert FeatPropDiffused().steps(0, 7) == [7]
    assert FeatPropDiffused().steps(0, 10) == [10]
    assert FeatPropDiffused().steps(10, 20) == [15, 20]
    assert FeatPropDiffused().steps(1, 4) == [2, 3, 4], "by one at least"
    assert FeatPropDiffused(first=3, step=1).steps(0, 20) == [3, 6, 12, 20]
    assert FeatPropDiffused(step=0.01).steps(4, 8) == [5, 6, 7, 8]


def test_a_model_of_one_class_is_ignored() -> None:
    graph = blobs()
    nodes = graph.ids[[0, 20]].tolist()
    model = fp.GraphRidge().fit(graph, nodes[:1], ["a"], cold_start=True)
    with_model = fp.select(graph, 3, labelled=nodes, labels=["a", "b"], model=model)
    assert with_model.nodes.tolist() == fp.select(graph, 3, labelled=nodes).nodes.tolist()
