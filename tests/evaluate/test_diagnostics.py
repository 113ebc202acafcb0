"""Diagnostics: small graphs solved by hand, planted errors, and invariances."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import featprop as fp
from featprop.errors import ParameterError
from featprop.evaluate import diagnose
from featprop.evaluate.cross_validation import held_out_probabilities
from featprop.evaluate.diagnostics import contradiction, neighbour_shares, uncertainty, unlabelled_components
from featprop.graph import Graph
from featprop.models import NodeClassifier
from tests.evaluate.models import NearestMean
from tests.helpers import raises

BLOB = 20


def blobs(count: int = 3, seed: int = 0, order: np.ndarray | None = None) -> Graph:
    """Groups of alike nodes, each a component: node i is of group i // BLOB; ids are these numbers in any order."""
    generator = np.random.default_rng(seed)
    n = count * BLOB
    group = np.arange(n) // BLOB
    features = 3 * np.eye(count)[group] + generator.normal(scale=0.3, size=(n, count))
    near = (group[:, None] == group[None]) & (generator.random((n, n)) < 0.3)
    ring = sp.coo_array((np.ones(n), (np.arange(n), group * BLOB + (np.arange(n) + 1) % BLOB)), shape=(n, n))
    adjacency = sp.csr_array(np.triu(near, 1).astype(float)) + ring
    order = np.arange(n) if order is None else order
    return Graph.from_scipy(sp.csr_array(adjacency)[order][:, order], features[order], ids=order)


def fitted(graph: Graph, labels: Mapping[Any, Any], model: NodeClassifier | None = None) -> NodeClassifier:
    return (model or fp.GraphRidge()).fit(graph, list(labels), list(labels.values()), cold_start=True)


def three_each(*groups: int) -> dict[int, str]:
    return {BLOB * group + node: "abc"[group] for group in groups for node in (0, 7, 13)}


def line_of(n: int) -> sp.csr_array:
    return sp.csr_array(sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], shape=(n, n)))


