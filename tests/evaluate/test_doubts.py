"""What to distrust: graphs small enough to solve by hand, planted errors, and what must not matter."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import featprop as fp
from featprop.errors import ModelError, ParameterError
from featprop.evaluate import Doubt, doubts
from featprop.evaluate.left_out import left_out_probabilities
from featprop.evaluate.unreached import unreached_components
from featprop.evaluate.unsure import contradiction, neighbours_say, unsureness_of
from featprop.graph import Graph
from featprop.models import NodeClassifier
from featprop.propagation import Propagation

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


class NearestMean(NodeClassifier):
    """A model that does not say what left-out labels get; it counts how often it is fitted."""

    fits = 0

    def learn(self, propagation: Propagation, nodes: np.ndarray, targets: np.ndarray) -> None:
        type(self).fits += 1
        rows = np.asarray(propagation.rows(2))
        self._means = np.array([rows[nodes[targets == code]].mean(axis=0) for code in range(len(self.class_names_))])

    def scores(self, propagation: Propagation) -> np.ndarray:
        return -np.square(np.asarray(propagation.rows(2))[:, None] - self._means[None]).sum(axis=2)

    def state_dict(self) -> dict[str, np.ndarray]:
        return {}

    def load_state_dict(self, state: Mapping[str, np.ndarray]) -> None:
        pass


def test_a_path_by_hand() -> None:
    path = sp.csr_array(sp.diags_array([np.ones(3), np.ones(3)], offsets=[-1, 1], shape=(4, 4)))
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [1.0, 0.0], [0.6, 0.4]], dtype=np.float32)
    np.testing.assert_allclose(unsureness_of(probabilities), [0.1, 0.2, 0, 0.4], atol=1e-6)
    around = neighbours_say(path, probabilities)
    np.testing.assert_allclose(around.shares, [[0.2, 0.8], [0.95, 0.05], [0.4, 0.6], [1, 0]], atol=1e-6)
    np.testing.assert_allclose(around.weights, [1, 2, 2, 1])
    # the neighbour of 0 says 0.8 no; those of 1 say 0.95 no, those of 2 say 0.6 no; that of 3 agrees
    expected = [0.8, 0.95 * np.sqrt(2), 0.6 * np.sqrt(2), 0]
    np.testing.assert_allclose(contradiction(around, probabilities), expected, atol=1e-6)


def test_components_by_hand() -> None:
    # 0-1 is labelled; 2-3-4 is a path around 3; 5 is alone; 6-7
    edges = np.array([[0, 1], [2, 3], [3, 4], [6, 7]])
    adjacency = sp.coo_array((np.ones(4), edges.T), shape=(8, 8))
    graph = Graph.from_scipy(sp.csr_array(adjacency), np.arange(16.0).reshape(8, 2), ids=list("abcdefgh"))
    found = unreached_components(graph, np.array([0]))
    assert found.positions.tolist() == [3, 6, 5]
    assert found.sizes.tolist() == [3, 2, 1]
    listed = doubts(graph, fitted(graph, {"a": "x", "b": "y"})).unreached
    assert [(each.node, each.score) for each in listed] == [("d", 3), ("g", 2), ("f", 1)]
    assert [each.why for each in listed][1:] == [
        "one of 2 connected nodes without a label",
        "it has no edge and no label",
    ]


def test_nothing_but_what_is_there(line: Graph) -> None:
    found = doubts(line, fp.GraphRidge().fit(line, ["a", "c"], ["left", "right"]))
    assert {each.node for each in found.least_sure} == {"b", "d", "e"}
    assert {each.node for each in found.far} <= {"b", "d", "e"}
    assert found.unreached == ()
    assert {each.node for each in found.wrong_labels} == {"a", "c"}
    for listed in (found.least_sure, found.contradicted, found.far, found.wrong_labels):
        assert [each.score for each in listed] == sorted((each.score for each in listed), reverse=True)
        assert all(line.ids[each.position] == each.node for each in listed)


def test_a_group_that_no_label_is_of_is_found_whole() -> None:
    graph = blobs()
    (group,) = doubts(graph, fitted(graph, three_each(0, 1))).unseen
    assert set(group.nodes) == set(range(2 * BLOB, 3 * BLOB))
    assert group.medoid == group.nodes[0]
    assert group.size == len(group.positions) == BLOB
    assert graph.ids[group.positions].tolist() == list(group.nodes)
    assert "nearer to each other than to any label" in group.why


def test_a_label_in_the_group_makes_it_known() -> None:
    graph = blobs()
    labels = three_each(0, 1, 2)
    assert doubts(graph, fitted(graph, labels)).unseen == ()


def test_labels_of_one_class() -> None:
    graph = blobs()
    found = doubts(graph, fitted(graph, {0: "a", 7: "a", 13: "a"}))
    assert (found.least_sure, found.contradicted, found.wrong_labels) == ((), (), ())
    assert {each.node // BLOB for each in found.far} <= {1, 2}
    assert [each.score for each in found.unreached] == [BLOB, BLOB]
    assert {node // BLOB for group in found.unseen for node in group.nodes} == {1, 2}


@pytest.mark.parametrize("model", [fp.GraphRidge(), fp.GCN(epochs=30)], ids=["ridge", "gcn"])
def test_a_planted_wrong_label_comes_first(model: NodeClassifier) -> None:
    graph = blobs()
    labels = three_each(0, 1, 2) | {5: "b"}
    found = doubts(graph, fitted(graph, labels, model)).wrong_labels
    assert len(found) == len(labels)
    assert found[0].node == 5
    assert found[0].why.startswith("labelled b (")
    assert "the other labels say a (" in found[0].why
    assert found[-1].why.endswith("and the other labels say so too")


@pytest.mark.parametrize("model", [fp.GraphRidge(), fp.GCN(epochs=30)], ids=["ridge", "gcn"])
def test_the_only_label_of_a_class_comes_last(model: NodeClassifier) -> None:
    """Without it the class is unknown, so that nothing could speak for it."""
    graph = blobs()
    labels = dict.fromkeys(range(6), "a") | {BLOB + node: "b" for node in range(6)} | {2 * BLOB: "c"}
    found = doubts(graph, fitted(graph, labels, model)).wrong_labels
    assert (found[-1].node, found[-1].score) == (2 * BLOB, 0)
    assert "the only label of that class" in found[-1].why


def test_a_labelled_neighbour_is_what_its_label_says() -> None:
    """The middle of a star is predicted as its features are, but three of its four neighbours have another label."""
    star = sp.coo_array((np.ones(4), ([0, 0, 0, 0], [1, 2, 3, 4])), shape=(7, 7))
    features = np.array([[1.0, 0], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0.1]])
    graph = Graph.from_scipy(sp.csr_array(star), features)
    model = fitted(graph, {1: "b", 2: "b", 3: "b", 5: "a", 6: "a"}, fp.GraphRidge(features="own"))
    (middle,) = doubts(graph, model).contradicted
    assert middle.node == 0
    assert middle.score > 0.5 * np.sqrt(4)
    assert middle.why.startswith("predicted a (")


def test_a_model_that_does_not_say_is_fitted_ten_times() -> None:
    graph = blobs()
    labels = {node: "abc"[node // BLOB] for node in range(0, 60, 3)}
    model = fitted(graph, labels, NearestMean())
    NearestMean.fits = 0
    rows = left_out_probabilities(graph, model)
    assert NearestMean.fits == 10
    assert rows.shape == (20, 3)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    assert (rows.argmax(axis=1) == [node // BLOB for node in labels]).all()


def test_few_labels_are_left_out_one_by_one() -> None:
    graph = blobs(2)
    model = fitted(graph, {0: "a", 1: "a", BLOB: "b"}, NearestMean())
    rows = left_out_probabilities(graph, model)
    assert rows[2].tolist() == [1, 0]
    assert len(doubts(graph, model).wrong_labels) == 3


def test_leave_one_out_is_asked_for_where_the_model_has_it(tmp_path: Path) -> None:
    graph = blobs()
    model = fp.GraphRidge().fit(graph, list(three_each(0, 1, 2)), list(three_each(0, 1, 2).values()))
    assert model.held_out_proba_ is not None
    np.testing.assert_array_equal(left_out_probabilities(graph, model), model.held_out_proba_)
    fp.models.save_model(model, tmp_path / "model")
    loaded = fp.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.held_out_proba_, model.held_out_proba_)
    assert doubts(graph, loaded).wrong_labels == doubts(graph, model).wrong_labels
    assert len(doubts(graph, loaded).wrong_labels) == 9


def test_without_edges() -> None:
    features = blobs().features
    graph = Graph.from_scipy(sp.csr_array((60, 60)), features)
    found = doubts(graph, fitted(graph, three_each(0, 1)), limit=100)
    assert found.contradicted == ()
    assert len(found.unreached) == 54
    assert [set(group.nodes) for group in found.unseen] == [set(range(40, 60))]


def test_nodes_of_which_nothing_is_known_are_no_group() -> None:
    features = np.array(blobs().features)
    features[40:] = 0
    graph = Graph.from_scipy(sp.csr_array((60, 60)), features)
    assert not any(
        node >= 40 for group in doubts(graph, fitted(graph, three_each(0, 1))).unseen for node in group.nodes
    )


def test_nodes_that_are_all_alike() -> None:
    graph = Graph.from_scipy(sp.csr_array((6, 6)), np.ones((6, 2)))
    found = doubts(graph, fitted(graph, {0: "a", 1: "b"}))
    assert (found.far, found.unseen) == ((), ())


def test_every_node_labelled() -> None:
    graph = blobs(2)
    found = doubts(graph, fitted(graph, {node: "ab"[node // BLOB] for node in range(2 * BLOB)}))
    assert (found.least_sure, found.contradicted, found.far, found.unreached, found.unseen) == ((),) * 5
    assert len(found.wrong_labels) == 2 * BLOB


def test_a_limit_larger_than_the_graph_and_a_small_one() -> None:
    graph = blobs()
    model = fitted(graph, three_each(0, 1, 2))
    everything, few = doubts(graph, model, limit=1000), doubts(graph, model, limit=2)
    assert len(everything.least_sure) == len(everything.far) == 51
    for name in ("least_sure", "contradicted", "far", "unreached"):
        assert getattr(few, name) == getattr(everything, name)[:2]
    assert len(few.wrong_labels) == 9


def test_another_graph_has_no_labels_to_compare_with() -> None:
    model = fitted(blobs(), three_each(0, 1, 2))
    other = blobs(seed=5, order=np.arange(60) + 0)
    renamed = Graph.from_scipy(other.adjacency, other.features, ids=[f"n{i}" for i in range(60)])
    found = doubts(renamed, model)
    assert len(found.least_sure) == 20
    assert (found.far, found.unreached, found.unseen, found.wrong_labels) == ((), (), (), ())


def test_a_part_of_the_graph_has_a_part_of_the_labels() -> None:
    model = fitted(blobs(), three_each(0, 1, 2), NearestMean())
    part = blobs(order=np.arange(BLOB, 60))
    assert len(doubts(part, model).wrong_labels) == 6


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    graph = blobs()
    with pytest.raises(ParameterError, match="limit must be at least 1"):
        doubts(graph, fitted(graph, three_each(0, 1)), limit=limit)


def test_an_unfitted_model_is_refused() -> None:
    with pytest.raises(ModelError, match="must be fitted"):
        doubts(blobs(), fp.GraphRidge())


@given(seed=st.integers(0, 10_000))
@settings(max_examples=8)
def test_the_order_of_the_nodes_does_not_matter(seed: int) -> None:
    generator = np.random.default_rng(seed)
    labels = three_each(0, 1)
    turned = blobs(seed=seed % 7, order=generator.permutation(60))
    graph = blobs(seed=seed % 7)
    a, b = (doubts(each, fitted(each, labels), limit=60) for each in (graph, turned))
    for name in ("least_sure", "contradicted", "far", "wrong_labels"):
        ours, theirs = ({each.node: each.score for each in getattr(found, name)} for found in (a, b))
        assert ours == pytest.approx(theirs, abs=2e-4), name
    assert [each.score for each in a.unreached] == [each.score for each in b.unreached]
    assert {frozenset(group.nodes) for group in a.unseen} == {frozenset(group.nodes) for group in b.unseen}


def test_in_words_and_in_a_notebook() -> None:
    graph = blobs()
    found = doubts(graph, fitted(graph, three_each(0, 1) | {5: "b"}))
    told = str(found).splitlines()
    assert told[3] == f"components without a label: 1, first {found.unreached[0]}"
    assert told[4].startswith("classes perhaps never seen: 1, first 20 nodes around ")
    assert told[5].startswith("labels that look wrong: 7, first 5: labelled b (")
    assert repr(found).startswith("Doubts(20 least_sure, ")
    assert "labels that look wrong" in found._repr_html_()
    assert str(Doubt("x", 0, 0.5, "so it is")) == "'x': so it is"


def test_a_learner_says_what_to_distrust() -> None:
    graph = blobs()
    learner = fp.ActiveLearner(graph)
    learner.tell(three_each(0, 1) | {5: "b"})
    assert learner.doubts(limit=3).wrong_labels[0].node == 5
    assert repr(learner.doubts(limit=3)) == repr(fp.evaluate.doubts(graph, learner.model, limit=3))