def test_contradiction_in_a_line_by_hand() -> None:
    """Eight nodes in a line, four of each class; node 1 is predicted as the other class."""
    first = np.array([0.9, 0.3, 1.0, 0.9, 0.1, 0.0, 0.0, 0.0], dtype=np.float32)
    probabilities = np.stack([first, 1 - first], axis=1)
    np.testing.assert_allclose(uncertainty(probabilities), [0.1, 0.3, 0, 0.1, 0.1, 0, 0, 0], atol=1e-6)
    shares, weights = neighbour_shares(line_of(8), probabilities)
    np.testing.assert_allclose(shares[:, 0], [0.3, 0.95, 0.6, 0.55, 0.45, 0.05, 0, 0], atol=1e-6)
    np.testing.assert_allclose(weights, [1, 2, 2, 2, 2, 2, 2, 1])
    expected = [0.7, 0.95 * np.sqrt(2), 0, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(contradiction(shares, weights, probabilities), expected, atol=1e-6)


def test_neighbours_contradict_nothing_if_they_differ_as_a_rule() -> None:
    """In a line of alternating classes every neighbour is of the other class, as it should be."""
    probabilities = np.eye(2, dtype=np.float32)[np.arange(6) % 2]
    assert not contradiction(*neighbour_shares(line_of(6), probabilities), probabilities).any()


def test_components_by_hand() -> None:
    # 0-1 is labelled; 2-3-4 is a path around 3; 5 is alone; 6-7
    edges = np.array([[0, 1], [2, 3], [3, 4], [6, 7]])
    adjacency = sp.coo_array((np.ones(4), edges.T), shape=(8, 8))
    graph = Graph.from_scipy(sp.csr_array(adjacency), np.arange(16.0).reshape(8, 2), ids=list("abcdefgh"))
    positions, sizes = unlabelled_components(graph, np.array([0]))
    assert positions.tolist() == [3, 6, 5]
    assert sizes.tolist() == [3, 2, 1]
    listed = diagnose(graph, fitted(graph, {"a": "x", "b": "y"})).unlabelled_components
    assert [(each.node, each.score) for each in listed] == [("d", 3), ("g", 2), ("f", 1)]


def test_unlabelled_group_is_found_as_a_novel_class() -> None:
    graph = blobs()
    (group,) = diagnose(graph, fitted(graph, three_each(0, 1))).novel_classes
    assert set(group.nodes) == set(range(2 * BLOB, 3 * BLOB))
    assert group.node == group.nodes[0]
    assert group.size == len(group.positions) == BLOB
    assert graph.ids[group.positions].tolist() == list(group.nodes)


def test_diagnostics_for_labels_of_one_class() -> None:
    graph = blobs()
    found = diagnose(graph, fitted(graph, {0: "a", 7: "a", 13: "a"}))
    assert (found.least_certain, found.contradicted, found.wrong_labels) == ((), (), ())
    assert {each.node // BLOB for each in found.far_from_labels} <= {1, 2}
    assert [each.score for each in found.unlabelled_components] == [BLOB, BLOB]
    assert {node // BLOB for group in found.novel_classes for node in group.nodes} == {1, 2}


@pytest.mark.parametrize("model", [fp.GraphRidge(), NearestMean()], ids=["ridge", "refitted"])
def test_planted_wrong_label_comes_first_and_the_only_label_of_a_class_last(model: NodeClassifier) -> None:
    graph = blobs()
    labels = three_each(0, 1) | {5: "b", 2 * BLOB: "c"}
    found = diagnose(graph, fitted(graph, labels, model)).wrong_labels
    assert len(found) == len(labels)
    assert (found[0].node, found[0].suggestion) == (5, "a")
    assert (found[-1].node, found[-1].score, found[-1].suggestion) == (2 * BLOB, 0, None)


def test_labels_of_neighbours_count_instead_of_their_predictions() -> None:
    """The centre of a star is predicted by its features, but three of its four neighbours have another label.

    The nodes of two triangles agree.
    """
    ends = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [5, 6], [6, 7], [7, 5], [8, 9], [9, 10], [10, 8]]).T
    adjacency = sp.csr_array(sp.coo_array((np.ones(10), tuple(ends)), shape=(11, 11)))
    a, b = [1.0, 0.0], [0.0, 1.0]
    graph = Graph.from_scipy(adjacency, np.array([a, b, b, b, a, a, a, a, b, b, b]))
    model = fitted(graph, {1: "b", 2: "b", 3: "b", 5: "a", 6: "a"}, fp.GraphRidge(features="own"))
    (middle,) = diagnose(graph, model).contradicted
    assert middle.node == 0
    assert middle.score > 0.5 * np.sqrt(4)


def test_held_out_probabilities_of_the_model_are_used_and_saved(tmp_path: Path) -> None:
    graph = blobs()
    model = fp.GraphRidge().fit(graph, list(three_each(0, 1, 2)), list(three_each(0, 1, 2).values()))
    assert model.held_out_proba_ is not None
    np.testing.assert_array_equal(held_out_probabilities(graph, model), model.held_out_proba_)
    fp.models.save_model(model, tmp_path / "model")
    loaded = fp.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.held_out_proba_, model.held_out_proba_)
    assert diagnose(graph, loaded).wrong_labels == diagnose(graph, model).wrong_labels
    assert len(diagnose(graph, loaded).wrong_labels) == 9


def test_fully_labelled_graph_has_only_wrong_labels() -> None:
    graph = blobs(2)
    found = diagnose(graph, fitted(graph, {node: "ab"[node // BLOB] for node in range(2 * BLOB)}))
    assert (
        found.least_certain,
        found.contradicted,
        found.far_from_labels,
        found.unlabelled_components,
        found.novel_classes,
    ) == ((),) * 5
    assert len(found.wrong_labels) == 2 * BLOB


def test_limit_shortens_all_lists_but_labels() -> None:
    graph = blobs()
    model = fitted(graph, three_each(0, 1, 2))
    everything, few = diagnose(graph, model, limit=1000), diagnose(graph, model, limit=2)
    assert len(everything.least_certain) == len(everything.far_from_labels) == 51
    for name in ("least_certain", "contradicted", "far_from_labels", "unlabelled_components"):
        assert getattr(few, name) == getattr(everything, name)[:2]
    assert len(few.wrong_labels) == 9
    with raises(ParameterError, parameter="limit", value=0):
        diagnose(graph, model, limit=0)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=4)
def test_order_of_nodes_does_not_matter(seed: int) -> None:
    generator = np.random.default_rng(seed)
    labels = three_each(0, 1)
    turned = blobs(seed=seed % 7, order=generator.permutation(60))
    graph = blobs(seed=seed % 7)
    a, b = (diagnose(each, fitted(each, labels), limit=60) for each in (graph, turned))
    for name in ("least_certain", "contradicted", "far_from_labels", "wrong_labels"):
        ours, theirs = ({each.node: each.score for each in getattr(found, name)} for found in (a, b))
        assert ours == pytest.approx(theirs, abs=2e-4), name
    assert [each.score for each in a.unlabelled_components] == [each.score for each in b.unlabelled_components]
    assert {frozenset(group.nodes) for group in a.novel_classes} == {
        frozenset(group.nodes) for group in b.novel_classes
    }
